/* Only the number of the best draw is kept of each graph: its permutations are drawn again in the end. */
#include "models/encodings/expander.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "graphs/batching.h"
#include "graphs/permutation.h"
#include "kernels/arithmetic.h"
#include "kernels/rng.h"
#include "models/encodings/lappe.h"

enum { DRAWS = 100 };

/* The least that the second eigenvalue should be. */
static double least_eigenvalue(int64_t r)
{
    double degree = 2 * (double)r;
    return degree - 2 * sqrt(degree - 1) - 0.1;
}

struct draws {
    const struct encoding_config *c;
    const struct batch *b;
    const struct encoding_options *with;
    uint64_t key;
    int64_t *graph, *draw; /* those that are still drawn; of every graph, the best draw, from 0 */
    double *value;         /* of every graph, its second eigenvalue */
    struct cost cost;
    int64_t peak;
    char *error;
    size_t error_size;
};

/* Appends draw `draw` of graph g, whose nodes are numbered from `first` on. */
static uint64_t *add_draw(const struct draws *d, int64_t g, int64_t draw, int64_t first, uint64_t *edge)
{
    int64_t n = batch_size(d->b, g), r = n <= EXPANDER_COMPLETE ? 0 : d->c->expander;
    for (int64_t i = 0; i < n && r == 0; i++)
        for (int64_t j = 0; j < n; j++)
            if (i != j)
                *edge++ = csr_edge(first + i, first + j);
    uint64_t key = rng_bits(d->key, (uint64_t)(d->b->part.graph + g));
    for (int64_t k = 0; k < r; k++) {
        struct permutation p = permutation_make(rng_bits(key, (uint64_t)(draw * r + k)), (uint64_t)n);
        for (int64_t i = 0; i < n; i++) {
            int64_t j = (int64_t)permutation_at(&p, (uint64_t)i);
            *edge++ = csr_edge(first + i, first + j);
            *edge++ = csr_edge(first + j, first + i);
        }
    }
    return edge;
}

static bool fail(const struct draws *d, const char *why, int64_t edges)
{
    snprintf(d->error, d->error_size, "--expander %lld: %s: %lld edges", (long long)d->c->expander, why,
             (long long)edges);
    return false;
}

/* The graph of `count` graphs, with their nodes at offset[0 .. count]; draw -1: the best of each. */
static bool build_draws(struct draws *d, struct csr *to, const int64_t *graph, int64_t count, int64_t draw,
                        const int64_t *offset)
{
    int64_t edges = 0;
    for (int64_t i = 0; i < count; i++)
        edges += expander_drawn(d->c->expander, batch_size(d->b, graph ? graph[i] : i));
    uint64_t *list = malloc((size_t)edges * sizeof *list + 1), *end = list;
    if (!list)
        return fail(d, "out of memory", edges);
    for (int64_t i = 0; i < count; i++) {
        int64_t g = graph ? graph[i] : i;
        end = add_draw(d, g, draw < 0 ? d->draw[g] : draw, offset[i], end);
    }
    bool built = csr_build(to, offset[count], list, edges, d->with->cancel, d->error, d->error_size);
    d->peak = max_of(d->peak, 16 * edges + csr_bytes(to));
    free(list);
    return built;
}

/* The second eigenvalues of the graphs in d->graph in this draw; keeps the best. */
static bool solve_draw(struct draws *d, int64_t count, int64_t draw)
{
    struct encoding_config two = {.kind = ENCODING_LAP, .k = 2, .solver = d->c->solver};
    struct batch one = {.symmetric = true, .graphs = count};
    struct encoding e = {0};
    int64_t *offset = calloc((size_t)count + 1, sizeof *offset);
    one.offset = offset;
    for (int64_t i = 0; offset && i < count; i++)
        offset[i + 1] = offset[i] + batch_size(d->b, d->graph[i]);
    bool done =
        (offset || fail(d, "out of memory", 0)) && build_draws(d, &one.adj, d->graph, count, draw, offset);
    one.out = one.adj;
    done = done && lappe_compute(&two, &one, d->with, &e, d->error, d->error_size);
    if (done && e.excess > 1)
        done = fail(d, "the solver of the second eigenvalue did not converge", one.adj.edges);
    for (int64_t i = 0; i < count && done; i++) {
        double value = ((const float *)e.eigenvalues.data)[2 * i + 1];
        int64_t g = d->graph[i];
        if (draw == 0 || value > d->value[g]) {
            d->value[g] = value;
            d->draw[g] = draw;
        }
    }
    d->cost = cost_add(d->cost, e.cost);
    d->peak = max_of(d->peak, csr_bytes(&one.adj) + e.peak);
    encoding_free(&e);
    batch_free(&one);
    return done;
}

