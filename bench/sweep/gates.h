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

#include "bench/cli/gates_parse.h"
#include "models/layers/model.h"

/* Prints tables of the rows that miss a gate and, if strict also misses, of those whose range does and does
 * not keep it; returns how many misses there are. */
int gates_judge(const struct gates *g, const bool programs[PROGRAMS], const struct rows *rows, bool strict,
                FILE *out);

/* Names the rows that a gate passed although their results were not checked. Returns the number of misses:
 * these rows, unless they are allowed. */
int gates_judge_unchecked(const struct rows *rows, bool allowed, FILE *out);

#endif
