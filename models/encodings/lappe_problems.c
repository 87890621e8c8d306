/* The components of a batch as eigenproblems: rows, masses, and the number of wanted pairs of each. */
#include "models/encodings/lappe_internal.h"

#include <math.h>
#include <string.h>

#include "graphs/components.h"
#include "kernels/arithmetic.h"

enum { WINDOW = 256, DEGREES = 32 };

struct pencil lappe_pencil(const struct lappe *l, int64_t c)
{
    const struct problems *s = &l->s;
    int64_t start = s->parts.start[c], n = component_size(&s->parts, c), edges = s->edge[c + 1] - s->edge[c];
    struct mat column = {.rows = n, .cols = 1, .ld = 1, .dtype = F32};
    struct pencil p = {.n = n, .mass = column, .q = column};
    p.mass.data = s->mass + start;
    p.q.data = s->q + start;
    p.adj.row = (struct mat){.data = s->row + start + c, .rows = n + 1, .cols = 1, .ld = 1, .dtype = I64};
    p.adj.col = (struct mat){.data = s->col + s->edge[c], .rows = edges, .cols = 1, .ld = 1, .dtype = I32};
    for (int64_t i = 0; i < n; i++) {
        const int64_t *row = p.adj.row.data;
        const int32_t *col = s->col + s->edge[c];
        double degree = (double)(row[i + 1] - row[i]), sum = 0;
        for (int64_t e = row[i]; e < row[i + 1]; e++) {
            double other = (double)(row[col[e] + 1] - row[col[e]]);
            sum += 1 / sqrt(degree * other);
            p.bound = fmax(p.bound, l->normalised ? 2 : degree + other);
        }
        p.norm = fmax(p.norm, l->normalised ? 1 + sum : 2 * degree);
    }
    return p;
}

/* Writes the rows of a component; `at` is the number of edges written so far. */
static int64_t fill_component(struct lappe *l, int64_t c, int64_t at)
{
    struct problems *s = &l->s;
    const struct csr *g = &l->b->adj;
    int64_t start = s->parts.start[c], begin = at;
    int64_t *row = s->row + start + c;
    s->edge[c] = at;
    for (int64_t i = 0; i < component_size(&s->parts, c); i++) {
        int32_t node = s->parts.node[start + i];
        row[i] = at - begin;
        for (int64_t e = g->row_ptr[node]; e < g->row_ptr[node + 1]; e++)
            if (g->col[e] != node)
                s->col[at++] = s->local[g->col[e]];
        int64_t degree = at - begin - row[i];
        s->mass[start + i] = l->normalised && degree ? (float)degree : 1;
        s->q[start + i] = 1 / s->mass[start + i];
    }
    row[component_size(&s->parts, c)] = at - begin;
    return at;
}

/* Isolated nodes are solved analytically. */
static bool isolated(const struct lappe *l, int64_t c)
{
    return component_size(&l->s.parts, c) == 1;
}

bool lappe_null_vector(const struct lappe *l, int64_t c)
{
    return !l->normalised || !isolated(l, c);
}

int64_t lappe_pairs(const struct lappe *l, int64_t n)
{
    return min_of(n, l->c->k + l->normalised);
}

int64_t lappe_components_end(const struct lappe *l, int64_t g, int64_t c)
{
    const struct components *parts = &l->s.parts;
    while (c < parts->count && parts->start[c] < l->b->offset[g + 1])
        c++;
    return c;
}

/* The largest number of pairs that each component of a graph may contribute. */
static void limit_pairs(struct lappe *l, int64_t g, int64_t first, int64_t end)
{
    int64_t null = 0, n = l->b->offset[g + 1] - l->b->offset[g], pairs = lappe_pairs(l, n);
    for (int64_t c = first; c < end; c++)
        null += lappe_null_vector(l, c);
    for (int64_t c = first; c < end; c++)
        l->s.wanted[c] = min_of(max_of(0, pairs - null), component_size(&l->s.parts, c) - 1);
}

static int64_t capped_degree(const struct csr *g, int32_t node)
{
    return min_of(DEGREES - 1, g->row_ptr[node + 1] - g->row_ptr[node]);
}

static void sort_window(const struct csr *g, int64_t count, int32_t *node)
{
    int32_t sorted[WINDOW];
    int64_t at[DEGREES + 1] = {0};
    for (int64_t i = 0; i < count; i++)
        at[capped_degree(g, node[i]) + 1]++;
    for (int k = 1; k < DEGREES; k++)
        at[k] += at[k - 1];
    for (int64_t i = 0; i < count; i++)
        sorted[at[capped_degree(g, node[i])]++] = node[i];
    memcpy(node, sorted, (size_t)count * sizeof *node);
}

