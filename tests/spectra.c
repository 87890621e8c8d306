/*
 * Closed forms: Brouwer and Haemers, "Spectra of Graphs", 2012, chapter 1. A path of n nodes has eigenvalues
 * 2 - 2 cos(pi k / n), normalised 1 - cos(pi k / (n - 1)); a cycle 2 - 2 cos(2 pi k / n); the complete graph
 * n; a star 1 and n; a complete bipartite one as many nodes as either side has, and n; a hypercube of
 * dimension d has 2 k, with the multiplicity of d-bit numbers with k ones. The eigenvalues of a product of
 * graphs, e.g. a grid, are the sums of theirs. For regular graphs of degree d the normalised eigenvalues are
 * divided by d.
 */
#include "tests/spectra.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static _Noreturn void fail(const char *error)
{
    fprintf(stderr, "spectra: %s\n", error);
    abort();
}

void builder_graph(struct builder *d, int64_t nodes)
{
    d->offset[d->graphs + 1] = d->offset[d->graphs] + nodes;
    d->graphs++;
}

void builder_edge(struct builder *d, int64_t a, int64_t b)
{
    if (d->edges + 2 > d->room) {
        d->room = 2 * d->room + 64;
        d->edge = reallocarray(d->edge, (size_t)d->room, sizeof *d->edge);
        if (!d->edge)
            fail("no memory");
    }
    int64_t first = d->offset[d->graphs - 1];
    d->edge[d->edges++] = csr_edge(first + a, first + b);
    if (a != b)
        d->edge[d->edges++] = csr_edge(first + b, first + a);
}

