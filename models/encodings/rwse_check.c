/*
 * Checks the random walk encoding of some nodes: z_0 = e_i, z_m = z_(m-1) P, (P^m)_ii = entry i of z_m, with
 * P = D^-1 A as in rwse.h. A step sends the probability of being at a node in equal shares along its outgoing
 * edges. The kernels instead pull along edges, sixteen nodes at a time, in float, and by half of the powers
 * where the graph is symmetric.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/arithmetic.h"
#include "kernels/rng.h"
#include "models/encodings/check.h"

enum { NODES = 64 };

static const double LIMIT = 1e-5, TINY = 1e-30; /* relative; absolute, for probabilities that underflow */

/* A walk: probabilities at the nodes that it has reached, which are listed; 0 elsewhere. */
struct walk {
    const struct csr *out;
    double *now, *next;
    int32_t *node;
    bool *reached;
    int64_t count;
};

static void reach(struct walk *w, int32_t node)
{
    if (!w->reached[node])
        w->node[w->count++] = node;
    w->reached[node] = true;
}

static void walk_step(struct walk *w)
{
    const struct csr *out = w->out;
    for (int64_t m = 0, before = w->count; m < before; m++) {
        int64_t at = w->node[m], first = out->row_ptr[at], end = out->row_ptr[at + 1];
        double share = end > first ? w->now[at] / (double)(end - first) : 0;
        w->now[at] = 0;
        for (int64_t e = first; e < end; e++) {
            reach(w, out->col[e]);
            w->next[out->col[e]] += share;
        }
    }
    double *old = w->now;
    w->now = w->next;
    w->next = old;
}

/* The first step whose entry is wrong, or -1; `right` is what it should be. */
static int64_t walk_from(struct walk *w, int64_t start, const float *ours, int64_t steps, double *right)
{
    int64_t wrong = -1;
    w->count = 0;
    reach(w, (int32_t)start);
    w->now[start] = 1;
    for (int64_t k = 0; k < steps && wrong < 0; k++) {
        walk_step(w);
        *right = w->now[start];
        wrong = fabs(ours[k] - *right) <= LIMIT * *right + TINY ? -1 : k;
    }
    for (int64_t m = 0; m < w->count; m++) {
        w->now[w->node[m]] = 0;
        w->reached[w->node[m]] = false;
    }
    return wrong;
}

static bool walk_alloc(struct walk *w, const struct csr *out)
{
    size_t n = (size_t)out->nodes;
    *w = (struct walk){.out = out};
    w->now = calloc(n, sizeof *w->now);
    w->next = calloc(n, sizeof *w->next);
    w->node = malloc(n * sizeof *w->node);
    w->reached = calloc(n, sizeof *w->reached);
    return w->now && w->next && w->node && w->reached;
}

static void walk_free(struct walk *w)
{
    free(w->now);
    free(w->next);
    free(w->node);
    free(w->reached);
}

static void complain_of(struct encoding_check *to, const struct encoding *e, int64_t node, int64_t step,
                        double right)
{
    const float *values = e->values.data;
    snprintf(to->wrong, sizeof to->wrong,
             "rwse: node %lld, step %lld: %.9g, not %.9g (allowed: %.2g more or less)", (long long)node,
             (long long)step + 1, (double)values[node * e->values.ld + step], right, LIMIT * right + TINY);
}

void rwse_check(struct encoding_check *to, const struct batch *b, const struct encoding *e,
                const struct encoding_check_options *o)
{
    int64_t n = b->adj.nodes, count = min_of(n, NODES), steps = e->values.cols, first = count;
    uint64_t key = rng_key(o->seed, "check.rwse");
    bool whole = true;
#pragma omp parallel num_threads((int)min_of(o->threads, count)) reduction(&& : whole)
    {
        struct walk w;
        whole = walk_alloc(&w, &b->out);
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < count; i++) {
            int64_t node = n <= NODES ? i : (int64_t)(rng_bits(key, (uint64_t)i) % (uint64_t)n), wrong = -1;
            double right = 0;
            if (!whole || is_cancelled(o->cancel))
                whole = false;
            else
                wrong =
                    walk_from(&w, node, (const float *)e->values.data + node * e->values.ld, steps, &right);
#pragma omp critical(rwse_check)
            if (wrong >= 0 && i < first) {
                first = i;
                complain_of(to, e, node, wrong, right);
            }
        }
        walk_free(&w);
    }
    if (whole)
        snprintf(to->how, sizeof to->how, "%lld nodes by full powers in double", (long long)count);
    else
        snprintf(to->unchecked, sizeof to->unchecked, "%s",
                 is_cancelled(o->cancel) ? "the check was cancelled" : "no memory for the check");
}
