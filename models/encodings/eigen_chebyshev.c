/*
 * The smallest eigenpairs by subspace iteration with Chebyshev filters (Rutishauser, "Computational aspects
 * of F. L. Bauer's simultaneous iteration method", 1969; Zhou, Saad, Tiago and Chelikowsky,
 * "Self-consistent-field calculations using Chebyshev-filtered subspace iteration", 2006).
 *
 * A block with more columns than wanted pairs is multiplied by T_m(A), with A = (2 T - (a + b)) / (b - a) and
 * T = M^-1 L: the filter is at most 1 on eigenvectors between a and the bound b, and grows rapidly below a,
 * where the wanted ones are. A Rayleigh-Ritz step then finds the best pairs in the span of the block, and the
 * largest Ritz value becomes the next a. The degree m is what the worst pair still needs, but limited so that
 * the gain stays below GAIN: beyond that, rounding errors along the lowest eigenvectors would swamp the other
 * columns.
 *
 * The block starts random and is iterated as a whole to the end, so every eigenvector below a has received
 * the gain that the last wanted pair needed: none is missed, however close its neighbours are.
 *
 * On graphs like grids the gap below a is so small that this repeatedly takes sqrt(b / a) products. If the
 * first filter shows that, a coarser graph (eigen_coarsen.c) is solved approximately by the same method, and
 * its block is prolonged ("cascadic" multigrid: Bornemann and Deuflhard, "The cascadic multigrid method for
 * elliptic problems", 1996). The coarsest block starts random, so it contains all eigenvectors of that graph.
 * A vector of the finer graph differs from its averages over the pairs, in the squared norm of M, by at most
 * its eigenvalue times the largest m_i m_j / (m_i + m_j) / w of a pair, so no smooth one is orthogonal to the
 * prolonged block.
 */
#include <math.h>
#include <string.h>

#include "kernels/arithmetic.h"
#include "models/encodings/eigen_block.h"
#include "models/encodings/eigen_coarsen.h"

static const double GAIN = 1e5;
static const double GAIN_OF_CONSTANT = 1e8; /* the constant is removed but for rounding errors */
static const double GAIN_AT_FLOOR = 10;     /* with residuals at rounding level: only eigenvalues improve */
static const double EIGENVALUE = 2e-5;      /* target relative error of an eigenvalue */
static const double EIGENVALUE_MOST = 1e-4; /* beyond it, a pair has not converged */

static const double COARSER = 0.75;    /* largest ratio of coarse to fine nodes that pays off */
static const double SMOOTH = 0.15;     /* of the mean diagonal: limit of eigenvalues that count as smooth */
static const double LOOSE = 0.1;       /* sufficient residual over eigenvalue on a coarser graph */
static const double FLOOR = 1e-6;      /* of the bound: residuals that a long recurrence in float leaves */
static const double HALF = 0.5;        /* of the bound: start of the first filter of a prolonged block */
static const double SKEW = 5e-6;       /* deviation from orthonormality beyond what rounding causes */
static const double SMOOTH_FROM = 0.1; /* of the bound: filters from here on preserve smooth vectors */
static const double LIFT = 0.125;      /* of the block's last value: see iterate_block */
static const double CLOSE = 0.05;      /* relative, of copies of an eigenvalue that has not converged */

enum {
    DEGREE_LEAST = 4,
    SMOOTH_DEGREE = 5, /* of the filter starting there */
    COARSEST = 400,    /* nodes */
    IDLE = 5,          /* steps without progress at rounding level before giving up */
    IDLE_MOST = 20     /* the same above rounding level */
};

double eigen_allowed(double value, double norm)
{
    return fmax(1e-3 * value, 2e-7 * norm);
}

/* Multiplies the block by T_m(A). */
static void filter(struct iteration *s, double a, int64_t degree)
{
    double b = s->p->bound;
    block_polynomial(s, degree, 2 / (b - a), -(a + b) / (b - a));
    block_swap(&s->x, &s->z);
}

