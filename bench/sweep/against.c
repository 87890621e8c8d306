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

#include "analysis/record/result_file.h"
#include "analysis/statistics/allocate.h"
#include "analysis/statistics/robust.h"
#include "analysis/statistics/statistics.h"
#include "bench/base/child.h"
#include "bench/base/clock.h"
#include "bench/base/progress.h"
#include "bench/sweep/estimate.h"
#include "bench/sweep/gates.h"

enum { OLD, NEW, SIDES };

const struct verdict_limits against_limits = {.margin = 0.03, .same = 0.05};

static struct verdict judge_rounds(const double *ratios)
{
    struct interval i = median_interval_ranks(ratios, AGAINST_ROUNDS);
    struct verdict v = {.ratio = summarize(ratios, AGAINST_ROUNDS).median, .low = i.low, .high = i.high};
    verdict_judge(&v, against_limits);
    return v;
}

struct verdict against_judge(const double *ratios, size_t rounds)
{
    struct verdict v = judge_rounds(ratios);
    if (v.kind != VERDICT_SLOWER || rounds < AGAINST_ROUNDS_MAX)
        return v;
    v = judge_rounds(ratios + AGAINST_ROUNDS);
    if (v.kind != VERDICT_SLOWER) {
        v.kind = VERDICT_INCONCLUSIVE;
        v.not_slower = v.high <= 1 + against_limits.margin;
        strcpy(v.reason, "slower in the first rounds, not again");
    }
    return v;
}

/* The turns are medians, one per round. */
static struct verdict judge_ratios(const struct row *base, const struct row *row, size_t program)
{
    struct items old = row_timed(base, program)->repetition_medians,
                 new = row_timed(row, program)->repetition_medians;
    struct verdict v = row_verdict(base, program, row, program, against_limits);
    double ratios[AGAINST_ROUNDS_MAX];
    if (v.uncompared || old.count != new.count)
        return v;
    for (size_t r = 0; r < new.count; r++)
        ratios[r] = new.reals[r] / old.reals[r];
    return against_judge(ratios, new.count);
}

bool against_possible(const struct options *o, struct message *error)
{
    struct stat s;
    if (stat(o->against, &s) != 0 || !S_ISREG(s.st_mode) || access(o->against, X_OK) != 0)
        return complain(error, "--against %.300s: needs an executable file", o->against);
    bool profile = (o->profile && !o->bench->whole) || o->conventions; /* bench_model always has one */
    if (o->output.file || o->output.resume || o->output.dump || o->output.trace || profile ||
        o->output.format != FORMAT_TABLE || o->gates.count || o->baseline)
        return complain(
            error,
            "--against: prints a table of its own and keeps no rows: not with --output, "
            "--resume, --dump, --trace, --profile, --flop-convention, --format, --threshold or --baseline");
    return true;
}

/* A build, and the command line of the sweep. */
struct side {
    const char *program;
    int argc;
    char **argv;
    const char *scratch; /* directory */
};

enum { WORDS_MAX = 16 }; /* at least those that are added to the user's */

/* Whether a flag, and the word after it, are not passed on to the two builds; then also how many words. */
static bool is_own(const char *word, const char *next, bool check, int *words)
{
    static const char *const own[] = {"--runs=",       "--warmup=", /* of checked runs only */
                                      "--against=",    "--format=",   "--budget=",         "--no-check",
                                      "--no-roofline", "--no-charts", "--repetitions=",    "--peaks=measure",
                                      "--gate=",       "--turns=",    "--ceilings=measure"};
    for (size_t i = check ? 0 : 2; i < sizeof own / sizeof *own; i++) {
        size_t length = strcspn(own[i], "=");
        if (strncmp(word, own[i], length) != 0 || (word[length] && word[length] != '='))
            continue;
        const char *only = own[i][length] ? own[i] + length + 1 : "";
        const char *value = word[length] ? word + length + 1 : next;
        if (*only && strcmp(value, only) != 0)
            continue;
        *words = own[i][length] && !word[length] ? 2 : 1;
        return true;
    }
    return false;
}

