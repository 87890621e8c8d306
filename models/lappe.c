/*
 * Laplacian positional encodings: the K smallest eigenpairs of L = D - A, or of I - D^-1/2 A D^-1/2 without
 * the first, for each graph of a batch.
 *
 * Duplicate edges count as often as they are there, in A and in D. A loop contributes nothing: in D - A what
 * it adds to the degree it takes from the diagonal, and the normalised flavour leaves loops out, as PyG does.
 *
 * The Laplacian of a graph is that of its components, and so are its eigenpairs, so each component is a
 * problem of its own. Its null vector is known: the indicator of the component, times D^1/2 in the normalised
 * flavour; so is the pair (1, e_i) of an isolated node i there. Of a larger component the smallest pairs but
 * that one come from a solver, and the smallest of all components are taken. That keeps apart what is the
 * same in many components, whose multiplicity no block iteration would resolve, and leaves a null space of
 * which nothing is iterated: the indicators come first, in the order of the components' smallest nodes.
 */
#include "models/lappe.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphs/components.h"
#include "models/eigen.h"

enum {
    LAPACK_UP_TO = 192, /* nodes of a component that is solved densely unless something else is asked for */
    JACOBI_UP_TO = 40,  /* the same without LAPACK */
    PRODUCTS = 100000   /* of the Laplacian with a block, after which a solver gives up */
};

/* Component c: node[start[c]] .. node[start[c + 1] - 1], breadth first from its smallest node. */
struct components {
    int64_t count, nodes;
    int64_t *start; /* count + 1, in room for nodes + 1 */
    int32_t *node;
};

static int64_t component_size(const struct components *c, int64_t i)
{
    return c->start[i + 1] - c->start[i];
}

/* The components of a batch as problems, all in common arrays; of component c those at start[c]. */
struct problems {
    struct components parts;
    int64_t edges;
    int64_t *row;    /* from start[c] + c on: size + 1 numbers, from 0 */
    int64_t *edge;   /* count + 1: where its columns begin */
    int32_t *col;    /* numbers of nodes in their component */
    int32_t *local;  /* of each node */
    float *mass, *q; /* in the order of parts.node */
    int64_t *wanted; /* pairs to solve for in each component */
    int64_t *vector; /* count + 1: where its vectors begin, in floats */
    int64_t *first;  /* count + 1: where its eigenvalues begin */
    float *x;        /* vectors of each component, size x wanted */
    double *value;
};

struct lappe {
    const struct encoding_config *c;
    const struct batch *b;
    struct eager e;
    bool normalised;
    int64_t most; /* products */
    struct problems s;
    int used; /* solvers, as bits */
    int64_t iterations;
    struct encoding *out;
};

enum { USED_DENSE = 1, USED_ITERATIVE = 2, USED_ARPACK = 4 };

#if HAVE_LAPACK
#define DENSE "lapack"
#else
#define DENSE "jacobi"
#endif

static const char *method_name(int used)
{
    static const char *const names[] = {"indicators",           DENSE,    "iterative",
                                        DENSE " and iterative", "arpack", DENSE " and arpack"};
    return names[used];
}

static struct pencil pencil_of(const struct lappe *l, int64_t c)
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

/* The rows of a component; `at` counts edges from the first component on. */
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

/* Nodes of a component that is known without solving: isolated ones. */
static bool isolated(const struct lappe *l, int64_t c)
{
    return component_size(&l->s.parts, c) == 1;
}

/* Whether the indicator of a component is in the null space. */
static bool null_vector(const struct lappe *l, int64_t c)
{
    return !l->normalised || !isolated(l, c);
}

/* Pairs that a graph of n nodes has in front of those that are left out, and these. */
static int64_t pairs_with_dropped(const struct lappe *l, int64_t n)
{
    int64_t k = l->c->k + l->normalised;
    return k < n ? k : n;
}

/* The component after the last of graph g, where `c` is its first. */
static int64_t components_end(const struct lappe *l, int64_t g, int64_t c)
{
    const struct components *parts = &l->s.parts;
    while (c < parts->count && parts->start[c] < l->b->offset[g + 1])
        c++;
    return c;
}

