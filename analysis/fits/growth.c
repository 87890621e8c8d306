/*
 * Laws f(x) = sum over its terms of c_t g_t(x), c_t > 0, with g among 1, x, x log x, x^2, x^3 (log: natural).
 *
 * A law is fitted by least squares of the log-relative residuals log(y / f), because the noise of a run time
 * is proportional to it and sizes span decades. With theta = log c the coefficients stay positive, the
 * residual's derivative is the term's share -c_t g_t / f, and the Levenberg-Marquardt method solves it
 * (Marquardt, J. SIAM 11(2), 1963). A term that the points do not support shrinks to nothing, and the law
 * without it wins.
 *
 * Laws are chosen by Mallows' criterion, which penalises parameters (Mallows, "Some comments on C_p",
 * Technometrics 15(4), 1973) and equals Akaike's for known noise:
 *
 *     criterion = sum of squares / s^2 + 2 terms,   s = the smallest residual error of any law, at least 3 %
 *
 * where the residual error is sqrt(sum of squares / (n - terms)). A law need not fit better than 3 %: smaller
 * effects (caches, blocks) justify no term. Akaike's corrected criterion, which estimates the noise for each
 * law separately, has no power for the few points of a sweep: for 5 points a second term must make the error
 * 7 times smaller, and a third is ruled out. Differences below 2 are not significant (Burnham and Anderson,
 * "Model Selection and Multimodel Inference", 2nd edition, 2002, section 2.6).
 */
#include "analysis/fits/growth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TERMS_MAX = 3, ITERATIONS = 500 };

static const unsigned laws[GROWTH_LAWS] = {
    1u << GROWTH_N,
    1u << GROWTH_N_LOG_N,
    1u << GROWTH_N2,
    1u << GROWTH_N3,
    1u << GROWTH_1,
    1u << GROWTH_1 | 1u << GROWTH_N,
    1u << GROWTH_1 | 1u << GROWTH_N2,
    1u << GROWTH_N | 1u << GROWTH_N2,
    1u << GROWTH_1 | 1u << GROWTH_N | 1u << GROWTH_N2,
};

static double term_at(enum growth_term term, double x)
{
    switch (term) {
    case GROWTH_1:
        return 1;
    case GROWTH_N:
        return x;
    case GROWTH_N_LOG_N:
        return x * log(x);
    case GROWTH_N2:
        return x * x;
    default:
        return x * x * x;
    }
}

/* A law being fitted. */
struct fitting {
    size_t n;
    const double *x, *y;
    int terms;
    enum growth_term term[TERMS_MAX];
};

/* The value of the law with these log coefficients, and each term's share of it. */
static double law_at(const struct fitting *f, const double theta[TERMS_MAX], double x,
                     double share[TERMS_MAX])
{
    double value = 0;
    for (int t = 0; t < f->terms; t++)
        value += share[t] = exp(theta[t]) * term_at(f->term[t], x);
    for (int t = 0; t < f->terms; t++)
        share[t] /= value;
    return value;
}

/* The sum of squares and the normal equations: matrix and right-hand side. */
static double squares_of(const struct fitting *f, const double theta[TERMS_MAX],
                         double normal[TERMS_MAX][TERMS_MAX + 1])
{
    double squares = 0, share[TERMS_MAX];
    for (int i = 0; i < f->terms; i++)
        for (int j = 0; j <= TERMS_MAX; j++)
            normal[i][j] = 0;
    for (size_t p = 0; p < f->n; p++) {
        double residual = log(f->y[p] / law_at(f, theta, f->x[p], share));
        squares += residual * residual;
        for (int i = 0; i < f->terms; i++) {
            for (int j = 0; j < f->terms; j++)
                normal[i][j] += share[i] * share[j];
            normal[i][TERMS_MAX] += share[i] * residual;
        }
    }
    return squares;
}

/* Solves (normal + damping) step = right-hand side by elimination; the matrix is positive definite. */
static void solve(const struct fitting *f, const double normal[TERMS_MAX][TERMS_MAX + 1], double damping,
                  double step[TERMS_MAX])
{
    double a[TERMS_MAX][TERMS_MAX + 1];
    for (int i = 0; i < f->terms; i++)
        for (int j = 0; j <= TERMS_MAX; j++)
            a[i][j] = normal[i][j] + (i == j ? damping : 0);
    for (int k = 0; k < f->terms; k++)
        for (int i = k + 1; i < f->terms; i++) {
            double factor = a[i][k] / a[k][k];
            for (int j = k; j <= TERMS_MAX; j++)
                a[i][j] -= factor * a[k][j];
        }
    for (int i = f->terms - 1; i >= 0; i--) {
        step[i] = a[i][TERMS_MAX];
        for (int j = i + 1; j < f->terms; j++)
            step[i] -= a[i][j] * step[j];
        step[i] /= a[i][i];
    }
}

