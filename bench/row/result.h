/*
 * The typed results of one configuration. result_row (result_row.h) converts them to a row of the result
 * file, once, at the end.
 */
#ifndef GTMARK_BENCH_RESULT_H
#define GTMARK_BENCH_RESULT_H

#include "analysis/record/profile.h"
#include "analysis/record/row.h"
#include "analysis/record/utc.h"
#include "bench/base/memory.h"
#include "bench/row/cold_start.h"
#include "bench/row/forecast.h"
#include "bench/row/job.h"
#include "bench/row/verify.h"
#include "bench/row/workload.h"
#include "bench/time/cold.h"
#include "bench/time/energy.h"
#include "bench/time/exchange.h"
#include "bench/time/launching.h"
#include "graphs/batching.h"
#include "graphs/csr.h"
#include "models/encodings/bound.h"
#include "models/tape/conventions.h"

enum { PASSES = 12 }; /* measurements after the samples (passes.h) */

/* One program of the row. Zero where not reached. */
struct program_result {
    const char *unwanted; /* why it is not run; null if it is */
    bool planned;
    struct plan plan;
    char peak_op[128];        /* the entry at which the plan's peak is reached */
    struct cost cost[PHASES]; /* analytic */
    struct cost *entry;       /* of each entry; null if not to be timed */
    int entries;
    int64_t convention[CONVENTIONS]; /* FLOPs as other counters count them; -1 beyond 63 bits */

    int64_t batched[BATCHINGS]; /* FLOPs with each way of batching; -1 beyond 63 bits */

    const struct samples *samples; /* of all turns; null if none */
    struct cold cold;
    struct launching launching;
    struct eager_runs eager; /* n 0: the samples are launched, not replays of a graph */
    struct energy energy;
    struct exchange exchange;
    struct forecast forecast;
    struct resident resident;
    const char *resident_missing; /* why resident.program is missing; null if it is not */
    struct profile profile;
    int64_t counted; /* FLOPs */
    struct executed executed;
    bool done[PASSES];
    struct message missing[PASSES]; /* why a pass has no result; empty if it has one or was not reached */
};

/* The batch of graphs of a row. */
struct graph_result {
    bool known; /* it was generated, or only planned: then degrees are not known */
    bool planned;
    int64_t nodes, graphs, edges, pairs, bytes;
    int64_t parameters; /* of the model */
    int64_t bandwidth;
    double order_seconds; /* 0: not ordered */
    char inputs[64];      /* of the model, from the graph's files */
    struct batching_work work[BATCHINGS];
    int64_t encoding_storage;    /* bytes; 0 without an encoding */
    struct encoding_bound bound; /* of the encoding; zero without one */
    struct degrees degrees;
};

/* The parts of several ranks. */
struct group_result {
    int count; /* 0: one rank alone, or not loaded */
    int64_t nodes_max, nodes_min, edges_max, edges_min, memory;
    bool divided; /* the nodes, not the graphs; else these are 0: */
    int64_t ghosts_max, cut;
    double imbalance;
    double partition_seconds; /* NAN: nodes are divided by their numbers */
};

struct result {
    const struct job *job;
    char started[UTC_TEXT]; /* empty: not begun */
    struct outcome outcome;
    struct graph_result graph;
    const struct encoded *encoded; /* null if none */
    bool probed;
    struct noise noise; /* of the machine, just before the row */
    struct program_result program[PROGRAMS];
    struct group_result group;
    struct checked checked;
    struct cold_start cold_start;
};

/* Stores the plan and the costs of a recorded program. */
void result_plan(struct program_result *p, struct tape *t);

/* Keeps the cost of each entry, for the bound of the program's time; to be freed. */
void result_entries(struct program_result *p, const struct tape *t);

/* Takes the costs of a program that was loaded on several ranks from all of them, and what their parts are.
 */
void result_group(struct group_result *g, struct program_result *p, const struct workload *w);

/* What the row says of its batch. */
void result_graph(struct graph_result *g, const struct workload *w);

/* FLOPs and bytes of all phases. */
struct cost result_cost(const struct program_result *p);

#endif