/* How many pairs each component of a graph has to give, at most. */
static void want(struct lappe *l, int64_t g, int64_t first, int64_t end)
{
    int64_t null = 0, n = l->b->offset[g + 1] - l->b->offset[g], pairs = pairs_with_dropped(l, n);
    for (int64_t c = first; c < end; c++)
        null += null_vector(l, c);
    int64_t left = pairs > null ? pairs - null : 0;
    for (int64_t c = first; c < end; c++) {
        int64_t others = component_size(&l->s.parts, c) - 1;
        l->s.wanted[c] = left < others ? left : others;
    }
}

static bool take_components(struct lappe *l)
{
    struct components *c = &l->s.parts;
    c->nodes = l->b->adj.nodes;
    c->start = eager_take(&l->e, (c->nodes + 1) * 8);
    c->node = eager_take(&l->e, c->nodes * 4);
    bool *seen = eager_take(&l->e, c->nodes), taken = c->start && c->node && seen;
    if (taken)
        c->count = components_find(&l->b->adj, c->start, c->node, seen);
    eager_give(&l->e, seen, c->nodes);
    return taken;
}

static bool take_problems(struct lappe *l)
{
    struct problems *s = &l->s;
    int64_t n = l->b->adj.nodes;
    if (!take_components(l))
        return false;
    int64_t count = s->parts.count;
    s->edges = l->b->adj.edges;
    s->row = eager_take(&l->e, (n + count) * 8);
    s->edge = eager_take(&l->e, (count + 1) * 8);
    s->col = eager_take(&l->e, s->edges * 4 + 4);
    s->local = eager_take(&l->e, n * 4);
    s->mass = eager_take(&l->e, n * 4);
    s->q = eager_take(&l->e, n * 4);
    s->wanted = eager_take(&l->e, count * 8);
    s->vector = eager_take(&l->e, (count + 1) * 8);
    s->first = eager_take(&l->e, (count + 1) * 8);
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
        end = components_end(l, g, first);
        want(l, g, first, end);
    }
    s->vector[0] = s->first[0] = 0;
    for (int64_t c = 0; c < count; c++) {
        s->vector[c + 1] = s->vector[c] + component_size(&s->parts, c) * s->wanted[c];
        s->first[c + 1] = s->first[c] + s->wanted[c];
    }
    s->x = eager_take(&l->e, s->vector[count] * 4 + 4);
    s->value = eager_take(&l->e, s->first[count] * 8 + 8);
    return s->x && s->value;
}

static void give_problems(struct lappe *l)
{
    struct problems *s = &l->s;
    int64_t n = s->parts.nodes, count = s->parts.count;
    if (s->value)
        eager_give(&l->e, s->value, s->first[count] * 8 + 8);
    if (s->x)
        eager_give(&l->e, s->x, s->vector[count] * 4 + 4);
    eager_give(&l->e, s->first, (count + 1) * 8);
    eager_give(&l->e, s->vector, (count + 1) * 8);
    eager_give(&l->e, s->wanted, count * 8);
    eager_give(&l->e, s->q, n * 4);
    eager_give(&l->e, s->mass, n * 4);
    eager_give(&l->e, s->local, n * 4);
    eager_give(&l->e, s->col, s->edges * 4 + 4);
    eager_give(&l->e, s->edge, (count + 1) * 8);
    eager_give(&l->e, s->row, (n + count) * 8);
    eager_give(&l->e, s->parts.node, n * 4);
    eager_give(&l->e, s->parts.start, (n + 1) * 8);
}

/* Solving. */

/* Whether a component is so small, or so many of its pairs are wanted, that it is solved densely. */
static bool is_dense(const struct lappe *l, int64_t c)
{
    int64_t n = component_size(&l->s.parts, c), wanted = l->s.wanted[c];
    if (l->c->solver == SOLVER_LAPACK || n <= JACOBI_UP_TO || n <= 2 * (wanted + 16))
        return true;
    return l->c->solver == SOLVER_AUTO && dense_available() && n <= LAPACK_UP_TO;
}

static struct mat vectors_of(const struct lappe *l, int64_t c)
{
    return (struct mat){.data = l->s.x + l->s.vector[c],
                        .rows = component_size(&l->s.parts, c),
                        .cols = l->s.wanted[c],
                        .ld = l->s.wanted[c],
                        .dtype = F32};
}

