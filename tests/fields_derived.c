/* What follows from a row's graph, which is drawn again, and from its samples: by brute force. */
#include "tests/fields_names.h"

#include "graphs/graph.h"
#include "tests/test.h"

#include <math.h>

/* --- the graph */

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* The smallest degree that a share of the nodes does not exceed. */
static double rank_of(const int64_t *sorted, int64_t n, double share)
{
    int64_t i = 0;
    while ((double)(i + 1) < share * (double)n)
        i++;
    return (double)sorted[i];
}

static double degree_facts(const struct csr *g, const char *name)
{
    int64_t *degree = calloc((size_t)g->nodes, sizeof *degree), isolated = 0, loops = 0, repeated = 0,
            widest = 0;
    double squares = 0, mean = (double)g->edges / (double)g->nodes, fact = NAN;
    assert_non_null(degree);
    for (int64_t i = 0; i < g->nodes; i++) {
        for (int64_t k = g->row_ptr[i]; k < g->row_ptr[i + 1]; k++) {
            repeated += k > g->row_ptr[i] && g->col[k] == g->col[k - 1]; /* a row is in order */
            loops += g->col[k] == i;
            widest = llabs(g->col[k] - i) > widest ? llabs(g->col[k] - i) : widest;
            degree[i]++;
        }
        isolated += degree[i] == 0;
        squares += pow((double)degree[i] - mean, 2);
    }
    qsort(degree, (size_t)g->nodes, sizeof *degree, by_value);
    const struct {
        const char *name;
        double value;
    } facts[] = {{"edges", (double)g->edges},
                 {"nodes", (double)g->nodes},
                 {"min", (double)degree[0]},
                 {"max", (double)degree[g->nodes - 1]},
                 {"median", rank_of(degree, g->nodes, 0.5)},
                 {"p99", rank_of(degree, g->nodes, 0.99)},
                 {"std", sqrt(squares / (double)g->nodes)},
                 {"isolated", (double)isolated},
                 {"loops", (double)loops},
                 {"repeated", (double)repeated},
                 {"widest", (double)widest}};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        fact = strcmp(facts[i].name, name) == 0 ? facts[i].value : fact;
    free(degree);
    return fact;
}

/* Nodes of graph i; all: of the largest. */
static int64_t size_of(const struct batch *b, int64_t i)
{
    return b->offset[i + 1] - b->offset[i];
}

static int64_t largest_of(const struct batch *b, int64_t above, int64_t most)
{
    int64_t largest = 0;
    for (int64_t i = 0; i < b->graphs; i++)
        if (size_of(b, i) > above && size_of(b, i) <= most && size_of(b, i) > largest)
            largest = size_of(b, i);
    return largest;
}

/* Rows, or pairs, of the graphs as they are, in buckets up to powers of two, or in sequences first-fit. */
static double batched(const struct batch *b, const char *way, bool pairs)
{
    int64_t all = largest_of(b, 0, INT64_MAX), room[64] = {0}, sequences = 0, sum = 0;
    assert_true(b->graphs <= 64);
    for (int64_t i = 0; i < b->graphs; i++) {
        int64_t rows = size_of(b, i), top = 1, s = 0;
        while (top < rows)
            top *= 2;
        if (strcmp(way, "bucketed") == 0)
            rows = largest_of(b, top / 2, top);
        if (strcmp(way, "padded") == 0)
            rows = all;
        while (s < sequences && room[s] < rows)
            s++;
        if (s == sequences)
            room[sequences++] = all;
        room[s] -= rows;
        sum += pairs ? rows * rows : rows;
    }
    if (strcmp(way, "packed") == 0)
        return (double)(pairs ? sequences * all * all : sequences * all);
    return (double)sum;
}

/* A graph is drawn as it was asked for; its mean size, in a row, may differ. */
static double graph_fact(const struct row *row, int64_t nodes, const char *name)
{
    struct graph_config c = {.family = row->graph.family,
                             .nodes = nodes,
                             .degree = row->degree,
                             .graphs = row->batch,
                             .seed = (uint64_t)row->seed};
    struct batch b;
    char error[256];
    if (!batch_generate(&b, &c, error, sizeof error))
        fail_msg("%s", error);
    const char *dot = strchr(name, '_');
    char way[16] = "";
    if (dot)
        snprintf(way, sizeof way, "%.*s", (int)(dot - name), name);
    double fact = dot ? batched(&b, way, strcmp(dot, "_pairs") == 0) : degree_facts(&b.adj, name);
    batch_free(&b);
    return fact;
}

/* --- samples */

/* The statistics' blocks are those of the whole program. */
static const struct row_times *whole_of(const struct row *row, const char *group)
{
    return strncmp(group, "step.", 5) == 0 ? &row->step.time : row_times(row, group);
}

struct samples_of {
    double *reported; /* those of the turns whose medians are listed */
    size_t count, turns;
};

static double middle(struct memory *m, const double *values, size_t n)
{
    struct operand_value v = value_of_numbers(m, values, n);
    for (size_t i = 1; i < n; i++)
        for (size_t k = i; k > 0 && v.number[k] < v.number[k - 1]; k--) {
            double swapped = v.number[k];
            v.number[k] = v.number[k - 1];
            v.number[k - 1] = swapped;
        }
    return n % 2 ? v.number[n / 2] : (v.number[n / 2 - 1] + v.number[n / 2]) / 2;
}

