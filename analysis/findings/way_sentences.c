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

/* Differences below this are none. */
static const double same = 1.01;

/* What ways are compared by, and how wrong it may be. */
struct measure {
    const char *program, *path;
    enum unit_base base;
    const char *unit;
    bool known; /* the errors are */
    double low, high;
};

/* A planned row on several ranks. */
struct way {
    const struct row *row;
    size_t work; /* the same for the same work, on any ranks in any way */
    int64_t ranks;
    const char *name;
    double value;
};

/* The ways on so many ranks, the best first; `level` of them may be the best. */
struct bout {
    const struct way *way;
    size_t count, level;
};

/* Those of one work, by ranks. */
struct bouts {
    struct way *ways;
    struct bout *list;
    size_t count;
    bool several; /* ways on some number of ranks */
};

static void *room_for(size_t n, size_t size)
{
    void *room = calloc(n + 1, size);
    if (!room)
        abort();
    return room;
}

static int by_work_of_ways(const void *a, const void *b)
{
    size_t x = ((const struct way *)a)->work, y = ((const struct way *)b)->work;
    return (x > y) - (x < y);
}

static int by_ranks_and_value(const void *a, const void *b)
{
    const struct way *x = a, *y = b;
    int order = (x->ranks > y->ranks) - (x->ranks < y->ranks);
    order = order ? order : (x->value > y->value) - (x->value < y->value);
    return order ? order : strcmp(x->name, y->name);
}

/* The axes that vary beside ranks and ways; returns how many. */
static size_t axes_of_work(const struct rows *rows, const struct field *axes[AXES_MAX])
{
    size_t n = 0, all = axes_beside(rows, schema_find("ranks.count"), axes);
    for (size_t i = 0; i < all; i++)
        if (strcmp(axes[i]->path, "ranks.parallel") != 0)
            axes[n++] = axes[i];
    return n;
}

/* The planned rows on several ranks, by work; to be freed. */
static struct way *planned_ways(const struct rows *rows, size_t *n)
{
    const struct field *axes[AXES_MAX];
    size_t *work = room_for(rows_count(rows), sizeof *work);
    struct way *ways = room_for(rows_count(rows), sizeof *ways);
    axes_group(rows, axes, axes_of_work(rows, axes), work);
    *n = 0;
    for (size_t i = 0; i < rows_count(rows); i++) {
        const char *device;
        struct way *w = &ways[*n];
        *w = (struct way){.row = rows_at(rows, i), .work = work[i]};
        *n += row_is_ok(w->row) && row_get_text(w->row, "device", &device) && strcmp(device, "meta") == 0 &&
              row_get_count(w->row, "ranks.count", &w->ranks) && w->ranks > 1 &&
              row_get_text(w->row, "ranks.parallel", &w->name);
    }
    free(work);
    qsort(ways, *n, sizeof *ways, by_work_of_ways);
    return ways;
}

static void judge_bout(struct bout *b, const struct measure *m)
{
    double worst = b->way->value * fmax(same, (1 + m->high) / (1 + m->low));
    b->level = 1;
    while (b->level < b->count && (m->low <= -1 || b->way[b->level].value < worst))
        b->level++;
}

/* Of ways[n] of one work, those that have the measure; to be freed. */
static struct bouts bouts_of(const struct way *ways, size_t n, const struct measure *m)
{
    struct bouts b = {room_for(n, sizeof *b.ways), room_for(n, sizeof *b.list), 0, false};
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        b.ways[count] = ways[i];
        count += row_get_real(ways[i].row, m->path, &b.ways[count].value);
    }
    qsort(b.ways, count, sizeof *b.ways, by_ranks_and_value);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && b.ways[end].ranks == b.ways[i].ranks;)
            end++;
        b.list[b.count] = (struct bout){&b.ways[i], end - i, 0};
        judge_bout(&b.list[b.count++], m);
        b.several = b.several || end - i > 1;
    }
    return b;
}

static void bouts_free(struct bouts *b)
{
    free(b->ways);
    free(b->list);
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
    fprintf(out, "%s on %lld", to->count == 1 ? ", the only one," : "", (long long)from->way->ranks);
    if (from != to)
        fprintf(out, " to %lld", (long long)to->way->ranks);
    fputs(from != to ? " ranks (on " : " ranks (", out);
    if (from != to)
        fprintf(out, "%lld: ", (long long)to->way->ranks);
    for (size_t i = 0; i < to->count && i < (to->level > 2 ? to->level : 2); i++) {
        units_format(value, to->way[i].value, m->base, m->unit);
        fprintf(out, "%s%s%s%s", i ? ", " : "", to->level > 1 || i ? to->way[i].name : "",
                to->level > 1 || i ? " " : "", value);
    }
    fprintf(out, "%s)", to->level > 1 ? ": too close to tell" : "");
}

