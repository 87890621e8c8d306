/* Synthetic records for the tests of analysis/: complete, valid rows whose values follow simple formulas. */
#ifndef GTMARK_TESTS_TEST_ANALYSIS_ROWS_H
#define GTMARK_TESTS_TEST_ANALYSIS_ROWS_H

#include "analysis/record/record.h"
#include "analysis/record/schema.h"
#include "tests/test.h"

#include <math.h>
#include <string.h>

static inline void set_axes(struct row *row, int64_t nodes)
{
    row_set_text(row, "work", "0123456789abcdef");
    row_set_text(row, "model", "graph_transformer");
    row_set_text(row, "device", "cpu");
    row_set_text(row, "dtype", "f32");
    row_set_count(row, "nodes", nodes);
    row_set_real(row, "degree", 5);
    row_set_count(row, "batch", 1);
    row_set_count(row, "layers", 6);
    row_set_count(row, "hidden", 256);
    row_set_count(row, "heads", 8);
    row_set_count(row, "ffn", 512);
    row_set_text(row, "act", "gelu");
    row_set_text(row, "norm", "layer");
    row_set_count(row, "threads", 2);
    row_set_count(row, "seed", 42);
    row_set_count(row, "graph.edges", 5 * nodes);
    row_set_count(row, "graph.pairs", nodes * nodes);
    row_set_count(row, "parameters", 3165185);
}

/* As many equal turns as make a basis for fits. */
static inline void set_equal_turns(struct row *row, const char *path, double seconds)
{
    double samples[REPORTED_MIN];
    for (int i = 0; i < REPORTED_MIN; i++)
        samples[i] = seconds;
    row_set_samples(row, path, samples, REPORTED_MIN);
}

static inline void set_program(struct row *row, const char *program, double seconds, int64_t flops,
                               int64_t bytes)
{
    char path[SCHEMA_PATH];
    double samples[10];
    for (int i = 0; i < 10; i++)
        samples[i] = seconds * (1 + 0.02 * (i * 7 % 10 - 4.5));
    snprintf(path, sizeof path, "%s.time", program);
    row_set_samples(row, path, samples, 10);
    snprintf(path, sizeof path, "%s.flops.analytic", program);
    row_set_count(row, path, flops);
    snprintf(path, sizeof path, "%s.gflops", program);
    row_set_real(row, path, (double)flops / seconds / 1e9);
    snprintf(path, sizeof path, "%s.memory.planned", program);
    row_set_count(row, path, bytes);
}

/* A measured row: a linear and a quadratic part in nodes, as for a transformer with dense attention. */
static inline struct row *good_row(int64_t nodes)
{
    struct row *row = row_new();
    int64_t flops = 6 * (4 * nodes * 256 * 1024 + 4 * nodes * nodes * 256 + 5 * 8 * nodes * nodes);
    row_set_text(row, "status", "ok");
    row_set_text(row, "reason", "");
    row_set_text(row, "checked", "whole");
    set_axes(row, nodes);
    set_program(row, "forward", (double)flops / 55e9, flops, 2000000 + 4096 * nodes);
    set_program(row, "step", (double)flops * 3.1 / 48e9, 3 * flops, 52000000 + 61440 * nodes);
    row_set_count(row, "step.memory.resident", 95000000 + 70000 * nodes);
    row_set_real(row, "loss", 0.25);
    return row;
}

static inline void uncheck(struct row *row, const char *reason)
{
    row_set_text(row, "checked", "none");
    row_explain(row, "checked", reason);
}

static inline struct row *failed_row(int64_t nodes, const char *status, const char *reason)
{
    struct row *row = row_new();
    row_set_text(row, "status", status);
    row_set_text(row, "reason", reason);
    set_axes(row, nodes);
    return row;
}

/* Up to three rows; the others are null. */
static inline struct rows *rows_of(struct row *a, struct row *b, struct row *c)
{
    struct rows *rows = rows_new();
    struct row *list[] = {a, b, c};
    for (int i = 0; i < 3 && list[i]; i++)
        rows_append(rows, list[i]);
    return rows;
}

/* A record without rows. */
static inline struct record *empty_record(void)
{
    struct value *context = value_new_object(), *host = value_new_object();
    struct value *devices = value_new_array(), *libraries = value_new_object();
    value_set_text(host, "cpu", "AMD EPYC 7B13");
    value_append(devices, value_new_text("cpu"));
    value_set_text(libraries, "openblas", "0.3.21");
    value_set(context, "host", host);
    value_set(context, "devices", devices);
    value_set(context, "libraries", libraries);
    value_set_text(context, "compiler", "gcc 12.2.0");
    value_set_text(context, "flags", "-O2");
    value_set_text(context, "commit", "unknown");
    value_set_count(context, "seed", 42);
    return record_new("bench_node_scaling", "bench_node_scaling --nodes 100,500", context);
}

static inline void add_row(struct record *record, struct row *row)
{
    char error[MESSAGE_SIZE];
    if (!record_put(record, rows_count(record_rows(record)), false, row, error))
        fail_msg("%s", error);
}

#endif
