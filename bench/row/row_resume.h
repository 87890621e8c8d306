/* A row of an earlier run, to which turns are added. */
#ifndef GTMARK_BENCH_ROW_RESUME_H
#define GTMARK_BENCH_ROW_RESUME_H

#include "analysis/record/row.h"
#include "bench/time/sample.h"

/*
 * Reads the samples and turns of a program or encoding, with the times of phases if the file has them; none
 * if the row lacks them. What else the system counted is not in the file: it is that of new turns.
 */
void samples_load(struct samples *s, const struct row *from, size_t program);

/* The earlier row with the fields that the new one has, which is freed. */
struct row *row_over(struct row *row, const struct row *from);

#endif