/* Doubles that the dense solver works with: the matrix, the vectors, and its own. */
static int64_t dense_room(int64_t n, int64_t wanted)
{
    return n * n + n * wanted + dense_work(n, wanted);
}

/* All small components, each by one thread. */
static bool solve_dense(struct lappe *l)
{
    const struct problems *s = &l->s;
    int64_t most = 0, threads = l->e.threads;
    for (int64_t c = 0; c < s->parts.count; c++)
        if (s->wanted[c] && is_dense(l, c)) {
            int64_t n = component_size(&s->parts, c), room = dense_room(n, s->wanted[c]);
            most = room > most ? room : most;
            eager_charge(&l->e, dense_flops(n, s->wanted[c]), 8 * n * (n + s->wanted[c]));
        }
    if (!most)
        return true;
    l->used |= USED_DENSE;
    double *work = eager_take(&l->e, threads * most * 8);
    bool done = work != NULL;
#pragma omp parallel for schedule(dynamic) num_threads((int)threads) reduction(&& : done) if (work)
    for (int64_t c = 0; c < s->parts.count; c++) {
        if (!work || !s->wanted[c] || !is_dense(l, c))
            continue;
        struct pencil p = pencil_of(l, c);
        done = eigen_dense(&p, s->wanted[c], s->value + s->first[c], vectors_of(l, c),
                           work + omp_get_thread_num() * most) &&
               done;
    }
    eager_give(&l->e, work, threads * most * 8);
    return done;
}

/* The larger components one after the other, each by all threads. */
static bool solve_iterated(struct lappe *l)
{
    const struct problems *s = &l->s;
    bool done = true, arpack = l->c->solver == SOLVER_ARPACK;
    for (int64_t c = 0; done && c < s->parts.count; c++) {
        if (!s->wanted[c] || is_dense(l, c))
            continue;
        struct pencil p = pencil_of(l, c);
        struct eigenpairs pairs = {
            .count = s->wanted[c], .x = vectors_of(l, c), .value = s->value + s->first[c]};
        done = (arpack ? eigen_arpack : eigen_chebyshev)(&l->e, &p, l->most, &pairs);
        l->iterations += pairs.iterations;
        l->used |= arpack ? USED_ARPACK : USED_ITERATIVE;
    }
    return done;
}

/* Putting together. */

/* A pair of a graph: eigenvalue, component, and which one of the component; -1: its indicator. */
struct pair {
    double value;
    int64_t component, index;
};

