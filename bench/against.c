#include "bench/against.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/match.h"
#include "analysis/record.h"
#include "analysis/robust.h"
#include "analysis/statistics.h"
#include "bench/child.h"
#include "bench/scratch.h"

enum { OLD, NEW, SIDES };

struct against_verdict against_judge(const double *ratios)
{
    struct interval i = median_interval_ranks(ratios, AGAINST_ROUNDS);
    struct against_verdict v = {
        .ratio = summarize(ratios, AGAINST_ROUNDS).median, .low = i.low, .high = i.high};
    v.slower = v.low > 1 && v.ratio > 1 + AGAINST_MARGIN;
    v.faster = v.high < 1 && v.ratio < 1 - AGAINST_MARGIN;
    return v;
}

bool against_possible(const struct options *o, struct message *error)
{
    if (access(o->against, X_OK) != 0)
        return complain(error, "--against %s: needs an executable file", o->against);
    if (o->output || o->dump || o->profile || o->gates.count || o->baseline)
        return complain(error, "--against: not with --output, --dump, --profile, --threshold or --baseline");
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
static json_t *run_side(const struct options *o, const char *program, int argc, char **argv,
                        const char *directory, struct message *error)
{
    char file[PATH_MAX], budget[32];
    if (snprintf(file, sizeof file, "%s/rows.json", directory) >= PATH_MAX) {
        complain(error, "%s: the path is too long", directory);
        return NULL;
    }
    snprintf(budget, sizeof budget, "%g", o->budget / (SIDES * AGAINST_ROUNDS));
    const char *fixed[] = {"--no-check", "--no-roofline", "--no-charts", "--output",
                           file,         "--budget",      budget};
    const char **words = words_of(program, argc, argv, fixed, sizeof fixed / sizeof *fixed);
    pid_t child;
    bool started = child_start(&child, words, NULL, NULL, error);
    int status = started ? child_wait(child) : 0;
    free(words);
    if (!started ||
        (!(WIFEXITED(status) && WEXITSTATUS(status) == 1) && !child_succeeded(program, status, error)))
        return NULL;
    char why[MESSAGE_SIZE];
    json_t *record = record_load(file, why);
    if (!record)
        complain(error, "%s left no rows: %.300s", program, why);
    unlink(file);
    return record;
}

/* The comparison so far: the rows of the first round, and a ratio for each of their programs and rounds. */
struct comparing {
    json_t *rows[SIDES];
    double (*ratios)[PROGRAMS][AGAINST_ROUNDS];
};

static double median_of(const json_t *row, enum program_kind p)
{
    char path[SCHEMA_PATH];
    double median;
    snprintf(path, sizeof path, "%s.time.median", program_name(p));
    return row_get_real(row, path, &median) ? median : NAN;
}

/* Takes over a round's records. False with a message if they are not of the same sweep. */
static bool add_round(struct comparing *c, int round, json_t *const records[SIDES], struct message *error)
{
    const json_t *rows[SIDES] = {json_object_get(records[OLD], "rows"),
                                 json_object_get(records[NEW], "rows")};
    size_t count = json_array_size(rows[NEW]);
    struct match_rule rule = match_rule(rows, SIDES, NULL);
    if (round == 0) {
        c->ratios = calloc(count, sizeof *c->ratios);
        for (int side = 0; side < SIDES; side++)
            c->rows[side] = json_incref(json_object_get(records[side], "rows"));
    }
    if (!c->ratios || count != json_array_size(c->rows[NEW]))
        return complain(error, "--against: the rounds have different rows");
    for (size_t i = 0; i < count; i++) {
        const json_t *row = json_array_get(rows[NEW], i);
        size_t old = match_find(&rule, rows[OLD], row);
        char why[AXES_TEXT];
        if (old == MATCH_NONE) {
            match_explain(&rule, rows[OLD], row, why);
            return complain(error, "--against: no row of the old build is the work of row %zu: %s", i + 1,
                            why);
        }
        for (enum program_kind p = 0; p < PROGRAMS; p++)
            c->ratios[i][p][round] = median_of(row, p) / median_of(json_array_get(rows[OLD], old), p);
    }
    return true;
}

/* Old and new, then new and old, and so on. */
static bool run_round(struct comparing *c, int round, const struct options *o, int argc, char **argv,
                      const char *directory, struct message *error)
{
    const char *const programs[SIDES] = {o->against, "/proc/self/exe"};
    json_t *records[SIDES] = {NULL, NULL};
    bool good = true;
    for (int turn = 0; turn < SIDES && good; turn++) {
        int side = turn ^ (round & 1);
        if (isatty(STDERR_FILENO))
            fprintf(stderr, "\rround %d of %d: %s ", round + 1, AGAINST_ROUNDS, side == OLD ? "old" : "new");
        records[side] = run_side(o, programs[side], argc, argv, directory, error);
        good = records[side] != NULL;
    }
    good = good && add_round(c, round, records, error);
    json_decref(records[OLD]);
    json_decref(records[NEW]);
    return good;
}

static void print_line(const json_t *row, const struct field *const *axes, size_t count, enum program_kind p,
                       const struct against_verdict *v)
{
    char text[AXES_TEXT];
    for (size_t i = 0; i < count; i++) {
        axes_text(row, axes[i], text);
        printf("%12s ", text);
    }
    printf("%-8s %6.3f [%.3f, %.3f]  %s\n", program_name(p), v->ratio, v->low, v->high,
           v->slower   ? "SLOWER"
           : v->faster ? "faster"
                       : "no difference seen");
}

/* Returns how many programs are slower. */
static int print_verdicts(const struct comparing *c, const struct options *o)
{
    const struct field *axes[AXES_MAX];
    size_t count = axes_varying(c->rows[NEW], axes);
    int slower = 0;
    for (size_t i = 0; i < count; i++)
        printf("%12s ", axes[i]->path);
    printf("%-8s new/old, 95 %% of %d rounds; margin %g %%\n", "program", AGAINST_ROUNDS,
           100 * AGAINST_MARGIN);
    for (size_t i = 0; i < json_array_size(c->rows[NEW]); i++)
        for (enum program_kind p = 0; p < PROGRAMS; p++) {
            const double *ratios = c->ratios[i][p];
            bool timed = true;
            for (int r = 0; r < AGAINST_ROUNDS; r++)
                timed = timed && isfinite(ratios[r]);
            struct against_verdict v = timed ? against_judge(ratios) : (struct against_verdict){0};
            if (timed)
                print_line(json_array_get(c->rows[NEW], i), axes, count, p, &v);
            else if (o->programs[p])
                printf("row %zu: %s was not timed in every round\n", i + 1, program_name(p));
            slower += v.slower;
        }
    return slower;
}

bool against(const struct options *o, int argc, char **argv, int *slower, struct message *error)
{
    struct comparing c = {0};
    char directory[PATH_MAX];
    if (!scratch_make(directory, error))
        return false;
    bool good = true;
    for (int round = 0; round < AGAINST_ROUNDS && good; round++)
        good = run_round(&c, round, o, argc, argv, directory, error);
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    if (good)
        *slower = print_verdicts(&c, o);
    scratch_remove(directory);
    json_decref(c.rows[OLD]);
    json_decref(c.rows[NEW]);
    free(c.ratios);
    return good;
}