/* A turn is reported if its median is the next of repetition_medians. */
static struct samples_of reported_of(const struct row *row, struct memory *m, const char *group)
{
    const struct row_times *t = row_times(row, group), *whole = whole_of(row, group);
    struct samples_of s = {.reported = value_of_numbers(m, NULL, 0).number};
    struct operand_value all = value_of_numbers(m, NULL, 0);
    size_t first = 0;
    if (!t->samples.list || !whole->blocks.list)
        return s;
    double values[4096];
    assert_true(t->samples.count <= sizeof values / sizeof *values);
    for (size_t i = 0; i < t->samples.count; i++)
        values[i] = t->samples.reals[i];
    all = value_of_numbers(m, values, t->samples.count);
    s.reported = value_of_numbers(m, values, t->samples.count).number;
    for (size_t i = 0; i < whole->blocks.count; i++) {
        size_t n = (size_t)whole->blocks.reals[i];
        assert_true(first + n <= all.count);
        if (s.turns < t->repetition_medians.count &&
            fabs(middle(m, all.number + first, n) / t->repetition_medians.reals[s.turns] - 1) < 1e-12) {
            memcpy(s.reported + s.count, all.number + first, n * sizeof *s.reported);
            s.count += n;
            s.turns++;
        }
        first += n;
    }
    return s;
}

/* Samples further from the median than 3.5 robust standard deviations. */
static double outliers_of(const double *x, size_t n, struct memory *m)
{
    double median = middle(m, x, n), far = 0;
    struct operand_value off = value_of_numbers(m, x, n);
    for (size_t i = 0; i < n; i++)
        off.number[i] = fabs(x[i] - median);
    double sigma = fmax(1.4826 * middle(m, off.number, n), 0.01 * median);
    for (size_t i = 0; i < n; i++)
        far += off.number[i] > 3.5 * sigma;
    return far;
}

/* Samples at the start that are slow, unless more than one in twenty of the later ones is slow too. */
static double slow_of(const double *x, size_t n, struct memory *m)
{
    struct operand_value sorted = value_of_numbers(m, x, n);
    qsort(sorted.number, n, sizeof *sorted.number, by_size);
    double place = 0.75 * (double)(n - 1), share = place - floor(place), median = middle(m, x, n);
    double quarter = sorted.number[(size_t)place] * (1 - share) + sorted.number[(size_t)ceil(place)] * share;
    double limit = fmax(1.05 * median, median + 3.5 * 1.4826 * (quarter - median));
    size_t first = 0, later = 0;
    while (first < n && x[first] > limit)
        first++;
    for (size_t i = first; i < n; i++)
        later += x[i] > limit;
    return 20 * later > n - first ? 0 : (double)first;
}

/* Theil and Sen: the median slope of all pairs, from the first sample to the last, over the median; and the
 * probability of Mann and Kendall for independent samples without ties, which is the least that it can be. */
static double trend_of(const double *x, size_t n, struct memory *m, bool probability)
{
    struct operand_value slopes = value_of_numbers(m, NULL, 0);
    double *pairs = malloc(n * n * sizeof *pairs), s = 0, count = (double)n;
    size_t used = 0;
    assert_non_null(pairs);
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++) {
            pairs[used++] = (x[k] - x[i]) / (double)(k - i);
            s += (x[k] > x[i]) - (x[k] < x[i]);
        }
    slopes = value_of_numbers(m, pairs, used);
    free(pairs);
    qsort(slopes.number, used, sizeof *slopes.number, by_size);
    double slope = (slopes.number[(used - 1) / 2] + slopes.number[used / 2]) / 2;
    double width = sqrt(count * (count - 1) * (2 * count + 5) / 18);
    return probability ? erfc(fmax(0, fabs(s) - 1) / width / sqrt(2)) : slope * (count - 1) / middle(m, x, n);
}

struct operand_value field_derived(const struct row *row, struct memory *m, const char *group,
                                   const char *name)
{
    static const struct operand_value none;
    struct samples_of s = reported_of(row, m, group);
    double value;
    if (strcmp(name, "reported") == 0)
        return s.count > 0 ? value_of_numbers(m, s.reported, s.count) : none;
    if (s.count < 10)
        return none;
    if (strcmp(name, "matched") == 0)
        value = (double)s.turns;
    else if (strcmp(name, "far") == 0)
        value = outliers_of(s.reported, s.count, m);
    else if (strcmp(name, "slow") == 0)
        value = slow_of(s.reported, s.count, m);
    else if (strcmp(name, "change") == 0)
        value = trend_of(s.reported, s.count, m, false);
    else if (strcmp(name, "chance") == 0)
        value = trend_of(s.reported, s.count, m, true);
    else
        return none;
    return value_of_numbers(m, &value, 1);
}

struct operand_value graph_derived(const struct row *row, struct memory *m, int64_t nodes, const char *name)
{
    double value = graph_fact(row, nodes, name);
    return value_of_numbers(m, &value, 1);
}
