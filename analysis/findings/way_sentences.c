/*
 * Which way to go parallel (--parallel) is predicted to be best: of planned rows of the same work on as many
 * ranks, the one whose run takes least.
 *
 * A prediction p with the error e = p / time - 1 means a time of p / (1 + e). If the measured rows of the
 * record have errors from `low` to `high` (0 is within), a is faster than b for certain only if
 * a / (1 + low) < b / (1 + high).
 */
#include "analysis/findings/sentences.h"

#include "analysis/record/slices.h"
#include "analysis/tables/units.h"

/* Differences below this are none. */
static const double same = 1.01;

struct errors {
    bool known;
    double low, high;
};

struct way {
    size_t work; /* its slice: the same for the same work, on any ranks in any way */
    int64_t ranks;
    const char *name;
    double seconds;
};

static int by_work_and_time(const void *a, const void *b)
{
    const struct way *x = a, *y = b;
    int order = (x->work > y->work) - (x->work < y->work);
    order = order ? order : (x->ranks > y->ranks) - (x->ranks < y->ranks);
    order = order ? order : (x->seconds > y->seconds) - (x->seconds < y->seconds);
    return order ? order : strcmp(x->name, y->name);
}

/* The planned rows on several ranks whose time is predicted, by work and ranks, the fastest first; to be
 * freed. */
static struct way *ways_of(const struct rows *rows, const struct slices *works, size_t kind, size_t *count)
{
    struct way *ways = allocate(rows_count(rows) + 1, sizeof *ways);
    *count = 0;
    for (size_t i = 0; i < rows_count(rows); i++) {
        const struct row *row = rows_at(rows, i);
        double seconds = row_program(row, kind)->communication.predicted_run;
        ways[*count] = (struct way){works->of[i], row->ranks.count, row->ranks.parallel, seconds};
        *count += row_is_ok(row) && row_is_planned(row) && row->ranks.count > 1 && row->ranks.parallel &&
                  !isnan(seconds);
    }
    qsort(ways, *count, sizeof *ways, by_work_and_time);
    return ways;
}

static struct errors errors_of(const struct rows *rows, size_t kind)
{
    struct errors e = {0};
    for (size_t i = 0; i < rows_count(rows); i++) {
        double error = row_program(rows_at(rows, i), kind)->communication.error;
        e.known = e.known || !isnan(error);
        e.low = fmin(e.low, error); /* fmin and fmax ignore NAN */
        e.high = fmax(e.high, error);
    }
    return e;
}

/* Which of ways[n] on as many ranks may be the fastest: "data or ulysses". */
static void leaders_of(const struct way *ways, size_t n, const struct errors *e, char text[AXES_TEXT])
{
    double worst = ways->seconds * fmax(same, (1 + e->high) / (1 + e->low));
    text[0] = '\0';
    for (size_t i = 0; i < n && (i == 0 || e->low <= -1 || ways[i].seconds < worst); i++)
        append(text, AXES_TEXT, "%s%.20s", i ? " or " : "", ways[i].name);
}

/* "with data on 2 to 4 ranks, with ulysses on 8 ranks (2.00 ms)", of the ways of one work; false, with
 * nothing written, if there are never several. */
static bool say_leaders(FILE *out, const struct way *ways, size_t n, const struct errors *e)
{
    char leaders[AXES_TEXT] = "", before[AXES_TEXT] = "", time[UNITS_TEXT] = "";
    int64_t from = 0, to = 0;
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && ways[end].ranks == ways[i].ranks;)
            end++;
        if (end - i < 2)
            continue;
        leaders_of(&ways[i], end - i, e, leaders);
        bool begins = strcmp(leaders, before) != 0;
        if (begins && to > from)
            fprintf(out, " to %lld", (long long)to);
        if (begins)
            fprintf(out, "%s with %s on %lld", *before ? "," : "", leaders, (long long)ways[i].ranks);
        from = begins ? ways[i].ranks : from;
        to = ways[i].ranks;
        memcpy(before, leaders, sizeof before);
        units_format(time, ways[i].seconds, UNITS_SI, "s");
    }
    if (to > from)
        fprintf(out, " to %lld", (long long)to);
    if (to > 0)
        fprintf(out, " ranks (%s)", time);
    return to > 0;
}

static void say_ways(FILE *out, const struct rows *rows, size_t kind)
{
    static const char *const any[] = {"ranks.parallel", "device", NULL};
    struct slices works = slices_of(rows, schema_find("ranks.count"), any);
    size_t n;
    struct errors e = errors_of(rows, kind);
    struct way *ways = ways_of(rows, &works, kind, &n);
    for (size_t i = 0, end; i < n; i = end) {
        char work[AXES_TEXT], *text;
        size_t size;
        FILE *memory = open_text(&text, &size);
        for (end = i + 1; end < n && ways[end].work == ways[i].work;)
            end++;
        bool several = say_leaders(memory, ways + i, end - i, &e);
        fclose(memory);
        slice_name(&works, &works.list[ways[i].work], work);
        if (several)
            fprintf(out, "%s%s%s%s is predicted to be fastest%s; the error of predicted exchanges is ",
                    kind == TIMED_STEP ? "A training step" : "Inference", *work ? " (" : "", work,
                    *work ? ")" : "", text);
        if (several && e.known)
            fprintf(out, "%+.0f to %+.0f %% here.\n", 100 * e.low, 100 * e.high);
        else if (several)
            fputs("not known, since no row was measured.\n", out);
        free(text);
    }
    free(ways);
    slices_free(&works);
}

void ways_write(FILE *out, const struct rows *rows)
{
    say_ways(out, rows, TIMED_STEP);
    say_ways(out, rows, TIMED_FORWARD);
}
