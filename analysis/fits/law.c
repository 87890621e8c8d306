/*
 * Laws f(x) = c0 + c1 x + c2 x^2 + c3 x^3 with c >= 0.
 *
 * The terms are those of the work, which is an exact polynomial for most axes. Edges are rounded to whole
 * numbers, and the sizes of a batch's graphs are random, so work that is none is approximated: within 1e-4
 * or, if that has too many terms as well, within 1 %.
 *
 * Time is fitted by weighted least squares with coefficients that are not negative (Lawson and Hanson,
 * "Solving Least Squares Problems", 1974, chapter 23). There are so few terms that all their subsets are
 * tried: the solution is the best of those whose coefficients are all positive. The error of a point is that
 * of its median, a quarter of its range, together with 1 %, by which two runs differ beyond their ranges.
 */
#include "analysis/fits/law.h"

#include "analysis/statistics/allocate.h"
#include "analysis/tables/units.h"

#include <math.h>

static const double between_runs = 0.01;

static int size_of(unsigned terms)
{
    return __builtin_popcount(terms);
}

static bool enough_values(const struct law_point *points, size_t n, unsigned terms)
{
    int distinct = 0;
    for (size_t i = 0; i < n && distinct <= size_of(terms); i++) {
        size_t k = 0;
        while (k < i && points[k].x != points[i].x)
            k++;
        distinct += k == i;
    }
    return distinct > size_of(terms);
}

static double error_of(const struct law_point *p)
{
    return hypot((p->high - p->low) / 4, between_runs * p->y);
}

/* Solves a[k][k] c = a[k][.., k] by elimination; the matrix is positive definite. */
static void solve(int k, long double a[LAW_TERMS][LAW_TERMS + 1], long double c[LAW_TERMS])
{
    for (int i = 0; i < k; i++)
        for (int row = i + 1; row < k; row++) {
            long double factor = a[row][i] / a[i][i];
            for (int j = i; j <= k; j++)
                a[row][j] -= factor * a[i][j];
        }
    for (int i = k - 1; i >= 0; i--) {
        c[i] = a[i][k];
        for (int j = i + 1; j < k; j++)
            c[i] -= a[i][j] * c[j];
        c[i] /= a[i][i];
    }
}

/* The law with all of these terms, which may come out negative, and the sum of its squares. The scale of x
 * does not affect the rounding errors of elimination, and long double has the digits that normal equations
 * lose. */
static struct law fit_all(const struct law_point *points, size_t n, unsigned terms, double *squares)
{
    long double normal[LAW_TERMS][LAW_TERMS + 1] = {{0}}, c[LAW_TERMS];
    struct law law = {.terms = terms};
    int k = 0, power[LAW_TERMS];
    for (int t = 0; t < LAW_TERMS; t++)
        if (terms >> t & 1)
            power[k++] = t;
    for (size_t p = 0; p < n; p++) {
        long double weight = 1 / (long double)error_of(&points[p]), value[LAW_TERMS];
        for (int i = 0; i < k; i++)
            value[i] = weight * powl(points[p].x, power[i]);
        for (int i = 0; i < k; i++) {
            for (int j = 0; j < k; j++)
                normal[i][j] += value[i] * value[j];
            normal[i][k] += value[i] * weight * points[p].y;
        }
    }
    solve(k, normal, c);
    for (int i = 0; i < k; i++)
        law.coefficient[power[i]] = (double)c[i];
    *squares = 0;
    for (size_t p = 0; p < n; p++) {
        double residual = law_at(&law, points[p].x) - points[p].y;
        *squares += pow(residual / error_of(&points[p]), 2);
        law.error = fmax(law.error, fabs(points[p].y / law_at(&law, points[p].x) - 1));
    }
    return law;
}

static bool is_positive(const struct law *law)
{
    for (int t = 0; t < LAW_TERMS; t++)
        if (law->terms >> t & 1 && !(law->coefficient[t] > 0))
            return false;
    return true;
}

double law_at(const struct law *law, double x)
{
    double value = 0;
    for (int t = LAW_TERMS - 1; t >= 0; t--)
        value = value * x + law->coefficient[t];
    return value;
}

struct law law_fit(const struct law_point *points, size_t n, unsigned terms)
{
    struct law best = {0};
    double least = INFINITY, squares;
    unsigned all = terms | 1;
    if (!terms || !enough_values(points, n, all))
        return best;
    for (unsigned some = 1; some <= all; some++) {
        if (some & ~all)
            continue;
        struct law law = fit_all(points, n, some, &squares);
        if (is_positive(&law) && squares < least) {
            best = law;
            least = squares;
        }
    }
    return best;
}

/* The fewest terms, and of these the lowest, that reproduce the points within this error; 0 if none do. */
static unsigned fewest_terms(const struct law_point *points, size_t n, double error)
{
    for (int k = 1; k <= LAW_TERMS; k++)
        for (unsigned terms = 1; terms < 1u << LAW_TERMS; terms++) {
            double squares;
            if (size_of(terms) != k || !enough_values(points, n, terms))
                continue;
            struct law law = fit_all(points, n, terms, &squares);
            if (is_positive(&law) && law.error <= error)
                return terms;
        }
    return 0;
}

unsigned law_terms(const struct law_point *work, size_t n)
{
    static const double errors[] = {1e-9, 1e-4, 1e-2};
    unsigned terms = 0;
    for (size_t e = 0; !terms && e < sizeof errors / sizeof *errors; e++)
        terms = fewest_terms(work, n, errors[e]);
    return terms;
}

/* coefficient: null without. */
static void write_terms(char text[LAW_TEXT], unsigned terms, const double *coefficient, const char *symbol)
{
    static const char *const power[LAW_TERMS] = {"", "", "^2", "^3"};
    text[0] = '\0';
    for (int t = 0; t < LAW_TERMS; t++) {
        char value[UNITS_TEXT] = "";
        if (coefficient)
            units_format(value, coefficient[t], UNITS_SI, "s");
        if (terms >> t & 1)
            append(text, LAW_TEXT, "%s%s%s%s%s", *text ? " + " : "", value, coefficient && t ? " " : "",
                   t             ? symbol
                   : coefficient ? ""
                                 : "1",
                   power[t]);
    }
}

void law_terms_text(char text[LAW_TEXT], unsigned terms, const char *symbol)
{
    write_terms(text, terms, NULL, symbol);
}

void law_text(char text[LAW_TEXT], const struct law *law, const char *symbol)
{
    write_terms(text, law->terms, law->coefficient, symbol);
}

struct law_point law_ratio(const struct law_point *a, const struct law_point *b)
{
    return (struct law_point){b->x / a->x, b->y / a->y, b->low / a->high, b->high / a->low};
}

struct exponent exponent_between(const struct law_point *a, const struct law_point *b)
{
    struct law_point ratio = law_ratio(a, b);
    double span = log(ratio.x);
    return (struct exponent){log(ratio.y) / span, log(ratio.low) / span, log(ratio.high) / span};
}

void exponent_text(char text[LAW_TEXT], const struct exponent *e, const char *symbol)
{
    snprintf(text, LAW_TEXT, "%s^%.2f", symbol, e->value);
    if (e->high > e->low)
        append(text, LAW_TEXT, " [%.2f, %.2f]", e->low, e->high);
}