/* Draws all graphs; d->graph are then those whose eigenvalue stayed below the bound, *poor of them. */
static bool draw_all(struct draws *d, int64_t *poor)
{
    int64_t open = 0, most = d->with->draws > 0 ? d->with->draws : DRAWS;
    bool done = true;
    for (int64_t g = 0; g < d->b->graphs; g++)
        if (batch_size(d->b, g) > EXPANDER_COMPLETE)
            d->graph[open++] = g;
    for (int64_t draw = 0; draw < most && open > 0 && done; draw++) {
        done = solve_draw(d, open, draw);
        int64_t all = open;
        open = 0;
        for (int64_t i = 0; i < all; i++)
            if (d->value[d->graph[i]] < least_eigenvalue(d->c->expander))
                d->graph[open++] = d->graph[i];
    }
    *poor = open;
    return done;
}

/* Rows of the graph and of the expander x, merged, and the global nodes; a global node's number is larger. */
static void merge(const struct encoding_config *c, const struct batch *b, const struct csr *x, struct csr *to,
                  int64_t *factor)
{
    int64_t n = b->adj.nodes, edges = b->adj.edges, at = 0, row = 0;
    for (int64_t g = 0; g < b->graphs; g++)
        for (int64_t i = b->offset[g], own = i + batch_size(b, g); i < b->offset[g + 1]; i++) {
            int64_t e = b->adj.row_ptr[i], f = x->row_ptr[i], e_end = b->adj.row_ptr[i + 1];
            to->row_ptr[row++] = at;
            for (int64_t f_end = x->row_ptr[i + 1]; e < e_end || f < f_end; at++) {
                bool real = f == f_end || (e < e_end && b->adj.col[e] <= x->col[f]);
                factor[at] = real ? e : edges;
                to->col[at] = real ? b->adj.col[e++] : x->col[f++];
            }
            for (int64_t v = 0; v < c->globals && i < own; v++, at++) {
                to->col[at] = (int32_t)(n + v * b->graphs + g);
                factor[at] = edges + 1 + c->globals + v;
            }
        }
    for (int64_t v = 0; v < c->globals; v++)
        for (int64_t g = 0; g < b->graphs; g++) {
            to->row_ptr[row++] = at;
            for (int64_t i = b->offset[g]; i < b->offset[g] + batch_size(b, g); i++, at++) {
                to->col[at] = (int32_t)i;
                factor[at] = edges + 1 + v;
            }
        }
    to->row_ptr[row] = at;
}

static bool expand_batch(struct draws *d, const struct csr *x, struct encoding *to)
{
    struct batch *wide = &to->expanded;
    *wide = expander_shape(d->c, d->b);
    int64_t edges = wide->adj.edges;
    if (edges > CSR_MAX_EDGES || wide->adj.nodes > CSR_MAX_NODES)
        return fail(d, "more than 2147483647 nodes or edges", edges);
    wide->adj.row_ptr = malloc((size_t)(wide->adj.nodes + 1) * sizeof *wide->adj.row_ptr);
    wide->adj.col = malloc((size_t)edges * sizeof *wide->adj.col + 1);
    to->factor = (struct mat){.rows = edges, .cols = 1, .ld = 1, .dtype = I64};
    to->factor.data = malloc((size_t)edges * 8 + 1);
    if (!wide->adj.row_ptr || !wide->adj.col || !to->factor.data)
        return fail(d, "out of memory", edges);
    merge(d->c, d->b, x, &wide->adj, to->factor.data);
    wide->out = wide->adj;
    if (!wide->symmetric && !csr_transpose(&wide->out, &wide->adj, d->with->cancel, d->error, d->error_size))
        return false;
    wide->out_edge = csr_number_transpose(&wide->out, &wide->adj);
    return wide->out_edge || fail(d, "out of memory", edges);
}

bool expander_compute(const struct encoding_config *c, const struct batch *b,
                      const struct encoding_options *with, struct encoding *to, char *error,
                      size_t error_size)
{
    struct draws d = {.c = c, .b = b, .with = with, .error = error, .error_size = error_size};
    struct csr x = {0};
    d.key = rng_key(c->seed, "expander");
    d.graph = calloc((size_t)b->graphs, sizeof *d.graph);
    d.draw = calloc((size_t)b->graphs, sizeof *d.draw);
    d.value = calloc((size_t)b->graphs, sizeof *d.value);
    bool there = (d.graph && d.draw && d.value) || fail(&d, "out of memory", 0);
    bool done = there && draw_all(&d, &to->poor) && build_draws(&d, &x, NULL, b->graphs, -1, b->offset) &&
                expand_batch(&d, &x, to);
    to->cost = cost_add(to->cost, d.cost);
    to->peak = max_of(to->peak, encoding_storage(c, b) + max_of(d.peak, csr_bytes(&x)));
    csr_free(&x);
    free(d.graph);
    free(d.draw);
    free(d.value);
    if (!done)
        to->cancelled = is_cancelled(with->cancel);
    return done;
}
