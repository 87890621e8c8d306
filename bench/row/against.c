/*
 * At least 27 of 40 ratios are above 1 with a probability of 0.019 where the two builds are equal, on a
 * machine so noisy that the margin does not matter. A sweep has many programs, and a gate that is often wrong
 * is switched off: hence the second set of rounds, which makes it 4e-4, and costs time only where there is
 * something to fear. It is judged alone, since all rounds together would be biased by the choice of when to
 * go on. Many short rounds see more than few long ones: where a machine is slower for seconds at a time, a
 * round is hit as a whole, and the interval leaves out the thirteen outermost on either side.
 */
#include "bench/row/against.h"

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

/* By a sample for each round of both builds. */
static struct verdict judge(const double *base, size_t n, const double *samples, size_t m,
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
    bool profile = o->profile && !o->bench->whole; /* which makes one unasked */
    if (o->output.file || o->output.resume || o->output.dump || o->output.trace || profile ||
        o->output.format != FORMAT_TABLE || o->gates.count || o->baseline)
        return complain(error, "--against: prints a table of its own and keeps no rows: not with --output, "
                               "--resume, --dump, --trace, --profile, --format, --threshold or --baseline");
    return true;
}

/* What is about the run as a whole, or the same for both sides; `takes_next`: its value is the next word. */
static bool is_own(const char *word, bool *takes_next)
{
    static const char *const alone[] = {"--no-check", "--no-roofline", "--no-charts", "--calibrate"};
    static const char *const valued[] = {"--against", "--format", "--budget"};
    *takes_next = false;
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++)
        if (strcmp(word, alone[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof valued / sizeof *valued; i++) {
        size_t length = strlen(valued[i]);
        if (strncmp(word, valued[i], length) != 0 || (word[length] && word[length] != '='))
            continue;
        *takes_next = !word[length];
        return true;
    }
    return false;
}

/* The words that a side is started with, up to a null: the user's, then what makes a run short and silent. */
static const char **words_of(const char *program, int argc, char **argv, const char *const *fixed,
                             size_t count)
{
    const char **words = calloc((size_t)argc + count + 1, sizeof *words);
    size_t n = 0;
    if (!words)
        abort();
    words[n++] = program;
    for (int i = 1; i < argc; i++) {
        bool takes_next;
        if (!is_own(argv[i], &takes_next))
            words[n++] = argv[i];
        i += takes_next;
    }
    memcpy(words + n, fixed, count * sizeof *fixed);
    return words;
}

/* One side of a round: the sweep's record; null with a message. A run with bad rows is a run. */
static struct record *run_side(const struct options *o, const char *program, int argc, char **argv,
                               const char *directory, struct message *error)
{
    char file[PATH_MAX], log[PATH_MAX], budget[32];
    bool fits = snprintf(file, sizeof file, "%s/rows.json", directory) < PATH_MAX;
    if (!fits || snprintf(log, sizeof log, "%s/log", directory) >= PATH_MAX) {
        complain(error, "%s: the path is too long", directory);
        return NULL;
    }
    snprintf(budget, sizeof budget, "%g", o->sampling.budget / (SIDES * AGAINST_ROUNDS));
    const char *fixed[] = {"--no-check", "--no-roofline", "--no-charts", "--output",
                           file,         "--budget",      budget};
    const char **words = words_of(program, argc, argv, fixed, sizeof fixed / sizeof *fixed);
    pid_t child;
    bool started = child_start(&child, words, log, NULL, error);
    int status = started ? child_attend(child) : 0;
    free(words);
    bool ran = started && ((WIFEXITED(status) && WEXITSTATUS(status) == 1) ||
                           child_succeeded(program, status, error) || child_explain(log, error));
    if (!ran)
        return NULL;
    char why[MESSAGE_SIZE];
    struct record *record = record_load(file, why);
    if (!record)
        complain(error, "%s left no rows: %.300s", program, why);
    unlink(file);
    return record;
}

/* What the rounds have shown so far. */
struct comparing {
    struct rows *rows[SIDES];                            /* of the first round, in pairs */
    double (*medians)[SIDES][TIMED][AGAINST_ROUNDS_MAX]; /* of each pair; NAN: none */
    bool *bad; /* rows that this build did not do well in some round */
    size_t rounds;
};

/* The first row that the old build did not run, explained. */
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

/* Adds a pair of rows of a round. */
static void add_pair(struct comparing *c, size_t i, const struct row *const pair[SIDES])
{
    for (int side = 0; side < SIDES; side++) {
        if (c->rounds == 0)
            rows_append(c->rows[side], row_copy(pair[side]));
        for (size_t p = 0; p < TIMED; p++) {
            char path[SCHEMA_PATH];
            double *median = &c->medians[i][side][p][c->rounds];
            snprintf(path, sizeof path, "%s.time.median", program_name(p));
            if (!row_get_real(pair[side], path, median))
                *median = NAN;
        }
    }
    c->bad[i] = c->bad[i] || !row_is_ok(pair[NEW]);
}

/* Adds a round's rows. False with a message if they are not of the same sweep. */
static bool add_round(struct comparing *c, const struct rows *old, const struct rows *new,
                      struct message *error)
{
    struct comparison round;
    comparison_of_rows(&round, old, new);
    size_t count = comparison_lines(&round);
    bool good = count == rows_count(new) || say_missing(old, new, &round.rule, error);
    if (c->rounds == 0) {
        c->medians = calloc(count + 1, sizeof *c->medians);
        c->bad = calloc(count + 1, sizeof *c->bad);
        if (!c->medians || !c->bad)
            abort();
        for (int side = 0; side < SIDES; side++)
            c->rows[side] = rows_new();
    } else if (count != rows_count(c->rows[NEW])) {
        good = good && complain(error, "--against: the rounds have different rows");
    }
    for (size_t i = 0; i < count && good; i++)
        add_pair(c, i,
                 (const struct row *[]){comparison_row(&round, OLD, i), comparison_row(&round, NEW, i)});
    comparison_free(&round);
    c->rounds++;
    return good;
}

/* Old and new, then new and old, and so on. */
static bool run_round(struct comparing *c, size_t rounds, const struct options *o, int argc, char **argv,
                      const char *directory, struct message *error)
{
    char old[PATH_MAX]; /* with a slash, without which it would be looked for along PATH */
    snprintf(old, sizeof old, "%s%s", strchr(o->against, '/') ? "" : "./", o->against);
    const char *const programs[SIDES] = {old, "/proc/self/exe"};
    struct record *records[SIDES] = {NULL, NULL};
    bool good = true;
    for (int turn = 0; turn < SIDES && good; turn++) {
        int side = turn ^ (int)(c->rounds & 1);
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "\rround %zu of %zu: %s ", c->rounds + 1, rounds, side == OLD ? "old" : "new");
        records[side] = run_side(o, programs[side], argc, argv, directory, error);
        good = records[side] != NULL;
    }
    good = good && add_round(c, record_rows(records[OLD]), record_rows(records[NEW]), error);
    record_free(records[OLD]);
    record_free(records[NEW]);
    return good;
}

