/*
 * If the two builds are equally fast, at least 27 of 40 ratios are above 1 with a probability of 0.019, on a
 * machine so noisy that the margin does not matter. A sweep has many programs, and a gate with frequent false
 * alarms is switched off: hence the second set of rounds, which lowers this to 4e-4 and is run only if
 * something looks slower. It is judged alone, since all rounds together would be biased by the decision to go
 * on. Many short rounds detect more than a few long ones: a machine that is slow for seconds at a time slows
 * whole rounds, and the interval leaves out the thirteen outermost ratios on either side.
 */
#include "bench/sweep/against.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/compare/compare_notes.h"
#include "analysis/record/record.h"
#include "analysis/statistics/robust.h"
#include "analysis/statistics/statistics.h"
#include "bench/base/child.h"
#include "bench/base/scratch.h"

enum { OLD, NEW, SIDES };

static struct verdict judge_rounds(const double *ratios)
{
    struct interval i = median_interval_ranks(ratios, AGAINST_ROUNDS);
    struct verdict v = {.ratio = summarize(ratios, AGAINST_ROUNDS).median, .low = i.low, .high = i.high};
    if (v.low > 1 && v.ratio > 1 + AGAINST_MARGIN)
        v.kind = VERDICT_SLOWER;
    else if (v.high < 1 && v.ratio < 1 - AGAINST_MARGIN)
        v.kind = VERDICT_FASTER;
    else
        strcpy(v.reason, "no difference seen");
    return v;
}

struct verdict against_judge(const double *ratios, size_t rounds)
{
    struct verdict v = judge_rounds(ratios);
    if (v.kind != VERDICT_SLOWER || rounds < AGAINST_ROUNDS_MAX)
        return v;
    v = judge_rounds(ratios + AGAINST_ROUNDS);
    if (v.kind != VERDICT_SLOWER) {
        v.kind = VERDICT_UNCLEAR;
        strcpy(v.reason, "slower in the first rounds, not again");
    }
    return v;
}

/* The samples are medians, one per round. */
static struct verdict judge_ratios(const double *base, size_t n, const double *samples, size_t m,
                                   struct verdict_limits limits)
{
    (void)m, (void)limits;
    double ratios[AGAINST_ROUNDS_MAX];
    for (size_t r = 0; r < n; r++)
        ratios[r] = samples[r] / base[r];
    return against_judge(ratios, n);
}

bool against_possible(const struct options *o, struct message *error)
{
    struct stat s;
    if (stat(o->against, &s) != 0 || !S_ISREG(s.st_mode) || access(o->against, X_OK) != 0)
        return complain(error, "--against %.300s: needs an executable file", o->against);
    bool profile = o->profile && !o->bench->whole; /* bench_model always has one */
    if (o->output.file || o->output.resume || o->output.dump || o->output.trace || profile ||
        o->output.format != FORMAT_TABLE || o->gates.count || o->baseline)
        return complain(error, "--against: prints a table of its own and keeps no rows: not with --output, "
                               "--resume, --dump, --trace, --profile, --format, --threshold or --baseline");
    return true;
}

/* The rounds so far. */
struct rounds {
    const struct options *options;
    int argc;
    char **argv;
    char scratch[PATH_MAX];
    struct rows *rows[SIDES];                            /* of the first round, in pairs */
    double (*medians)[SIDES][TIMED][AGAINST_ROUNDS_MAX]; /* of each pair; NAN: none */
    bool *bad; /* rows of this build that were not ok in some round */
    size_t count;
};

/* Whether a flag is not passed on to the two sides; then also how many words it has. */
static bool is_own(const char *word, int *words)
{
    static const char *const own[] = {"--against=",    "--format=",   "--budget=",   "--no-check",
                                      "--no-roofline", "--no-charts", "--calibrate", "--turns="};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        size_t length = strcspn(own[i], "=");
        if (strncmp(word, own[i], length) != 0 || (word[length] && word[length] != '='))
            continue;
        *words = own[i][length] && !word[length] ? 2 : 1;
        return true;
    }
    return false;
}