/*
 * The residual r of a pair within `share` of its limit, at which its eigenvalue is off by a relative `error`
 * at most: by r^2 over the gap to what is outside of the block (Kato and Temple), or by r where there is no
 * gap, as among copies that the block has no columns for. An eigenvector hidden among those has a share of
 * about 1 / sqrt(n) in a random column, and its mixture with them a residual of that share of the distance.
 */
static double residual_for(const struct iteration *s, int64_t j, double share, double error)
{
    int64_t end = s->wide - 1;
    double value = s->value[j], gap = fmax(0, s->value[end] - s->residual[end] - value);
    double hidden = error * value / sqrt((double)s->p->n);
    double near = fmax(sqrt(error * value * gap), fmax(hidden, FLOOR * s->p->bound));
    return fmin(share * eigen_allowed(value, s->p->norm), near);
}

/* The target residual of a pair. */
static double wanted_residual(const struct iteration *s, int64_t j)
{
    return s->loose > 0 ? fmax(s->loose * s->value[j], FLOOR * s->p->bound)
                        : residual_for(s, j, 0.7, EIGENVALUE);
}

/* The largest ratio of a residual to its target; above 1 while there are columns that no filter has seen. */
static double excess(const struct iteration *s)
{
    double most = s->renewed ? 2 : 0;
    for (int64_t j = 0; j < s->wanted; j++)
        most = fmax(most, s->residual[j] / wanted_residual(s, j));
    return most;
}

/* Whether all pairs have reached rounding level. */
static bool at_floor(const struct iteration *s)
{
    double most = 0;
    for (int64_t j = 0; j < s->wanted; j++)
        most = fmax(most, s->residual[j]);
    return most < FLOOR * s->p->bound;
}

/* The largest ratio of a residual to what it may be in the end. */
static double limits_taken(const struct iteration *s)
{
    double most = s->renewed ? 2 : 0;
    for (int64_t j = 0; j < s->wanted; j++)
        most = fmax(most, s->residual[j] / residual_for(s, j, 1, EIGENVALUE_MOST));
    return most;
}

/* The number of steps without progress to tolerate. */
static int patience(const struct iteration *s, double now)
{
    return now <= 1 ? 1 : at_floor(s) ? IDLE : IDLE_MOST;
}

/* The degree that brings all pairs to their targets, limited by GAIN. */
static int64_t next_degree(const struct iteration *s, double a)
{
    double b = s->p->bound, lowest = fmax(0, s->value[0] - 2 * s->residual[0]);
    double bottom = acosh(fmax(1, (b + a - 2 * lowest) / (b - a))), need = 0;
    bool floor = at_floor(s);
    for (int64_t j = 0; j < s->wanted; j++) {
        double gain = 2 * s->residual[j] / wanted_residual(s, j);
        if (floor)
            gain = fmin(gain, GAIN_AT_FLOOR);
        double growth = acosh(fmax(1, (b + a - 2 * s->value[j]) / (b - a)));
        if (gain > 2)
            need = fmax(need, acosh(gain) / growth);
    }
    double constant = acosh((b + a) / (b - a));
    double degree = fmin(need, fmin(log(GAIN) / bottom, log(GAIN_OF_CONSTANT) / constant));
    return degree > DEGREE_LEAST ? (int64_t)ceil(degree) : DEGREE_LEAST;
}

/* The start of the i-th filter that preserves smooth vectors, and its degree, for the same gain. */
static double smooth_from(const struct iteration *s, int i)
{
    return SMOOTH_FROM * s->p->bound * pow(0.1, i);
}

static int64_t smooth_degree(int i)
{
    return (int64_t)ceil(SMOOTH_DEGREE * pow(10, 0.5 * i));
}

/*
 * Applies the filter. Rounding errors spread over all eigenvectors and grow with the degree. Where they come
 * near the allowed residual, shorter and shorter filters remove their high part, which dominates the
 * residual, without damping the block itself.
 */