static int by_value(const void *a, const void *b)
{
    const struct pair *p = a, *q = b;
    if (p->value != q->value)
        return p->value < q->value ? -1 : 1;
    if (p->component != q->component)
        return p->component < q->component ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

/* All pairs that the components of a graph have to offer: known ones and solved ones. */
static int64_t collect(const struct lappe *l, int64_t first, int64_t end, struct pair *to)
{
    int64_t count = 0;
    for (int64_t c = first; c < end; c++) {
        to[count++] = (struct pair){null_vector(l, c) ? 0 : 1, c, -1};
        for (int64_t k = 0; k < l->s.wanted[c]; k++)
            to[count++] = (struct pair){fmax(l->s.value[l->s.first[c] + k], 1e-300), c, k};
    }
    return count;
}

static void write_pair(const struct lappe *l, const struct pair *p, int64_t column)
{
    const struct problems *s = &l->s;
    int64_t start = s->parts.start[p->component], k = l->c->k, wanted = s->wanted[p->component];
    const float *x = s->x + s->vector[p->component];
    float *v = l->out->values.data;
    for (int64_t i = 0; i < component_size(&s->parts, p->component); i++) {
        double own = p->index < 0 ? 1 : x[i * wanted + p->index];
        v[s->parts.node[start + i] * k + column] = (float)(sqrt(s->mass[start + i]) * own);
    }
}

/* The pairs of a graph, from its components first .. end - 1. */
static void write_graph(struct lappe *l, int64_t g, int64_t first, int64_t end, struct pair *pairs)
{
    struct encoding *out = l->out;
    int64_t k = l->c->k, n = l->b->offset[g + 1] - l->b->offset[g];
    int64_t count = collect(l, first, end, pairs), wanted = pairs_with_dropped(l, n);
    qsort(pairs, (size_t)count, sizeof *pairs, by_value);
    out->pairs[g] = wanted - l->normalised;
    for (int64_t c = l->normalised; c < wanted; c++) {
        int64_t column = c - l->normalised;
        write_pair(l, &pairs[c], column);
        ((float *)out->eigenvalues.data)[g * k + column] = (float)pairs[c].value;
        out->nullity += pairs[c].index < 0;
        out->iterated += pairs[c].index >= 0;
    }
}

static bool write_all(struct lappe *l)
{
    int64_t most = 0, k = l->c->k;
    for (int64_t g = 0, first = 0, end; g < l->b->graphs; g++, first = end) {
        end = components_end(l, g, first);
        int64_t count = end - first + l->s.first[end] - l->s.first[first];
        most = count > most ? count : most;
    }
    struct pair *pairs = eager_take(&l->e, most * (int64_t)sizeof *pairs);
    if (!pairs)
        return false;
    memset(l->out->values.data, 0, (size_t)(l->b->adj.nodes * k) * 4);
    memset(l->out->eigenvalues.data, 0, (size_t)(l->b->graphs * k) * 4);
    for (int64_t g = 0, first = 0, end; g < l->b->graphs; g++, first = end) {
        end = components_end(l, g, first);
        write_graph(l, g, first, end, pairs);
    }
    eager_give(&l->e, pairs, most * (int64_t)sizeof *pairs);
    return true;
}

static bool take_output(struct lappe *l)
{
    struct encoding *out = l->out;
    int64_t n = l->b->adj.nodes, graphs = l->b->graphs, k = l->c->k;
    out->values = (struct mat){eager_take(&l->e, n * k * 4), n, k, k, 0, 0, F32, false};
    out->eigenvalues = (struct mat){eager_take(&l->e, graphs * k * 4), graphs, k, k, 0, 0, F32, false};
    out->pairs = eager_take(&l->e, graphs * 8);
    return out->values.data && out->eigenvalues.data && out->pairs;
}

/* Whether the solver that was asked for can be had, for this batch. */
static bool possible(const struct encoding_config *c, const struct batch *b, char *error, size_t size)
{
    const char *lack = NULL;
    if (!b->symmetric)
        lack = "the Laplacian needs an undirected graph";
    else if (c->solver == SOLVER_LAPACK && !dense_available())
        lack = "this build has no LAPACK";
    else if (c->solver == SOLVER_ARPACK && !arpack_available())
        lack = "this build has no ARPACK";
    if (lack)
        snprintf(error, size, "%s", lack);
    return !lack;
}

bool lappe_compute_limited(const struct encoding_config *c, const struct batch *b, int threads, int64_t most,
                           struct encoding *out, char *error, size_t error_size)
{
    *out = (struct encoding){0};
    if (!possible(c, b, error, error_size))
        return false;
    struct lappe l = {.c = c, .b = b, .normalised = c->kind == ENCODING_LAP_PYG, .most = most, .out = out};
    eager_start(&l.e, backend_cpu(), threads);
    bool done =
        take_output(&l) && take_problems(&l) && solve_dense(&l) && solve_iterated(&l) && write_all(&l);
    give_problems(&l);
    eager_end(&l.e);
    done = done && lappe_finish(out, c, b, threads);
    if (!done) {
        snprintf(error, error_size, "no memory for %lld eigenpairs of %lld nodes", (long long)c->k,
                 (long long)b->adj.nodes);
        encoding_free(out);
        return false;
    }
    out->cost = l.e.cost;
    out->peak = l.e.peak;
    out->iterations = l.iterations;
    out->method = method_name(l.used);
    out->flops_label = l.used & (USED_DENSE | USED_ARPACK) ? "nominal" : "executed ops";
    return true;
}

bool lappe_compute(const struct encoding_config *c, const struct batch *b, int threads, struct encoding *out,
                   char *error, size_t error_size)
{
    return lappe_compute_limited(c, b, threads, PRODUCTS, out, error, error_size);
}
