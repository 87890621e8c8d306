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
    GROWTH_SIZES_MIN = 4, /* fewest distinct x to distinguish laws */
    GROWTH_LAWS = 9
};

struct growth_law {
    unsigned terms;                   /* bit t: it has term t */
    double coefficient[GROWTH_TERMS]; /* positive for its terms, else 0 */
    double error; /* root mean square of log(y / law): relative error; INFINITY if the law is 0 somewhere */
    double criterion; /* smaller is better */
};

struct growth {
    bool found; /* at least GROWTH_SIZES_MIN distinct x */
    size_t points;
    struct growth_law laws[GROWTH_LAWS]; /* by criterion, best first */
};

/* A law whose criterion is less than this above the best cannot be excluded. */
#define GROWTH_CLOSE 2.0

/* Fits all laws to the points (x[i], y[i]), i < n; points that are not positive are left out. */
struct growth growth_fit(const double *x, const double *y, size_t n);

/* "N log N": a term, with the symbol of the axis. */
void growth_term_text(char *text, size_t size, enum growth_term term, const char *symbol);

#endif
