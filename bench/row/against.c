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

#include "analysis/compare/comparison.h"
#include "analysis/compare/match.h"
#include "analysis/record/record.h"
#include "analysis/statistics/robust.h"
#include "analysis/statistics/statistics.h"
#include "bench/base/child.h"
#include "bench/base/scratch.h"

enum { OLD, NEW, SIDES };

static struct against_verdict judge_rounds(const double *ratios)
{
    struct interval i = median_interval_ranks(ratios, AGAINST_ROUNDS);
    struct against_verdict v = {
        .ratio = summarize(ratios, AGAINST_ROUNDS).median, .low = i.low, .high = i.high};
    v.slower = v.low > 1 && v.ratio > 1 + AGAINST_MARGIN;
    v.faster = v.high < 1 && v.ratio < 1 - AGAINST_MARGIN;
    return v;
}

struct against_verdict against_judge(const double *ratios, int rounds)
{
    struct against_verdict v = judge_rounds(ratios);
    if (!v.slower || rounds < AGAINST_ROUNDS_MAX)
        return v;
    struct against_verdict again = judge_rounds(ratios + AGAINST_ROUNDS);
    again.once = !again.slower;
    again.faster = false;
    return again;
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

/* The comparison so far: the rows of the first round, and a ratio for each of their programs and rounds. */
struct comparing {
    struct record *first[SIDES];
    const struct rows *rows[SIDES];                          /* theirs */
    double (*ratios)[COMPARED_PROGRAMS][AGAINST_ROUNDS_MAX]; /* by comparison_program */
    bool *bad; /* rows that this build did not do well in some round */
    int rounds;
};

static double median_of(const struct row *row, size_t p)
{
    char path[SCHEMA_PATH];
    double median;
    snprintf(path, sizeof path, "%s.time.median", comparison_program(p));
    return row_get_real(row, path, &median) ? median : NAN;
}

/* Takes over a round's records. False with a message if they are not of the same sweep. */
static bool add_round(struct comparing *c, struct record *records[SIDES], struct message *error)
{
    const struct rows *rows[SIDES] = {record_rows(records[OLD]), record_rows(records[NEW])};
    size_t count = rows_count(rows[NEW]);
    struct match_rule rule = match_rule(rows, SIDES, NULL);
    if (c->rounds == 0) {
        c->ratios = calloc(count, sizeof *c->ratios);
        c->bad = calloc(count, sizeof *c->bad);
        for (int side = 0; side < SIDES; side++) {
            c->first[side] = records[side];
            c->rows[side] = rows[side];
            records[side] = NULL;
        }
    }
    if (!c->ratios || !c->bad || count != rows_count(c->rows[NEW]))
        return complain(error, "--against: the rounds have different rows");
    for (size_t i = 0; i < count; i++) {
        const struct row *row = rows_at(rows[NEW], i);
        size_t old = match_find(&rule, rows[OLD], row);
        c->bad[i] = c->bad[i] || !row_is_ok(row);
        char why[AXES_TEXT];
        if (old == MATCH_NONE) {
            match_explain(&rule, rows[OLD], row, why);
            return complain(error, "--against: no row of the old build is the work of row %zu: %s", i + 1,
                            why);
        }
        for (size_t p = 0; p < COMPARED_PROGRAMS; p++)
            c->ratios[i][p][c->rounds] = median_of(row, p) / median_of(rows_at(rows[OLD], old), p);
    }
    c->rounds++;
    return true;
}

/* Old and new, then new and old, and so on. */
static bool run_round(struct comparing *c, int rounds, const struct options *o, int argc, char **argv,
                      const char *directory, struct message *error)
{
    char old[PATH_MAX]; /* with a slash, without which it would be looked for along PATH */
    snprintf(old, sizeof old, "%s%s", strchr(o->against, '/') ? "" : "./", o->against);
    const char *const programs[SIDES] = {old, "/proc/self/exe"};
    struct record *records[SIDES] = {NULL, NULL};
    bool good = true;
    for (int turn = 0; turn < SIDES && good; turn++) {
        int side = turn ^ (c->rounds & 1);
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "\rround %d of %d: %s ", c->rounds + 1, rounds, side == OLD ? "old" : "new");
        records[side] = run_side(o, programs[side], argc, argv, directory, error);
        good = records[side] != NULL;
    }
    good = good && add_round(c, records, error);
    record_free(records[OLD]);
    record_free(records[NEW]);
    return good;
}

static void print_line(const struct row *row, const struct field *const *axes, size_t count, size_t p,
                       const struct against_verdict *v)
{
    char text[AXES_TEXT];
    for (size_t i = 0; i < count; i++) {
        axes_text(row, axes[i], text);
        printf("%12s ", text);
    }
    printf("%-8s %6.3f [%.3f, %.3f]  %s\n", comparison_program(p), v->ratio, v->low, v->high,
           v->slower   ? "SLOWER"
           : v->once   ? "slower in the first rounds, not again"
           : v->faster ? "faster"
                       : "no difference seen");
}

/* Of a program of row i; false if it was not timed in every round. */
static bool verdict_of(const struct comparing *c, size_t i, size_t p, struct against_verdict *v)
{
    const double *ratios = c->ratios[i][p];
    for (int r = 0; r < c->rounds; r++)
        if (!isfinite(ratios[r]))
            return false;
    *v = against_judge(ratios, c->rounds);
    return true;
}

static bool any_slower(const struct comparing *c)
{
    for (size_t i = 0; i < rows_count(c->rows[NEW]); i++)
        for (size_t p = 0; p < COMPARED_PROGRAMS; p++) {
            struct against_verdict v;
            if (verdict_of(c, i, p, &v) && v.slower)
                return true;
        }
    return false;
}

/* Returns how many programs are slower and rows are bad, and counts it as one more if there was no ratio. */
static int print_verdicts(const struct comparing *c, const struct options *o)
{
    const struct field *axes[AXES_MAX];
    size_t count = axes_varying(c->rows[NEW], axes);
    int missed = 0, compared = 0;
    for (size_t i = 0; i < count; i++)
        printf("%12s ", axes[i]->path);
    printf("%-8s new/old, 95 %% of %d rounds; margin %g %%\n", "program", AGAINST_ROUNDS,
           100 * AGAINST_MARGIN);
    for (size_t i = 0; i < rows_count(c->rows[NEW]); i++) {
        for (size_t p = 0; p < COMPARED_PROGRAMS; p++) {
            struct against_verdict v;
            if (verdict_of(c, i, p, &v)) {
                print_line(rows_at(c->rows[NEW], i), axes, count, p, &v);
                compared++;
                missed += v.slower;
            } else if (p < PROGRAMS && o->programs[p]) {
                printf("row %zu: %s was not timed in every round\n", i + 1, comparison_program(p));
            }
        }
        if (c->bad[i])
            printf("row %zu: not ok by this build in every round\n", i + 1);
        missed += c->bad[i];
    }
    if (!compared)
        puts("nothing could be compared");
    return missed + !compared;
}

static bool run_rounds(struct comparing *c, int rounds, const struct options *o, int argc, char **argv,
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
        *missed = print_verdicts(&c, o);
    scratch_remove(directory);
    record_free(c.first[OLD]);
    record_free(c.first[NEW]);
    free(c.ratios);
    free(c.bad);
    return good;
}
