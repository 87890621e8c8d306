/*
 * Warnings about noise. The thresholds are where the median of ten samples may move by about a percent; each
 * warning ends with a remedy.
 */
#include "bench/time/noise.h"

#include <stdarg.h>
#include <string.h>

#include "analysis/tables/units.h"
#include "bench/machine/throttle.h"
#include "bench/time/watch.h"

static const double least_lost = 0.01; /* share */
static const double least_gap = 1e-3;  /* seconds */
static const double least_frequency =
    0.7; /* of the maximum; some processors run at 0.8 of it when all cores are busy */
static const double faults_a_run = 100, switches_a_second = 50;

/* Writes one line; returns 1. */
__attribute__((format(printf, 2, 3))) static int warn(FILE *out, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fputs("warning: ", out);
    vfprintf(out, format, list);
    putc('\n', out);
    va_end(list);
    return 1;
}

/* The load average includes our own earlier runs, so another program must also be ready to run. */
static int warn_load(const struct noise *n, FILE *out)
{
    if (!(n->load + n->threads > n->cores + 0.5) || n->runnable == 0)
        return 0;
    return warn(
        out,
        "load average %.1f on %d cores, of which this run uses %d: stop other programs, or take more samples "
        "(--budget)",
        n->load, n->cores, n->threads);
}

static int warn_lost(const struct noise *n, FILE *out)
{
    if (n->lost < least_lost && n->largest_gap < least_gap)
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
    return warn_load(n, out) + warn_lost(n, out) + warn_governor(n, out) + warn_frequency(n, out);
}

int noise_warn_usage(const struct usage *u, int64_t runs, double seconds, const char *program, FILE *out)
{
    int warnings = 0;
    if (u->major_faults > 0)
        warnings += warn(
            out, "%s: %lld pages were read from disk while it was timed: free memory, or use a smaller size",
            program, (long long)u->major_faults);
    if ((double)u->minor_faults > faults_a_run * (double)runs)
        warnings += warn(
            out, "%s: %.0f page faults per run, so memory is still being mapped: warm up longer (--warmup)",
            program, (double)u->minor_faults / (double)runs);
    if (u->involuntary > 10 && (double)u->involuntary > switches_a_second * seconds)
        warnings += warn(
            out, "%s: preempted %.0f times per second: stop other programs, or use fewer threads (--threads)",
            program, (double)u->involuntary / seconds);
    return warnings;
}

int noise_warn_samples(const struct drift *d, const struct slow_start *s, const char *program, FILE *out)
{
    int warnings = 0;
    if (s->runs > 0)
        warnings += warn(out,
                         "%s: slow start: %zu sample%s, the first %.2f times the median of the later ones: "
                         "warm up longer (--warmup)",
                         program, s->runs, s->runs == 1 ? "" : "s", s->ratio);
    if (d->found)
        warnings +=
            warn(out, "%s: the samples drift by %+.1f %% from first to last: %s", program, 100 * d->change,
                 d->change > 0 ? "let the machine cool down" : "warm up longer (--warmup)");
    return warnings;
}

int noise_warn_throttle(const struct seen *s, const char *program, FILE *out)
{
    if (!s->discarded && !s->throttled)
        return 0;
    char reasons[THROTTLE_TEXT];
    throttle_text(s->reasons, reasons);
    return warn(out,
                "%s: the GPU throttled (%s): %lld samples were discarded, %lld were kept: let it cool "
                "down, and check its power supply and airflow",
                program, reasons, (long long)s->discarded, (long long)s->throttled);
}