static void say_stretches(FILE *out, const struct bouts *b, const struct measure *m)
{
    for (size_t i = 0, end; i < b->count; i = end) {
        for (end = i + 1; end < b->count && same_leaders(&b->list[i], &b->list[end]);)
            end++;
        fputs(i == 0 ? " " : end == b->count ? " and " : ", ", out);
        say_stretch(out, &b->list[i], &b->list[end - 1], m);
    }
}

/* The errors of the exchanges that were measured. */
static struct measure measure_of_time(const struct rows *rows, const char *program, char path[SCHEMA_PATH])
{
    struct measure m = {.program = program, .path = path, .base = UNITS_SI, .unit = "s"};
    double error;
    snprintf(path, SCHEMA_PATH, "%s.exchange.error", program);
    for (size_t i = 0; i < rows_count(rows); i++)
        if (row_get_real(rows_at(rows, i), path, &error)) {
            m.known = true;
            m.low = fmin(m.low, error);
            m.high = fmax(m.high, error);
        }
    snprintf(path, SCHEMA_PATH, "%s.exchange.predicted_run", program);
    return m;
}

/* work: " (500 nodes)". Returns whether times are predicted, also if there is one way alone. */
static bool say_time(FILE *out, const struct way *ways, size_t n, const struct measure *m, const char *work)
{
    struct bouts b = bouts_of(ways, n, m);
    bool predicted = b.count > 0;
    if (b.several) {
        fprintf(out, "%s%s is predicted to be fastest",
                strcmp(m->program, "step") == 0 ? "A training step" : "Inference", work);
        say_stretches(out, &b, m);
        if (m->known)
            fprintf(out, "; the error of predicted exchanges is %+.0f to %+.0f %% here.\n", 100 * m->low,
                    100 * m->high);
        else
            fputs("; the error of such predictions is not known, since no row was measured.\n", out);
    }
    bouts_free(&b);
    return predicted;
}

/* Without times of runs. */
static void say_needs(FILE *out, const struct way *ways, size_t n, const char *work)
{
    const char *program = row_is_null(ways->row, "step.exchange.bytes") ? "forward" : "step", *why;
    char bytes[SCHEMA_PATH], run[SCHEMA_PATH];
    snprintf(bytes, sizeof bytes, "%s.exchange.bytes", program);
    snprintf(run, sizeof run, "%s.exchange.predicted_run", program);
    const struct measure sent = {.path = bytes, .base = UNITS_BINARY, .unit = "B"},
                         held = {.path = "ranks.memory", .base = UNITS_BINARY, .unit = "B"};
    struct bouts of_sent = bouts_of(ways, n, &sent), of_held = bouts_of(ways, n, &held);
    if (of_sent.several && of_held.several) {
        why = row_reason(ways->row, run);
        fprintf(out, "Which way is fastest%s is not predicted: %s. Least is sent", work,
                why ? why : "not known");
        say_stretches(out, &of_sent, &sent);
        fputs("; the largest rank needs least memory", out);
        say_stretches(out, &of_held, &held);
        fputs(".\n", out);
    }
    bouts_free(&of_sent);
    bouts_free(&of_held);
}

void ways_write(FILE *out, const struct rows *rows)
{
    const struct field *axes[AXES_MAX];
    char path[2][SCHEMA_PATH], work[AXES_TEXT], text[AXES_TEXT + 8];
    const struct measure step = measure_of_time(rows, "step", path[0]),
                         forward = measure_of_time(rows, "forward", path[1]);
    size_t n, varying = axes_of_work(rows, axes), told = 0;
    struct way *ways = planned_ways(rows, &n);
    for (size_t i = 0; i < varying; i++)
        if (strcmp(axes[i]->path, "device") != 0)
            axes[told++] = axes[i];
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && ways[end].work == ways[i].work;)
            end++;
        axes_describe_all(ways[i].row, axes, told, work);
        snprintf(text, sizeof text, *work ? " (%s)" : "", work);
        bool predicted = say_time(out, ways + i, end - i, &step, text);
        predicted = say_time(out, ways + i, end - i, &forward, text) || predicted;
        if (!predicted)
            say_needs(out, ways + i, end - i, text);
    }
    free(ways);
}