/* The command line of a run, null-terminated: the user's flags, then those that make it short and silent. */
static const char **words_of(const struct side *s, const char *file, bool check, const char *budget)
{
    const char *const timed[] = {"--no-check"}, *const checked[] = {"--runs", "1", "--warmup", "0"};
    /* --turns: --repetitions as builds of the version before call it too */
    const char *const both[] = {"--turns", "1",        "--no-roofline", "--no-charts", "--output",
                                file,      "--budget", budget,          NULL};
    const char **words = allocate((size_t)s->argc + WORDS_MAX, sizeof *words);
    size_t n = 0;
    words[n++] = s->program;
    for (int i = 1, own; i < s->argc; i += own)
        if (!is_own(s->argv[i], i + 1 < s->argc ? s->argv[i + 1] : "", check, &own)) {
            words[n++] = s->argv[i];
            own = 1;
        }
    memcpy(words + n, check ? checked : timed, check ? sizeof checked : sizeof timed);
    n += (check ? sizeof checked : sizeof timed) / sizeof *words;
    memcpy(words + n, both, sizeof both);
    return words;
}

/*
 * Runs a build over the sweep: with a budget (s) and without checking the results, or to check them
 * (`check`), with one run of each program. Returns its record, even with rows that are not ok, or null with a
 * message.
 */
static struct record *side_run(const struct side *s, bool check, double budget, struct message *error)
{
    char file[PATH_MAX + 16], log[PATH_MAX + 16], seconds[32], why[MESSAGE_SIZE];
    snprintf(file, sizeof file, "%s/rows.json", s->scratch);
    snprintf(log, sizeof log, "%s/log", s->scratch);
    snprintf(seconds, sizeof seconds, "%g", budget);
    const char **words = words_of(s, file, check, seconds);
    pid_t child;
    bool started = child_start(&child, words, log, NULL, error);
    int status = started ? child_attend(child) : 0;
    free(words);
    bool ran = started && ((WIFEXITED(status) && WEXITSTATUS(status) == 1) ||
                           child_succeeded(s->program, status, error) || child_explain(log, error));
    if (!ran)
        return NULL;
    struct record *record = record_load(file, why);
    if (!record)
        complain(error, "%s left no rows: %.300s", s->program, why);
    unlink(file);
    return record;
}

struct rounds {
    const struct options *options;
    struct side side[SIDES];
    char old[PATH_MAX]; /* with a slash, so that it is not searched for in PATH */
    char scratch[PATH_MAX];
    struct rows *rows[SIDES];                            /* of the first run, in pairs */
    double (*medians)[SIDES][TIMED][AGAINST_ROUNDS_MAX]; /* of each pair; NAN: none */
    bool *bad; /* rows of this build that were not ok in some round */
    size_t count;
    struct rows *alone; /* rows of this build that the old one does not run */
};

/* Runs both builds, this one first if `swap`. False with a message. */
static bool run_both(const struct rounds *r, bool check, bool swap, struct record *records[SIDES],
                     struct message *error)
{
    const struct options *o = r->options;
    records[OLD] = records[NEW] = NULL;
    bool good = true;
    for (int turn = 0; turn < SIDES && good; turn++) {
        int side = turn ^ swap;
        records[side] = side_run(&r->side[side], check, o->sampling.budget / (SIDES * AGAINST_ROUNDS), error);
        good = records[side] != NULL;
    }
    return good;
}