/* Gives the rows the medians of all rounds as their samples, and compares them. */
static void compare_rounds(const struct comparing *c, struct comparison *all)
{
    for (size_t i = 0; i < rows_count(c->rows[NEW]); i++)
        for (int side = 0; side < SIDES; side++)
            for (size_t p = 0; p < TIMED; p++) {
                const double *medians = c->medians[i][side][p];
                struct row *row = rows_at(c->rows[side], i);
                char path[SCHEMA_PATH];
                size_t r = 0;
                while (r < c->rounds && isfinite(medians[r]))
                    r++;
                snprintf(path, sizeof path, "%s.time%s", program_name(p), r < c->rounds ? ".samples" : "");
                if (r < c->rounds) {
                    row_set_null(row, path, "not timed in every round");
                    continue;
                }
                row_set_samples(row, path, medians, c->rounds);
                row_set_text(row, "status", "ok"); /* as far as it has times */
            }
    comparison_of_rows(all, c->rows[OLD], c->rows[NEW]);
    all->judge = judge;
}

static bool any_slower(const struct comparing *c)
{
    struct comparison all;
    compare_rounds(c, &all);
    struct tally t = comparison_tally(&all, COMPARED_MAX, TIMED);
    comparison_free(&all);
    return t.verdicts[VERDICT_SLOWER] > 0;
}

/* Returns how many programs are slower and rows are bad, and counts it as one more if there was no ratio. */
static int print_verdicts(const struct comparing *c)
{
    struct comparison all;
    compare_rounds(c, &all);
    printf("A: the old build; B: this one; medians of %zu rounds, margin %g %%\n", c->rounds,
           100 * AGAINST_MARGIN);
    struct tally t = compare_two(stdout, &all);
    comparison_free(&all);
    int missed = (int)t.verdicts[VERDICT_SLOWER] + (t.judged == 0);
    for (size_t i = 0; i < rows_count(c->rows[NEW]); i++) {
        if (c->bad[i])
            printf("row %zu: not ok by this build in every round\n", i + 1);
        missed += c->bad[i];
    }
    return missed;
}

static bool run_rounds(struct comparing *c, size_t rounds, const struct options *o, int argc, char **argv,
                       const char *directory, struct message *error)
{
    bool good = true;
    while (good && c->rounds < rounds)
        good = run_round(c, rounds, o, argc, argv, directory, error);
    return good;
}

bool against(const struct options *o, int argc, char **argv, int *missed, struct message *error)
{
    struct comparing c = {0};
    char directory[PATH_MAX];
    if (!scratch_make(directory, error))
        return false;
    bool good = run_rounds(&c, AGAINST_ROUNDS, o, argc, argv, directory, error);
    if (good && any_slower(&c))
        good = run_rounds(&c, AGAINST_ROUNDS_MAX, o, argc, argv, directory, error);
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    if (good)
        *missed = print_verdicts(&c);
    scratch_remove(directory);
    rows_free(c.rows[OLD]);
    rows_free(c.rows[NEW]);
    free(c.medians);
    free(c.bad);
    return good;
}