static void filter_block(struct iteration *s, double lift)
{
    int64_t end = s->wide - 1;
    double b = s->p->bound, last = fmax(s->value[end], s->value[max_of(0, end - s->renewed)]),
           a = fmin((1 + lift) * last, (last + b) / 2);
    int64_t degree = next_degree(s, a);
    filter(s, a, degree);
    if (eigen_allowed(s->value[0], s->p->norm) >= 1e-5 * b)
        return;
    int shorter = 0;
    while (a < smooth_from(s, shorter) && 4 * smooth_degree(shorter) <= degree)
        shorter++;
    while (shorter--)
        filter(s, smooth_from(s, shorter), smooth_degree(shorter));
}

static void coarse_start(struct iteration *s, int64_t most);

/*
 * Whether the block, filtered once, shows that the wanted values lie far below the mean diagonal of M^-1 L,
 * so that the vectors are smooth enough for coarser graphs. The bound is not usable for this comparison,
 * because hubs raise it.
 */
static bool smooth(const struct iteration *s)
{
    return s->p->n >= COARSEST && s->value[s->wide - 1] < SMOOTH * (double)s->p->adj.col.rows / s->total;
}

/* Whether the last value of the block, not yet an eigenvalue, may become one of the wanted ones. */
static bool end_is_wanted(const struct iteration *s)
{
    int64_t last = s->wide - 1;
    return s->value[last] < (1 + CLOSE) * s->value[s->wanted - 1] &&
           s->residual[last] > wanted_residual(s, last);
}

/*
 * Filters the block until all pairs meet their targets. An eigenvalue with more copies than the block has
 * columns left is both among the wanted values and at their end, where the filter begins: it would not grow
 * against those above. Each step without progress but the first therefore lifts the filter's start.
 */
static bool iterate_block(struct iteration *s, int64_t most)
{
    bool done = block_ritz(s);
    double least = INFINITY, now = excess(s);
    for (int idle = 0, step = 0;
         done && (now > 1 || s->skew > SKEW) && idle < patience(s, now) && s->count < most; step++) {
        if (step == 1 && s->random && smooth(s))
            coarse_start(s, most);
        else if (now > 1)
            filter_block(s, end_is_wanted(s) ? LIFT * (double)max_of(0, idle - 1) : 0);
        done = block_ritz(s);
        now = excess(s);
        idle = now < 0.9 * least ? 0 : idle + 1;
        least = fmin(least, now);
    }
    return done;
}

/* Solves a coarser graph approximately, where that is much smaller, and continues from the smoothed result.
 */
static void coarse_start(struct iteration *s, int64_t most)
{
    struct coarse c;
    struct iteration t = {.e = s->e};
    if (!eigen_coarsen(s->e, s->p, &c))
        return;
    if (c.p.n <= COARSER * s->p->n && block_alloc(&t, s->e, &c.p, s->wanted)) {
        t.loose = LOOSE;
        t.random = c.p.n < COARSEST;
        block_randomise(&t, 0);
        if (!t.random)
            coarse_start(&t, most);
        if (iterate_block(&t, most))
            eigen_prolong(s->e, &c, s->x, t.x);
        block_free(&t);
    }
    filter(s, HALF * s->p->bound, 3);
    filter(s, smooth_from(s, 0), smooth_degree(0));
    eigen_coarse_free(s->e, &c);
}

bool eigen_chebyshev(struct eager *e, const struct pencil *p, int64_t most, struct eigenpairs *pairs)
{
    struct iteration s;
    bool done = block_alloc(&s, e, p, pairs->count);
    if (done) {
        block_randomise(&s, 0);
        s.random = true;
        done = iterate_block(&s, most);
    }
    if (done) {
        run_op(e, copy, .y = pairs->x, .x = mat_cols(s.x, 0, pairs->count));
        memcpy(pairs->value, s.value, (size_t)pairs->count * sizeof *pairs->value);
        pairs->iterations = s.count;
        pairs->excess = limits_taken(&s);
    }
    block_free(&s);
    return done && eager_good(e);
}