/* Each term gets an equal share of the whole. */
static void initial_guess(const struct fitting *f, double theta[TERMS_MAX])
{
    for (int t = 0; t < f->terms; t++) {
        theta[t] = -log(f->terms);
        for (size_t p = 0; p < f->n; p++)
            theta[t] += log(f->y[p] / term_at(f->term[t], f->x[p])) / (double)f->n;
    }
}

/* Minimises the sum of squares from theta. */
static double minimise(const struct fitting *f, double theta[TERMS_MAX])
{
    double normal[TERMS_MAX][TERMS_MAX + 1], tried[TERMS_MAX][TERMS_MAX + 1];
    double damping = 1e-3, squares = squares_of(f, theta, normal);
    for (int i = 0; i < ITERATIONS && damping < 1e12; i++) {
        double step[TERMS_MAX], to[TERMS_MAX];
        solve(f, normal, damping, step);
        for (int t = 0; t < f->terms; t++)
            to[t] = theta[t] + step[t];
        double there = squares_of(f, to, tried);
        if (!(there < squares)) {
            damping *= 4;
            continue;
        }
        damping = fmax(damping / 3, 1e-12);
        squares = squares_of(f, to, normal);
        for (int t = 0; t < f->terms; t++)
            theta[t] = to[t];
    }
    return squares;
}

static struct growth_law fit_law(unsigned terms, const double *x, const double *y, size_t n)
{
    struct growth_law law = {.terms = terms, .error = INFINITY, .criterion = INFINITY};
    struct fitting f = {.n = n, .x = x, .y = y};
    for (enum growth_term t = 0; t < GROWTH_TERMS; t++)
        if (terms >> t & 1)
            f.term[f.terms++] = t;
    for (size_t p = 0; p < n; p++)
        for (int t = 0; t < f.terms; t++)
            if (!(term_at(f.term[t], x[p]) > 0)) /* log 1 */
                return law;
    double theta[TERMS_MAX];
    initial_guess(&f, theta);
    double squares = minimise(&f, theta);
    for (int t = 0; t < f.terms; t++)
        law.coefficient[f.term[t]] = exp(theta[t]);
    law.error = sqrt(squares / (double)n);
    return law;
}

static int terms_of(const struct growth_law *law)
{
    return __builtin_popcount(law->terms);
}

static void set_criteria(struct growth_law of[GROWTH_LAWS], size_t n)
{
    double least = INFINITY;
    for (int l = 0; l < GROWTH_LAWS; l++)
        least = fmin(least, of[l].error * sqrt((double)n / (double)(n - (size_t)terms_of(&of[l]))));
    double noise = fmax(least, 0.03);
    for (int l = 0; l < GROWTH_LAWS; l++)
        of[l].criterion = (double)n * pow(of[l].error / noise, 2) + 2 * terms_of(&of[l]);
}

static size_t count_distinct(const double *x, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < i && x[k] != x[i])
            k++;
        count += k == i;
    }
    return count;
}

static int best_first(const void *a, const void *b)
{
    double x = ((const struct growth_law *)a)->criterion, y = ((const struct growth_law *)b)->criterion;
    return (x > y) - (x < y);
}

struct growth growth_fit(const double *x, const double *y, size_t n)
{
    struct growth growth = {0};
    double *points = malloc((2 * n + 1) * sizeof *points);
    if (!points) {
        fprintf(stderr, "growth: no memory for %zu points\n", n);
        abort();
    }
    for (size_t i = 0; i < n; i++)
        if (x[i] > 0 && y[i] > 0 && isfinite(x[i]) && isfinite(y[i])) {
            points[growth.points] = x[i];
            points[n + growth.points++] = y[i];
        }
    growth.found = count_distinct(points, growth.points) >= GROWTH_SIZES_MIN;
    for (int l = 0; growth.found && l < GROWTH_LAWS; l++)
        growth.laws[l] = fit_law(laws[l], points, points + n, growth.points);
    if (growth.found)
        set_criteria(growth.laws, growth.points);
    qsort(growth.laws, GROWTH_LAWS, sizeof *growth.laws, best_first);
    free(points);
    return growth;
}

void growth_term_text(char *text, size_t size, enum growth_term term, const char *symbol)
{
    switch (term) {
    case GROWTH_1:
        snprintf(text, size, "1");
        break;
    case GROWTH_N:
        snprintf(text, size, "%s", symbol);
        break;
    case GROWTH_N_LOG_N:
        snprintf(text, size, "%s log %s", symbol, symbol);
        break;
    default:
        snprintf(text, size, "%s^%d", symbol, term == GROWTH_N2 ? 2 : 3);
    }
}
