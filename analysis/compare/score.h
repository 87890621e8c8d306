/*
 * The score of a machine: for each class of works the geometric mean of constant / measured time over
 * inference and training, and the geometric mean of the classes; 100 is the machine that the constants
 * (score.def) are of. Means of ratios are geometric, so that no choice of the machine that is 100 changes an
 * order (Fleming and Wallace, "How not to lie with statistics", CACM 29, 1986).
 *
 * There is no score unless each time is sound: rows are ok and checked, of one committed tree, machine,
 * device and number of threads, by default kernels in f32.
 */
#ifndef GTMARK_ANALYSIS_SCORE_H
#define GTMARK_ANALYSIS_SCORE_H

#include "analysis/record/record.h"

enum { SCORE_VERSION = 1 };

enum score_class {
#define CLASS(id, name) SCORE_##id,
#define WORK(class_id, name, hash, forward, step)
#include "analysis/compare/score.def"
    SCORE_CLASSES
};

struct score {
    double of[SCORE_CLASSES], all;
    double low, high;       /* what `all` is for the longest and the shortest times in all ranges */
    char why[MESSAGE_SIZE]; /* there is none; empty: there is */
};

/* The score of some files of one machine. */
struct score score_of(struct record *const *records, size_t count);

/* Writes "score 1: 102 (small graphs 103, ...); f32, 2 threads, cpu, PROCESSOR, commit C", if there is one.
 */
void score_write(const struct score *s, struct record *const *records, size_t count, FILE *out);

/* The same as a line of the table of machines in results/README.md; `name` is that of the directory. */
void score_write_line(const struct score *s, struct record *const *records, size_t count, const char *name,
                      FILE *out);

#endif
