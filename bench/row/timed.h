/* What was timed, as a row reports it: in the state of the machine that most turns were in. */
#ifndef GTMARK_BENCH_TIMED_H
#define GTMARK_BENCH_TIMED_H

#include "bench/row/job.h"

/* A program, and what its times are compared with. */
struct timed {
    struct samples samples; /* of all turns */
    bool planned;           /* by this process; else nothing is reported */
    bool watched;           /* the GPU, while the samples were taken */
    struct cost cost;       /* of a run, of all ranks together */
    int64_t operands;       /* bytes that its ops work on: the working set (struct plan) */
    struct cost *entry;     /* of each of its entries */
    int entries;
};

/* Sets the times of a program with samples, its phases, noise, roofline and bound; memory, cost and the
 * passes (passes.h) are already in the row. */
void timed_write(struct row *row, const struct job *job, enum program_kind kind, const struct timed *p);

/* The times of the phases of a training step in `n` runs launched beside replays of a graph. */
void timed_write_eager(struct row *row, enum program_kind kind, double seconds[PHASES][EAGER_MAX]);

/*
 * Reads the samples and turns of a program or encoding, with the times of phases, back from a row of an
 * earlier run; none if the row lacks them. What else the system counted is not in the file: it is that of new
 * turns.
 */
void timed_load(struct samples *s, const struct row *from, size_t kind);

void timed_write_encoding(struct row *row, const struct job *job, const struct samples *s);

#endif