/* The command line of a side, null-terminated: the user's flags, then those that make a run short and silent.
 */
static const char **words_of(const struct rounds *r, const char *program, const char *file,
                             const char *budget)
{
    const char *const fixed[] = {"--no-check", "--no-roofline", "--no-charts", "--output", file,
                                 "--budget",   budget,          "--turns",     "1",        NULL};
    const char **words = calloc((size_t)r->argc + sizeof fixed / sizeof *fixed, sizeof *words);
    size_t n = 0;
    if (!words)
        abort();
    words[n++] = program;
    for (int i = 1, own; i < r->argc; i += own)
        if (!is_own(r->argv[i], &own)) {
            words[n++] = r->argv[i];
            own = 1;
        }
    memcpy(words + n, fixed, sizeof fixed);
    return words;
}

/* Runs one side of a round. Returns its record, even with rows that are not ok, or null with a message. */
static struct record *run_side(const struct rounds *r, const char *program, struct message *error)
{
    char file[PATH_MAX + 16], log[PATH_MAX + 16], budget[32], why[MESSAGE_SIZE];
    snprintf(file, sizeof file, "%s/rows.json", r->scratch);
    snprintf(log, sizeof log, "%s/log", r->scratch);
    snprintf(budget, sizeof budget, "%g", r->options->sampling.budget / (SIDES * AGAINST_ROUNDS));
    const char **words = words_of(r, program, file, budget);
    pid_t child;
    bool started = child_start(&child, words, log, NULL, error);
    int status = started ? child_attend(child) : 0;
    free(words);
    bool ran = started && ((WIFEXITED(status) && WEXITSTATUS(status) == 1) ||
                           child_succeeded(program, status, error) || child_explain(log, error));
    if (!ran)
        return NULL;
    struct record *record = record_load(file, why);
    if (!record)
        complain(error, "%s left no rows: %.300s", program, why);
    unlink(file);
    return record;
}

/* Names the first row that the old build did not run. */
static bool say_missing(const struct rows *old, const struct rows *new, const struct match_rule *rule,
                        struct message *error)
{
    char why[AXES_TEXT];
    size_t i = 0;
    while (i < rows_count(new) && match_find(rule, old, rows_at(new, i)) != MATCH_NONE)
        i++;
    match_explain(rule, old, rows_at(new, i), why);
    return complain(error, "--against: no row of the old build is the work of row %zu: %s", i + 1, why);
}

static void add_row(struct rounds *r, int side, size_t i, const struct row *row)
{
    if (r->count == 0)
        rows_append(r->rows[side], row_copy(row));
    for (size_t p = 0; p < TIMED; p++) {
        char path[SCHEMA_PATH];
        double *median = &r->medians[i][side][p][r->count];
        snprintf(path, sizeof path, "%s.time.median", program_name(p));
        if (!row_get_real(row, path, median))
            *median = NAN;
    }
    r->bad[i] = r->bad[i] || (side == NEW && !row_is_ok(row));
}

/* Adds the rows of a round. False with a message if they are not of the same sweep. */
static bool add_round(struct rounds *r, const struct rows *old, const struct rows *new, struct message *error)
{
    struct comparison c;
    comparison_of_rows(&c, old, new);
    size_t lines = comparison_lines(&c);
    bool good = lines == rows_count(new) || say_missing(old, new, &c.rule, error);
    if (r->count == 0) {
        r->medians = calloc(lines + 1, sizeof *r->medians);
        r->bad = calloc(lines + 1, sizeof *r->bad);
        r->rows[OLD] = rows_new();
        r->rows[NEW] = rows_new();
        if (!r->medians || !r->bad)
            abort();
    } else if (good && lines != rows_count(r->rows[NEW])) {
        good = complain(error, "--against: the rounds have different rows");
    }
    for (size_t i = 0; i < SIDES * lines && good; i++)
        add_row(r, i % SIDES, i / SIDES, comparison_row(&c, i % SIDES, i / SIDES));
    comparison_free(&c);
    r->count++;
    return good;
}

