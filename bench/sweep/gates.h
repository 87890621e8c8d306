/*
 * Gates: limits for the rows of a run, for continuous integration.
 *
 *     --threshold latency:100ms,step.memory:2GiB,p99:1s,flops:1TFLOP,throughput:1k/s,error:1e-4
 *
 * Latency is a program's median time, p99 the 99th percentile of its samples, throughput its graphs per
 * second, both for the whole range of the time (p99: for what may have been lost to other programs),
 * most.NAME and least.NAME limit a metric of a plug-in, memory is its planned arena, flops its analytic
 * FLOPs; error is the row's error.norm. Of an encoding memory is its peak. Without "forward.", "step.",
 * "kernel." or "encoding." a gate applies to every requested program. A value that should have been measured
 * but was not misses its gate.
 */
#ifndef GTMARK_BENCH_GATES_H
#define GTMARK_BENCH_GATES_H

#include <stdio.h>

#include "analysis/compare/exact.h"
#include "analysis/record/record.h"
#include "bench/cli/gates_parse.h"
#include "models/layers/model.h"

/* Prints tables of the rows that miss a gate and, if strict also misses, of those whose range does and does
 * not keep it; returns how many misses there are. */
int gates_judge(const struct gates *g, const bool programs[PROGRAMS], const struct rows *rows, bool strict,
                FILE *out);

/* Names the rows that a gate passed although their results were not checked. Returns the number of misses:
 * these rows, unless they are allowed. */
int gates_judge_unchecked(const struct rows *rows, bool allowed, FILE *out);

/* --- the verdict of a gate on a comparison of this run (B) with a baseline or another build (A) */

/*
 * Prints the comparison and what misses the gate: programs that are slower; rows and programs that were
 * not compared, unless that is allowed; if strict, also programs of which it is inconclusive whether they are
 * slower by more than the margin. Returns the number of misses; at least 1 if nothing was judged.
 */
int gate_pairs(FILE *out, const struct comparison *c, struct lenience how);

/* The same of what is planned: prints what misses the gate, figures that are more than in the baseline, rows
 * that are no longer ok and what was not compared, and notes what is less. */
int gate_exact(FILE *out, const struct exact *found, struct lenience how);

/*
 * --baseline: which rows are slower than in an older result file.
 *
 * The machine may have changed between the two runs, so a difference must exceed a margin: 5 %, or the spread
 * between blocks of samples where that is more, in this run or the older one. For the spread to show such
 * changes, samples are taken in turns over the whole run.
 *
 * A program is slower if the whole interval of the ratio lies beyond the margin. A ratio beyond it is not
 * enough: the margin stands for what the machine itself changes from run to run, and an interval that reaches
 * into it does not exclude that this is all there is. So a slowdown is found if it exceeds the margin by half
 * the width of the interval; where noise makes that too much, --against is the gate to use.
 */

/* Compares these programs and timed encodings, and prints that. Returns the misses, as gate_pairs. */
int baseline_judge(const struct rows *base, const struct rows *rows, const bool programs[PROGRAMS],
                   struct lenience how, FILE *out);

/* Compares what is planned (analysis/compare/exact.h): rows of the record `now` with those of another. */
int baseline_judge_exact(const struct record *base, const struct record *now, const struct rows *rows,
                         const bool programs[PROGRAMS], struct lenience how, FILE *out);

#endif
