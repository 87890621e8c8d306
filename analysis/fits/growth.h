/*
 * Which simple law a cost follows as the work grows: N, N log N, N^2, N^3, or a + b N + c N^2 with the terms
 * that the points support.
 */
#ifndef GTMARK_ANALYSIS_GROWTH_H
#define GTMARK_ANALYSIS_GROWTH_H

#include <stdbool.h>
#include <stddef.h>

enum growth_term { GROWTH_1, GROWTH_N, GROWTH_N_LOG_N, GROWTH_N2, GROWTH_N3, GROWTH_TERMS };

enum {
    GROWTH_SIZES_MIN = 4, /* fewest different x that laws can be told apart by */
    GROWTH_LAWS = 9
};

struct growth_law {
    unsigned terms;                   /* bit t: it has term t */
    double coefficient[GROWTH_TERMS]; /* positive where it has the term, else 0 */
    double error; /* root mean square of log(y / law): the relative error; INFINITY where it is 0 somewhere */
    double criterion; /* the smaller the better */
};

struct growth {
    bool found; /* at least GROWTH_SIZES_MIN different x */
    size_t points;
    struct growth_law laws[GROWTH_LAWS]; /* by criterion, the best first */
};

/* Laws whose criterion is nearer to the best one's than this cannot be excluded. */
#define GROWTH_CLOSE 2.0

/* Fits all laws to the points (x[i], y[i]), i < n; others than positive ones are left out. */
struct growth growth_fit(const double *x, const double *y, size_t n);

/* "N log N": a term, with the symbol of what grows. */
void growth_term_text(char *text, size_t size, enum growth_term term, const char *symbol);

#endif
