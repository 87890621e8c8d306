/*
 * Which way to go parallel (--parallel) is predicted to be best: of planned rows of the same work on as many
 * ranks, the one whose run takes least; where no time of a run is predicted, which sends and needs least.
 *
 * A prediction p with the error e = p / time - 1 means a time of p / (1 + e). If the measured rows of the
 * record have errors from `low` to `high` (0 is within), a is faster than b for certain only if
 * a / (1 + low) < b / (1 + high).
 */
#include "analysis/findings/sentences.h"

#include "analysis/record/axes.h"
#include "analysis/record/schema.h"
#include "analysis/tables/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WAYS_MAX = 8, BOUTS_MAX = 64 };

/* Differences below this are none. */
static const double same = 1.01;

/* What ways are compared by, and how wrong it may be. */
struct measure {
    const char *path;
    enum unit_base base;
    const char *unit;
    bool known; /* the errors are */
    double low, high;
};

struct way {
    const char *name;
    double value;
};

/* The ways on so many ranks, the best first; `level` of them may be the best. */
struct bout {
    int64_t ranks;
    size_t count, level;
    struct way way[WAYS_MAX];
};

static bool is_planned(const struct row *row)
{
    const char *device;
    return row_is_ok(row) && row_get_text(row, "device", &device) && strcmp(device, "meta") == 0;
}

/* Whether two rows are of the same work, on any ranks in any way. */
static bool same_but_way(const struct rows *rows, const struct row *a, const struct row *b)
{
    const struct field *axes[AXES_MAX];
    size_t n = axes_beside(rows, schema_find("ranks.count"), axes), i = 0;
    while (i < n && (strcmp(axes[i]->path, "ranks.parallel") == 0 || row_order(a, b, axes[i]) == 0))
        i++;
    return i == n;
}

static struct bout *find_bout(struct bout *bouts, size_t *n, int64_t ranks)
{
    size_t at = 0;
    while (at < *n && bouts[at].ranks < ranks)
        at++;
    if (at < *n && bouts[at].ranks == ranks)
        return &bouts[at];
    if (*n == BOUTS_MAX)
        return NULL;
    memmove(&bouts[at + 1], &bouts[at], (*n - at) * sizeof *bouts);
    bouts[at] = (struct bout){.ranks = ranks};
    ++*n;
    return &bouts[at];
}

/* A row's way, if the bout has it not yet, before those with more. */
static void add_way(struct bout *b, const char *name, double value)
{
    size_t at = b->count;
    for (size_t i = 0; i < b->count; i++)
        if (strcmp(b->way[i].name, name) == 0)
            return;
    if (b->count == WAYS_MAX)
        return;
    for (; at > 0 && b->way[at - 1].value > value; at--)
        b->way[at] = b->way[at - 1];
    b->way[at] = (struct way){name, value};
    b->count++;
}

static void judge_bout(struct bout *b, const struct measure *m)
{
    double worst = b->way[0].value * fmax(same, (1 + m->high) / (1 + m->low));
    b->level = 1;
    while (b->level < b->count && (m->low <= -1 || b->way[b->level].value < worst))
        b->level++;
}

/* By number of ranks, those of the work of row `first` that no row before it has. Returns how many. */
static size_t collect_bouts(struct bout bouts[BOUTS_MAX], const struct rows *rows, size_t first,
                            const struct measure *m)
{
    size_t n = 0;
    for (size_t i = first; i < rows_count(rows); i++) {
        const struct row *row = rows_at(rows, i);
        const char *name;
        int64_t ranks;
        double value;
        struct bout *b = is_planned(row) && same_but_way(rows, rows_at(rows, first), row) &&
                                 row_get_count(row, "ranks.count", &ranks) && ranks > 1 &&
                                 row_get_text(row, "ranks.parallel", &name) &&
                                 row_get_real(row, m->path, &value)
                             ? find_bout(bouts, &n, ranks)
                             : NULL;
        if (b)
            add_way(b, name, value);
    }
    for (size_t i = 0; i < n; i++)
        judge_bout(&bouts[i], m);
    return n;
}

/* Whether the same ways lead in both, of several or alone. */
static bool same_leaders(const struct bout *a, const struct bout *b)
{
    size_t found = 0;
    for (size_t i = 0; i < a->level; i++)
        for (size_t k = 0; k < b->level; k++)
            found += strcmp(a->way[i].name, b->way[k].name) == 0;
    return a->level == b->level && found == a->level && (a->count > 1) == (b->count > 1);
}

/* "with ulysses on 2 to 8 ranks (on 8: 15.1 ms, data 61.6 ms)", of bouts from..to. */
static void say_stretch(FILE *out, const struct bout *from, const struct bout *to, const struct measure *m)
{
    char value[UNITS_TEXT];
    fputs("with ", out);
    for (size_t i = 0; i < to->level; i++)
        fprintf(out, "%s%s", i == 0 ? "" : i + 1 < to->level ? ", " : " or ", to->way[i].name);
    fprintf(out, "%s on %lld", to->count == 1 ? ", the only one," : "", (long long)from->ranks);
    if (from != to)
        fprintf(out, " to %lld", (long long)to->ranks);
    fputs(from != to ? " ranks (on " : " ranks (", out);
    if (from != to)
        fprintf(out, "%lld: ", (long long)to->ranks);
    for (size_t i = 0; i < to->count && i < (to->level > 2 ? to->level : 2); i++) {
        units_format(value, to->way[i].value, m->base, m->unit);
        fprintf(out, "%s%s%s%s", i ? ", " : "", to->level > 1 || i ? to->way[i].name : "",
                to->level > 1 || i ? " " : "", value);
    }
    fprintf(out, "%s)", to->level > 1 ? ": too close to tell" : "");
}

