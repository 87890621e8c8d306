/*
 * What is planned, and so the same in every run, compared exactly: planned memory and its peak, FLOPs,
 * minimum bytes and the number of the tape's entries; of an encoding its storage and bounds, and its FLOPs,
 * bytes and peak unless a solver iterated; and executed FLOPs where both files counted one thread of one
 * instruction set and compiler. Noise of the machine has no part in it, so it holds on any machine for
 * continuous integration.
 */
#ifndef GTMARK_ANALYSIS_EXACT_H
#define GTMARK_ANALYSIS_EXACT_H

#include "analysis/compare/comparison.h"
#include "analysis/tables/grid.h"

enum { EXACT_ENTRY = 160 };

/* A figure of file 1 (B) that is not that of file 0 (A), or that one of them lacks. */
struct exact_difference {
    size_t line, program;    /* of the comparison; as program_name */
    const char *figure;      /* "memory" */
    const char *unit;        /* "B"; empty of entries */
    enum unit_base base;     /* of its text */
    int64_t was, is;         /* in A, in B; one may be COUNT_ABSENT */
    bool profiled;           /* whether both have a profile of the program */
    char grown[EXACT_ENTRY]; /* then the first entry of the tape that grew; empty: none did */
};

struct exact {
    size_t equal, more, less; /* figures of B, to those of A */
    size_t alone;  /* figures that one lacks, rows without a partner (of A only if its rows lead), and rows
                      that  were not ok in A */
    size_t fallen; /* rows that are ok in A, and not in B */
    size_t count;
    struct exact_difference *list; /* the figures of `more`, `less` and `alone` */
};

/* Whether executed FLOPs of two records can be compared: they are of the same compiler. */
bool exact_counts_alike(const struct record *a, const struct record *b);

/* Compares files 0 (A) and 1 (B) of a comparison, with executed FLOPs if they can be compared (counted). To
 * be freed. */
struct exact exact_compare(const struct comparison *c, bool counted);

/* Prints the differences as a table; nothing without any. */
void exact_table(FILE *out, enum table_style style, const struct comparison *c, const struct exact *found);

void exact_free(struct exact *found);

#endif