/* Keeps the rows of the first run of both. False with a message if they have no work in common. */
static bool keep_rows(struct rounds *r, const struct comparison *c, struct message *error)
{
    const struct rows *new = c->files[NEW].rows;
    char why[AXES_TEXT];
    size_t lines = comparison_lines(c);
    for (size_t i = 0; i < SIDES * lines; i++)
        rows_append(r->rows[i % SIDES], row_copy(comparison_row(c, i % SIDES, i / SIDES)));
    for (size_t i = 0; i < rows_count(new); i++)
        if (match_find(&c->rule, c->files[OLD].rows, rows_at(new, i)) == MATCH_NONE)
            rows_append(r->alone, row_copy(rows_at(new, i)));
    r->medians = allocate(lines, sizeof *r->medians);
    r->bad = allocate(lines, sizeof *r->bad);
    match_explain(&c->rule, c->files[OLD].rows, rows_at(new, 0), why);
    return lines > 0 || complain(error, "--against: the old build does the work of no row: %s", why);
}

/* Runs both builds, and keeps their rows if these are the first and their times unless they are checked. */
static bool run_pair(struct rounds *r, bool check, struct message *error)
{
    struct record *records[SIDES];
    struct comparison c;
    bool good = run_both(r, check, r->count & 1, records, error);
    if (good) {
        comparison_of_rows(&c, record_rows(records[OLD]), record_rows(records[NEW]));
        size_t lines = comparison_lines(&c);
        good = r->medians ? lines == rows_count(r->rows[NEW]) ||
                                complain(error, "--against: the rounds have different rows")
                          : keep_rows(r, &c, error);
        for (size_t n = 0; n < SIDES * lines && good && !check; n++) {
            size_t side = n % SIDES, i = n / SIDES;
            const struct row *row = comparison_row(&c, side, i);
            for (size_t p = 0; p < TIMED; p++)
                r->medians[i][side][p][r->count] = row_timed(row, p)->median;
            r->bad[i] = r->bad[i] || (side == NEW && !row_is_ok(row));
        }
        comparison_free(&c);
        r->count += !check;
    }
    record_free(records[OLD]);
    record_free(records[NEW]);
    return good;
}

/* On a terminal one line that changes; elsewhere a line now and then. */
static void show_progress(const struct rounds *r, size_t rounds, double start)
{
    bool terminal = progress_terminal(STDERR_FILENO);
    char left[UNITS_TEXT] = "unknown";
    size_t done = r->count % AGAINST_ROUNDS;
    if (done > 0)
        estimate_time_text(left, (clock_now() - start) / (double)done * (double)(rounds - r->count));
    if (terminal || r->count % 10 == 0)
        fprintf(stderr, "%sround %zu of %zu, time left: %s%s", terminal ? "\r\033[K" : "", r->count + 1,
                rounds, left, terminal ? "" : "\n");
}

