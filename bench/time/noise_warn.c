#include "bench/time/noise.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/disturbance.h"
#include "analysis/tables/units.h"
#include "analysis/tables/wrap.h"
#include "bench/machine/nvml.h"
#include "bench/time/watch.h"

static const double least_frequency =
    0.7; /* of the maximum; some processors run at 0.8 of it when all cores are busy */

/* Whether a set of benchmarks was told before: GTMARK_TOLD is its file, with a line for each remedy. */
static bool told_before(const char *remedy)
{
    const char *path = getenv("GTMARK_TOLD");
    FILE *told = path ? fopen(path, "a+") : NULL;
    char line[MESSAGE_SIZE];
    bool found = false;
    while (told && !found && fgets(line, sizeof line, told))
        found = strncmp(line, remedy, strlen(remedy)) == 0;
    if (told && !found)
        fprintf(told, "%s\n", remedy);
    if (told)
        fclose(told);
    return found;
}

/* Writes one line, whose format ends with the remedy; returns 1. */
__attribute__((format(printf, 2, 3))) static int warn(FILE *out, const char *format, ...)
{
    const char *remedy = strrchr(format, ':');
    if (remedy && told_before(remedy + 2))
        return 0;
    char text[MESSAGE_SIZE];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    wrap_text(out, text, fprintf(out, "warning: "), 4);
    return 1;
}

static int warn_load(const struct noise *n, FILE *out)
{
    if (noise_slowdown(n) == 1)
        return 0;
    return warn(
        out,
        "load average %.1f on %d cores, of which this run uses %d: stop other programs, or take more samples "
        "(--budget)",
        n->load, n->cores, n->threads);
}

static int warn_lost(const struct noise *n, FILE *out)
{
    if (n->lost < DISTURBANCE_LOST && n->largest_gap < DISTURBANCE_GAP)
        return 0;
    char gap[UNITS_TEXT];
    units_format(gap, n->largest_gap, UNITS_SI, "s");
    if (n->preemptions > 0)
        return warn(
            out,
            "%.1f %% of the time is lost in gaps of up to %s, and another program took a core %lld times: "
            "stop other programs, or take more samples (--budget)",
            100 * n->lost, gap, (long long)n->preemptions);
    return warn(
        out,
        "%.1f %% of the time is lost in gaps of up to %s, and no program on this machine took it: use a "
        "machine whose cores are not shared, or take more samples (--budget)",
        100 * n->lost, gap);
}

static int warn_governor(const struct noise *n, FILE *out)
{
    if (!*n->governor || strcmp(n->governor, "performance") == 0)
        return 0;
    return warn(out, "governor %s lets the clock frequency vary: sudo cpupower frequency-set -g performance",
                n->governor);
}

static int warn_frequency(const struct noise *n, FILE *out)
{
    if (!(n->frequency < least_frequency * n->frequency_max))
        return 0;
    char now[UNITS_TEXT], highest[UNITS_TEXT];
    units_format(now, n->frequency, UNITS_SI, "Hz");
    units_format(highest, n->frequency_max, UNITS_SI, "Hz");
    return warn(
        out, "a busy core runs at %s, its maximum is %s: let the machine cool down, or raise its power limit",
        now, highest);
}

int noise_warn(const struct noise *n, FILE *out)
{
    int load = warn_load(n, out);
    return load + (load ? 0 : warn_lost(n, out)) + warn_governor(n, out) + warn_frequency(n, out);
}

int noise_warn_usage(const struct subject *s, const struct usage *u, int64_t runs, double seconds)
{
    static const struct warning_kind read = {"warning", "%s pages were read from disk while it was timed",
                                             "free memory, or use a smaller size"},
                                     mapped = {"warning",
                                               "%s page faults per run, so memory is still being mapped",
                                               "warm up longer (--warmup)"},
                                     preempted = {"warning", "preempted %s times per second",
                                                  "stop other programs, or use fewer threads (--threads)"};
    double faults = (double)u->minor_faults / (double)runs, switches = (double)u->involuntary / seconds;
    int warnings = 0;
    if (u->major_faults > 0)
        warnings += warnings_add(s, &read, (double)u->major_faults, "%lld", (long long)u->major_faults);
    if ((double)u->minor_faults > DISTURBANCE_FAULTS * (double)runs)
        warnings += warnings_add(s, &mapped, faults, "%.0f", faults);
    if (u->involuntary > DISTURBANCE_FEWEST && (double)u->involuntary > DISTURBANCE_SWITCHES * seconds)
        warnings += warnings_add(s, &preempted, switches, "%.0f", switches);
    return warnings;
}

int noise_warn_samples(const struct subject *s, const struct drift *d, const struct slow_start *slow)
{
    static const struct warning_kind start = {
        "warning", "slow start: the first sample takes %s times the median of the later ones",
        "warm up longer (--warmup)"};
    static const struct warning_kind drift = {"warning", "the samples drift by %s from first to last",
                                              "the machine changed meanwhile; run again"};
    int warnings = 0;
    if (slow->runs > 0)
        warnings += warnings_add(s, &start, slow->ratio, "%.2f", slow->ratio);
    if (d->found)
        warnings += warnings_add(s, &drift, d->change, "%+.1f %%", 100 * d->change);
    return warnings;
}

int noise_warn_throttle(const struct subject *s, const struct seen *seen)
{
    static const struct warning_kind throttled = {"warning", "the GPU throttled (%s)",
                                                  "let it cool down, and check its power supply and airflow"};
    if (!seen->discarded && !seen->throttled)
        return 0;
    char reasons[THROTTLE_TEXT];
    throttle_text(seen->reasons, reasons);
    return warnings_add(s, &throttled, (double)(seen->discarded + seen->throttled),
                        "%s: %lld samples discarded, %lld kept", reasons, (long long)seen->discarded,
                        (long long)seen->throttled);
}