struct batch builder_done(struct builder *d)
{
    struct batch b = {.graphs = d->graphs, .symmetric = true};
    char error[256] = "no memory";
    b.offset = malloc((size_t)(d->graphs + 1) * sizeof *b.offset);
    for (int64_t g = 0; b.offset && g <= d->graphs; g++)
        b.offset[g] = d->offset[g];
    if (!b.offset ||
        !csr_build(&b.adj, d->offset[d->graphs], d->edge, d->edges, NEVER_CANCELLED, error, sizeof error))
        fail(error);
    b.out = b.adj;
    free(d->edge);
    return b;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void build_path(struct builder *d, int64_t n)
{
    builder_graph(d, n);
    for (int64_t i = 1; i < n; i++)
        builder_edge(d, i - 1, i);
}

static double path_value(int64_t n, int64_t k, bool normalised)
{
    return normalised ? 1 - cos(M_PI * (double)k / (double)(n - 1))
                      : 2 - 2 * cos(M_PI * (double)k / (double)n);
}

static void build_cycle(struct builder *d, int64_t n)
{
    build_path(d, n);
    builder_edge(d, n - 1, 0);
}

static double cycle_value(int64_t n, int64_t k, bool normalised)
{
    double value = 2 - 2 * cos(2 * M_PI * (double)((k + 1) / 2) / (double)n);
    return normalised ? value / 2 : value;
}

static void build_complete(struct builder *d, int64_t n)
{
    builder_graph(d, n);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            builder_edge(d, i, j);
}

static double complete_value(int64_t n, int64_t k, bool normalised)
{
    double value = k ? (double)n : 0;
    return normalised ? value / (double)(n - 1) : value;
}

static void build_star(struct builder *d, int64_t n)
{
    builder_graph(d, n);
    for (int64_t i = 1; i < n; i++)
        builder_edge(d, 0, i);
}

static double star_value(int64_t n, int64_t k, bool normalised)
{
    return k == 0 ? 0 : k < n - 1 ? 1 : normalised ? 2 : (double)n;
}

/* A third of the nodes, each joined to all others. */
static void build_bipartite(struct builder *d, int64_t n)
{
    builder_graph(d, n);
    for (int64_t i = 0; i < n / 3; i++)
        for (int64_t j = n / 3; j < n; j++)
            builder_edge(d, i, j);
}

static double bipartite_value(int64_t n, int64_t k, bool normalised)
{
    int64_t fewer = n / 3, more = n - fewer;
    if (normalised)
        return star_value(n, k, true);
    return (double)(k == 0 ? 0 : k < more ? fewer : k < n - 1 ? more : n);
}

/* The largest hypercube with at most n nodes. */
static int dimension(int64_t n)
{
    int d = 1;
    while ((INT64_C(2) << d) <= n)
        d++;
    return d;
}

static void build_hypercube(struct builder *d, int64_t n)
{
    int bits = dimension(n);
    builder_graph(d, INT64_C(1) << bits);
    for (int64_t i = 0; i < INT64_C(1) << bits; i++)
        for (int bit = 0; bit < bits; bit++)
            if (i >> bit & 1)
                builder_edge(d, i, i ^ INT64_C(1) << bit);
}

static double hypercube_value(int64_t n, int64_t k, bool normalised)
{
    int bits = dimension(n);
    int64_t ones = 0, as_many = 1;
    for (int64_t before = as_many; k >= before; before += as_many) {
        as_many = as_many * (bits - ones) / (ones + 1);
        ones++;
    }
    return 2 * (double)ones / (normalised ? bits : 1);
}

/* About n nodes with an aspect ratio of three quarters: not square, so that no eigenvalues coincide. */
static int64_t grid_columns(int64_t n)
{
    return (int64_t)sqrt((double)n * 4 / 3);
}

static void build_grid(struct builder *d, int64_t n)
{
    int64_t columns = grid_columns(n), rows = n / columns;
    builder_graph(d, rows * columns);
    for (int64_t i = 0; i < rows * columns; i++) {
        if (i % columns)
            builder_edge(d, i - 1, i);
        if (i >= columns)
            builder_edge(d, i - columns, i);
    }
}

static double grid_value(int64_t n, int64_t k, bool normalised)
{
    int64_t columns = grid_columns(n), rows = n / columns;
    double *all = malloc((size_t)(rows * columns) * sizeof *all);
    if (!all)
        fail("no memory");
    for (int64_t i = 0; i < rows * columns; i++)
        all[i] = path_value(columns, i % columns, normalised) + path_value(rows, i / columns, normalised);
    qsort(all, (size_t)(rows * columns), sizeof *all, ascending);
    double value = all[k];
    free(all);
    return value;
}

const struct known_graph known_graphs[] = {
    {"path", build_path, path_value, true, true, true},
    {"cycle", build_cycle, cycle_value, true, false, true},
    {"complete graph", build_complete, complete_value, true, false, false},
    {"star", build_star, star_value, true, false, false},
    {"complete bipartite graph", build_bipartite, bipartite_value, true, false, false},
    {"hypercube", build_hypercube, hypercube_value, true, false, false},
    {"grid", build_grid, grid_value, false, true, true},
    {0},
};

/* The dense Laplacian of a graph. */
static double *laplacian_of(const struct batch *b, int64_t g, bool normalised)
{
    int64_t first = b->offset[g], n = b->offset[g + 1] - first;
    double *a = calloc((size_t)(n * n), sizeof *a), *degree = calloc((size_t)n, sizeof *degree);
    if (!a || !degree)
        fail("no memory");
    for (int64_t i = 0; i < n; i++)
        for (int64_t e = b->adj.row_ptr[first + i]; e < b->adj.row_ptr[first + i + 1]; e++) {
            int64_t j = b->adj.col[e] - first;
            degree[i] += j != i;
            a[i * n + j] -= j != i;
        }
    for (int64_t i = 0; i < n; i++) {
        a[i * n + i] = degree[i];
        for (int64_t j = 0; j < n && normalised; j++)
            a[i * n + j] = i == j ? 1 : a[i * n + j] == 0 ? 0 : a[i * n + j] / sqrt(degree[i] * degree[j]);
    }
    free(degree);
    return a;
}

/* Rotates rows and columns p and q so that a_pq becomes 0. */
static void turn(double *a, int64_t n, int64_t p, int64_t q)
{
    double half = (a[q * n + q] - a[p * n + p]) / (2 * a[p * n + q]);
    double t = copysign(1, half) / (fabs(half) + hypot(half, 1)), c = 1 / hypot(t, 1), s = c * t;
    for (int64_t k = 0; k < n; k++) {
        double x = a[k * n + p], y = a[k * n + q];
        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    for (int64_t k = 0; k < n; k++) {
        double x = a[p * n + k], y = a[q * n + k];
        a[p * n + k] = c * x - s * y;
        a[q * n + k] = s * x + c * y;
    }
}

double *spectrum_of(const struct batch *b, int64_t g, bool normalised)
{
    enum { SWEEPS = 15 };
    int64_t n = b->offset[g + 1] - b->offset[g];
    double *a = laplacian_of(b, g, normalised);
    for (int sweep = 0; sweep < SWEEPS; sweep++)
        for (int64_t p = 0; p < n; p++)
            for (int64_t q = p + 1; q < n; q++)
                if (fabs(a[p * n + q]) > 1e-14)
                    turn(a, n, p, q);
    for (int64_t i = 0; i < n; i++)
        a[i] = a[i * n + i];
    qsort(a, (size_t)n, sizeof *a, ascending);
    return a;
}
