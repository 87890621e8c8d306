/*
 * Gates: what the rows of a run must not exceed or fall below, for continuous integration.
 *
 *     --threshold latency:100ms,step.memory:2GiB,throughput:1k/s,error:1e-4
 *
 * Latency is a program's median time, throughput its graphs per second, memory its planned arena, error the
 * row's error.norm. Without "forward." or "step." a gate is for every program of the row that was asked for.
 * What was to be measured and was not has missed its gate.
 */
#ifndef GTMARK_BENCH_GATES_H
#define GTMARK_BENCH_GATES_H

#include "analysis/record/row.h"
#include "bench/cli/gates_parse.h"

/* Prints a line for each gate that a row of the array misses, below a line of titles; returns how many. */
int gates_judge(const struct gates *g, const bool programs[PROGRAMS], const struct rows *rows, FILE *out);

#endif