static void say_stretches(FILE *out, const struct bout *b, size_t n, const struct measure *m)
{
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && same_leaders(&b[i], &b[end]);)
            end++;
        fputs(i == 0 ? " " : end == n ? " and " : ", ", out);
        say_stretch(out, &b[i], &b[end - 1], m);
    }
}

static bool has_several(const struct bout *b, size_t n)
{
    bool several = false;
    for (size_t i = 0; i < n; i++)
        several = several || b[i].count > 1;
    return several;
}

/* The errors of the exchanges that were measured. */
static void learn_errors(struct measure *m, const struct rows *rows, const char *program)
{
    char path[SCHEMA_PATH];
    double error;
    snprintf(path, sizeof path, "%s.exchange.error", program);
    for (size_t i = 0; i < rows_count(rows); i++)
        if (row_get_real(rows_at(rows, i), path, &error)) {
            m->known = true;
            m->low = fmin(m->low, error);
            m->high = fmax(m->high, error);
        }
}

/* " (500 nodes)": what of planned rows varies beside ranks and ways. */
static void say_work(FILE *out, const struct rows *rows, const struct row *row)
{
    const struct field *axes[AXES_MAX];
    char text[AXES_TEXT];
    size_t n = 0, all = axes_beside(rows, schema_find("ranks.count"), axes);
    for (size_t i = 0; i < all; i++)
        if (strcmp(axes[i]->path, "ranks.parallel") != 0 && strcmp(axes[i]->path, "device") != 0)
            axes[n++] = axes[i];
    axes_describe_all(row, axes, n, text);
    if (*text)
        fprintf(out, " (%s)", text);
}

static bool say_time(FILE *out, const struct rows *rows, size_t first, const char *program)
{
    struct bout bouts[BOUTS_MAX];
    char path[SCHEMA_PATH];
    snprintf(path, sizeof path, "%s.exchange.predicted_run", program);
    struct measure m = {.path = path, .base = UNITS_SI, .unit = "s"};
    learn_errors(&m, rows, program);
    size_t n = collect_bouts(bouts, rows, first, &m);
    if (!has_several(bouts, n))
        return n > 0;
    fputs(strcmp(program, "step") == 0 ? "A training step" : "Inference", out);
    say_work(out, rows, rows_at(rows, first));
    fputs(" is predicted to be fastest", out);
    say_stretches(out, bouts, n, &m);
    if (m.known)
        fprintf(out, "; the error of predicted exchanges is %+.0f to %+.0f %% here.\n", 100 * m.low,
                100 * m.high);
    else
        fputs("; the error of such predictions is not known, since no row was measured.\n", out);
    return true;
}

/* Without times of runs. */
static void say_needs(FILE *out, const struct rows *rows, size_t first, const char *program)
{
    struct bout sent[BOUTS_MAX], held[BOUTS_MAX];
    char bytes[SCHEMA_PATH], run[SCHEMA_PATH];
    snprintf(bytes, sizeof bytes, "%s.exchange.bytes", program);
    snprintf(run, sizeof run, "%s.exchange.predicted_run", program);
    const struct measure of_sent = {.path = bytes, .base = UNITS_BINARY, .unit = "B"},
                         of_held = {.path = "ranks.memory", .base = UNITS_BINARY, .unit = "B"};
    size_t sents = collect_bouts(sent, rows, first, &of_sent),
           helds = collect_bouts(held, rows, first, &of_held);
    if (!has_several(sent, sents) || !has_several(held, helds))
        return;
    const char *why = row_reason(rows_at(rows, first), run);
    fputs("Which way is fastest", out);
    say_work(out, rows, rows_at(rows, first));
    fprintf(out, " is not predicted: %s. Least is sent", why ? why : "not known");
    say_stretches(out, sent, sents, &of_sent);
    fputs("; the largest rank needs least memory", out);
    say_stretches(out, held, helds, &of_held);
    fputs(".\n", out);
}

/* Whether it is the first planned row on several ranks of its work. */
static bool is_first(const struct rows *rows, size_t i)
{
    int64_t ranks = 1;
    for (size_t k = 0; k <= i; k++)
        if (is_planned(rows_at(rows, k)) && row_get_count(rows_at(rows, k), "ranks.count", &ranks) &&
            ranks > 1 && same_but_way(rows, rows_at(rows, k), rows_at(rows, i)))
            return k == i;
    return false;
}

void sentences_ways(FILE *out, const struct facts *facts)
{
    const struct rows *rows = facts->rows;
    for (size_t i = 0; i < rows_count(rows); i++) {
        if (!is_first(rows, i))
            continue;
        bool step = say_time(out, rows, i, "step"), forward = say_time(out, rows, i, "forward");
        if (!step && !forward)
            say_needs(out, rows, i,
                      row_is_null(rows_at(rows, i), "step.exchange.bytes") ? "forward" : "step");
    }
}
