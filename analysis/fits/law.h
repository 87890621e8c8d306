/*
 * The law of a time over an axis: a polynomial with the terms that the program's work has, whose FLOPs and
 * bytes are exact; and the local exponents between two points.
 */
#ifndef GTMARK_ANALYSIS_LAW_H
#define GTMARK_ANALYSIS_LAW_H

#include <stdbool.h>
#include <stddef.h>

enum {
    LAW_TERMS = 4, /* 1, x, x^2, x^3 */
    LAW_TEXT = 128,
};

/* x and y are positive; low and high are the range of y, or y itself if it is exact. */
struct law_point {
    double x, y, low, high;
};

struct law {
    unsigned terms;                /* bit t: x^t has a coefficient above 0; 0: there is no law */
    double coefficient[LAW_TERMS]; /* never below 0 */
    double error;                  /* largest |y / law - 1| of the points */
};

/* How y grows between two points: the exponent b of y = c x^b and its range. */
struct exponent {
    double value, low, high;
};

/*
 * The terms of the polynomial in x that exact work[n] is, bit t for x^t: the fewest that reproduce it. 0 if
 * it is none, or if there are not more distinct x than terms.
 */
unsigned law_terms(const struct law_point *work, size_t n);

/* The terms as text, "1 + N + N^2"; and the law in seconds, "7.41 ms + 110 µs N + 88.5 ns N^2". */
void law_terms_text(char text[LAW_TEXT], unsigned terms, const char *symbol);
void law_text(char text[LAW_TEXT], const struct law *law, const char *symbol);

/*
 * The law with these terms and a constant (the cost of launching and synchronising) that is nearest to the
 * points in units of their errors. Terms that no point supports are left out. Without a law if `terms` is 0
 * or there are not more distinct x than terms.
 */
struct law law_fit(const struct law_point *points, size_t n, unsigned terms);

double law_at(const struct law *law, double x);

/* b over a, with the range of the ratio of their y: the corners of both. */
struct law_point law_ratio(const struct law_point *a, const struct law_point *b);

/* The exponent from a to b, whose x is larger. */
struct exponent exponent_between(const struct law_point *a, const struct law_point *b);

/* "N^1.72 [1.68, 1.79]"; without a range if both points were exact. */
void exponent_text(char text[LAW_TEXT], const struct exponent *e, const char *symbol);

#endif