/* Runs rounds until there are this many: old and new, then new and old, and so on. */
static bool run_rounds(struct rounds *r, size_t rounds, struct message *error)
{
    char old[PATH_MAX]; /* with a slash, so that it is not searched for in PATH */
    const char *against = r->options->against;
    snprintf(old, sizeof old, "%s%s", strchr(against, '/') ? "" : "./", against);
    bool good = true;
    while (good && r->count < rounds) {
        struct record *records[SIDES] = {NULL, NULL};
        for (int turn = 0; turn < SIDES && good; turn++) {
            int side = turn ^ (int)(r->count & 1);
            if (isatty(STDERR_FILENO))
                fprintf(stderr, "\rround %zu of %zu: %s ", r->count + 1, rounds, side == OLD ? "old" : "new");
            records[side] = run_side(r, side == OLD ? old : "/proc/self/exe", error);
            good = records[side] != NULL;
        }
        good = good && add_round(r, record_rows(records[OLD]), record_rows(records[NEW]), error);
        record_free(records[OLD]);
        record_free(records[NEW]);
    }
    return good;
}

/* Gives a row the medians of all rounds as its samples. */
static void set_samples(const struct rounds *r, int side, size_t i)
{
    for (size_t p = 0; p < TIMED; p++) {
        const double *medians = r->medians[i][side][p];
        struct row *row = rows_at(r->rows[side], i);
        char path[SCHEMA_PATH];
        size_t timed = 0;
        while (timed < r->count && isfinite(medians[timed]))
            timed++;
        bool all = timed == r->count;
        snprintf(path, sizeof path, "%s.time%s", program_name(p), all ? "" : ".samples");
        if (!all) {
            row_set_null(row, path, "not timed in every round");
            continue;
        }
        row_set_samples(row, path, medians, r->count);
        row_set_text(row, "status", "ok"); /* where it was not, it has no times */
    }
}

/* Compares the rounds and, unless null, prints the comparison. */
static struct tally compare_rounds(const struct rounds *r, FILE *out)
{
    struct comparison c;
    for (size_t i = 0; i < SIDES * rows_count(r->rows[NEW]); i++)
        set_samples(r, i % SIDES, i / SIDES);
    comparison_of_rows(&c, r->rows[OLD], r->rows[NEW]);
    c.judge = judge_ratios;
    if (out)
        fprintf(out, "A: the old build; B: this one; medians of %zu rounds, margin %g %%\n", r->count,
                100 * AGAINST_MARGIN);
    struct tally t = out ? compare_two(out, &c) : comparison_tally(&c, COMPARED_MAX, TIMED);
    comparison_free(&c);
    return t;
}

/* Returns the number of slower programs and bad rows, or one more if nothing could be compared. */
static int print_verdicts(const struct rounds *r)
{
    struct tally t = compare_rounds(r, stdout);
    int missed = (int)t.verdicts[VERDICT_SLOWER] + (t.judged == 0);
    for (size_t i = 0; i < rows_count(r->rows[NEW]); i++) {
        if (r->bad[i])
            printf("row %zu: not ok by this build in every round\n", i + 1);
        missed += r->bad[i];
    }
    return missed;
}

bool against(const struct options *o, int argc, char **argv, int *missed, struct message *error)
{
    struct rounds r = {.options = o, .argc = argc, .argv = argv};
    if (!scratch_make(r.scratch, error))
        return false;
    bool good = run_rounds(&r, AGAINST_ROUNDS, error);
    if (good && compare_rounds(&r, NULL).verdicts[VERDICT_SLOWER] > 0)
        good = run_rounds(&r, AGAINST_ROUNDS_MAX, error);
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    if (good)
        *missed = print_verdicts(&r);
    scratch_remove(r.scratch);
    rows_free(r.rows[OLD]);
    rows_free(r.rows[NEW]);
    free(r.medians);
    free(r.bad);
    return good;
}
