/* Warnings about rows, collected while they are measured and printed below the table. */
#ifndef GTMARK_BENCH_WARNINGS_H
#define GTMARK_BENCH_WARNINGS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/record/axes.h"

/* A kind of warning, with "%s" where the amount stands. */
struct warning_kind {
    const char *label;         /* "warning" or "note" */
    const char *what, *remedy; /* remedy null: none */
};

enum { WARNING_AMOUNT = 160 };

struct warning {
    const struct warning_kind *kind;
    int64_t row;
    const char *program; /* null: of the row as a whole */
    double value;        /* of which the amount is the text */
    char amount[WARNING_AMOUNT];
};

struct warnings {
    struct warning *list;
    size_t count;
};

struct subject {
    struct warnings *warnings; /* receives it */
    int64_t row;
    const char *program;
};

/* Adds a warning; the format makes the amount from the value, and from what else it needs. Returns 1. */
int warnings_add(const struct subject *s, const struct warning_kind *kind, double value, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));

/* Describes a row: "500 nodes". */
typedef void describe_row(const void *context, int64_t row, char text[AXES_TEXT]);

/* Prints a line for each kind of warning, with the rows and programs that it is about. */
void warnings_print(const struct warnings *w, describe_row *describe, const void *context, FILE *out);

void warnings_free(struct warnings *w);

#endif