/*
 * Sorts every WINDOW successive nodes of a component by degree: processors then predict where a row's
 * loop over its edges ends.
 */
static void sort_by_degree(const struct csr *g, const struct components *c)
{
    for (int64_t k = 0; k < c->count; k++)
        for (int64_t first = c->start[k]; first < c->start[k + 1]; first += WINDOW)
            sort_window(g, min_of(WINDOW, c->start[k + 1] - first), c->node + first);
}

static bool components_alloc(struct lappe *l)
{
    struct components *c = &l->s.parts;
    c->nodes = l->b->adj.nodes;
    c->start = eager_alloc(&l->e, (c->nodes + 1) * 8);
    c->node = eager_alloc(&l->e, c->nodes * 4);
    bool *seen = eager_alloc(&l->e, c->nodes), taken = c->start && c->node && seen;
    if (taken) {
        c->count = components_find(&l->b->adj, NULL, c->start, c->node, seen);
        sort_by_degree(&l->b->adj, c);
    }
    eager_free(&l->e, seen, c->nodes);
    return taken;
}

bool lappe_problems_alloc(struct lappe *l)
{
    struct problems *s = &l->s;
    int64_t n = l->b->adj.nodes;
    if (!components_alloc(l))
        return false;
    int64_t count = s->parts.count;
    s->edges = l->b->adj.edges;
    s->row = eager_alloc(&l->e, (n + count) * 8);
    s->edge = eager_alloc(&l->e, (count + 1) * 8);
    s->col = eager_alloc(&l->e, s->edges * 4 + 4);
    s->local = eager_alloc(&l->e, n * 4);
    s->mass = eager_alloc(&l->e, n * 4);
    s->q = eager_alloc(&l->e, n * 4);
    s->wanted = eager_alloc(&l->e, count * 8);
    s->vector = eager_alloc(&l->e, (count + 1) * 8);
    s->first = eager_alloc(&l->e, (count + 1) * 8);
    if (!s->row || !s->edge || !s->col || !s->local || !s->mass || !s->q || !s->wanted || !s->vector ||
        !s->first)
        return false;
    int64_t at = 0;
    for (int64_t c = 0; c < count; c++)
        for (int64_t i = s->parts.start[c]; i < s->parts.start[c + 1]; i++)
            s->local[s->parts.node[i]] = (int32_t)(i - s->parts.start[c]);
    for (int64_t c = 0; c < count; c++)
        at = fill_component(l, c, at);
    s->edge[count] = at;
    for (int64_t g = 0, first = 0, end; g < l->b->graphs; g++, first = end) {
        end = lappe_components_end(l, g, first);
        limit_pairs(l, g, first, end);
    }
    s->vector[0] = s->first[0] = 0;
    for (int64_t c = 0; c < count; c++) {
        s->vector[c + 1] = s->vector[c] + component_size(&s->parts, c) * s->wanted[c];
        s->first[c + 1] = s->first[c] + s->wanted[c];
    }
    s->x = eager_alloc(&l->e, s->vector[count] * 4 + 4);
    s->value = eager_alloc(&l->e, s->first[count] * 8 + 8);
    return s->x && s->value;
}

void lappe_problems_free(struct lappe *l)
{
    struct problems *s = &l->s;
    int64_t n = s->parts.nodes, count = s->parts.count;
    if (s->value)
        eager_free(&l->e, s->value, s->first[count] * 8 + 8);
    if (s->x)
        eager_free(&l->e, s->x, s->vector[count] * 4 + 4);
    eager_free(&l->e, s->first, (count + 1) * 8);
    eager_free(&l->e, s->vector, (count + 1) * 8);
    eager_free(&l->e, s->wanted, count * 8);
    eager_free(&l->e, s->q, n * 4);
    eager_free(&l->e, s->mass, n * 4);
    eager_free(&l->e, s->local, n * 4);
    eager_free(&l->e, s->col, s->edges * 4 + 4);
    eager_free(&l->e, s->edge, (count + 1) * 8);
    eager_free(&l->e, s->row, (n + count) * 8);
    eager_free(&l->e, s->parts.node, n * 4);
    eager_free(&l->e, s->parts.start, (n + 1) * 8);
}