/* Runs rounds until there are this many: old and new, then new and old, and so on. */
static bool run_rounds(struct rounds *r, size_t rounds, struct message *error)
{
    double start = clock_now();
    bool good = true;
    while (good && r->count < rounds) {
        show_progress(r, rounds, start);
        good = run_pair(r, false, error);
    }
    if (progress_terminal(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    return good;
}

/* Gives a row the medians of all rounds as its samples; one that is not ok keeps that. */
static void set_samples(const struct rounds *r, int side, size_t i)
{
    struct row *row = rows_at(r->rows[side], i);
    for (size_t p = 0; p < TIMED && row_is_ok(row); p++) {
        const double *medians = r->medians[i][side][p];
        char group[SCHEMA_PATH];
        size_t timed = 0;
        double some = NAN;
        for (size_t n = 0; n < r->count; n++) {
            timed += isfinite(medians[n]);
            some = isfinite(medians[n]) ? medians[n] : some;
        }
        snprintf(group, sizeof group, "%s.time", program_name(p));
        if (timed == r->count) {
            row_set_samples(row, group, medians, r->count);
        } else {
            row_omit(row, group, "not timed in every round");
            if (timed > 0)
                row_timed(row, p)->median = some; /* so that the comparison has a line for it */
        }
    }
}

/* Compares the rounds so far. The caller frees the comparison, and then `rows`. */
static struct comparison compare_rounds(const struct rounds *r, struct rows **rows)
{
    struct comparison c;
    *rows = rows_new_view();
    for (size_t i = 0; i < SIDES * rows_count(r->rows[NEW]); i++)
        set_samples(r, i % SIDES, i / SIDES);
    for (size_t i = 0; i < rows_count(r->rows[NEW]); i++)
        rows_append(*rows, rows_at(r->rows[NEW], i));
    for (size_t i = 0; i < rows_count(r->alone); i++)
        rows_append(*rows, rows_at(r->alone, i));
    comparison_of_rows(&c, r->rows[OLD], *rows);
    c.paired = judge_ratios;
    return c;
}

static bool anything_slower(const struct rounds *r)
{
    struct rows *rows;
    struct comparison c = compare_rounds(r, &rows);
    struct tally t = comparison_tally(&c, COMPARED_MAX, TIMED);
    comparison_free(&c);
    rows_free(rows);
    return t.verdicts[VERDICT_SLOWER] > 0;
}

static int print_verdicts(const struct rounds *r)
{
    const struct options *o = r->options;
    struct rows *rows;
    struct comparison c = compare_rounds(r, &rows);
    printf("A: the old build; B: this one; medians of %zu rounds, margin %g %%\n", r->count,
           100 * against_limits.margin);
    int missed = gate_pairs(stdout, &c, o->lenience);
    for (size_t i = 0; i < rows_count(r->rows[NEW]); i++) {
        if (r->bad[i])
            printf("missed: row %zu: not ok by this build in every round\n", i + 1);
        missed += r->bad[i];
    }
    missed += gates_judge_unchecked(rows, o->lenience.allow_unchecked, stdout);
    comparison_free(&c);
    rows_free(rows);
    return missed;
}

/* Rows of this build with wrong results, which it prints: their times are of no interest. */
static int print_wrong(const struct rounds *r)
{
    int wrong = 0;
    for (size_t i = 0; i < rows_count(r->rows[NEW]); i++) {
        const struct row *row = rows_at(r->rows[NEW], i);
        if (!row->status || strcmp(row->status, "wrong") != 0)
            continue;
        printf("missed: row %zu: wrong by this build: %s\n", i + 1, row->reason ? row->reason : "");
        wrong++;
    }
    return wrong;
}

static void announce(const struct options *o)
{
    char text[UNITS_TEXT];
    double least = SIDES * AGAINST_ROUNDS * estimate_least(o);
    estimate_time_text(text, least);
    fprintf(stderr, "--against: %s%d rounds of both builds%s%s; as many again if something is slower\n",
            o->check.wanted ? "a check of both builds, then " : "", AGAINST_ROUNDS,
            least > 0 ? ", at least " : "", least > 0 ? text : "");
}

/* Checks both builds, then runs the rounds. False with a message. */
static bool compare_builds(struct rounds *r, int *missed, struct message *error)
{
    announce(r->options);
    if (r->options->check.wanted) {
        if (!run_pair(r, true, error))
            return false;
        *missed = print_wrong(r);
        if (*missed > 0)
            return true;
    }
    if (!run_rounds(r, AGAINST_ROUNDS, error) ||
        (anything_slower(r) && !run_rounds(r, AGAINST_ROUNDS_MAX, error)))
        return false;
    *missed = print_verdicts(r);
    return true;
}

bool against(const struct options *o, int argc, char **argv, int *missed, struct message *error)
{
    struct rounds r = {.options = o, .rows = {rows_new(), rows_new()}, .alone = rows_new()};
    snprintf(r.old, sizeof r.old, "%s%s", strchr(o->against, '/') ? "" : "./", o->against);
    r.side[NEW] = (struct side){"/proc/self/exe", argc, argv, r.scratch};
    r.side[OLD] = (struct side){r.old, argc, argv, r.scratch};
    bool good = scratch_make(r.scratch, error);
    if (good) {
        good = compare_builds(&r, missed, error);
        scratch_remove(r.scratch);
    }
    rows_free(r.rows[OLD]);
    rows_free(r.rows[NEW]);
    rows_free(r.alone);
    free(r.medians);
    free(r.bad);
    return good;
}
