/* One configuration of a sweep: a value for every axis. */
#ifndef GTMARK_BENCH_CONFIG_H
#define GTMARK_BENCH_CONFIG_H

#include "analysis/record/value.h"
#include "bench/cli/options.h"
#include "graphs/order.h"

struct config {
    int preset; /* see preset_at */
    const char *model;
    const char *library; /* the plug-in that the model is from, and the hash of its bytes; null: ours */
    struct model_config parts;
    struct graph_config graph;
    struct graph_tables tables; /* beside a graph from a file */
    enum order order;           /* of the nodes of each graph */
    int threads;
    int ranks;                     /* that share the row */
    enum parallel parallel;        /* how they do */
    enum node_partition partition; /* which nodes each has */
    int64_t index;                 /* in the plan */
    int64_t position;              /* in the sweep, of which --shard may run a part */
    char work[17];                 /* see config_work */
    bool runs[PROGRAMS];           /* requested, and permitted by a limit on models (struct bench) */
    const char *lacks;             /* form of an op without a kernel on the device; null: none */
    bool unfit;                    /* --find: not even the smallest value fits */
    double searched;               /* --find: bytes or seconds of the value that fits, else of the smallest */
    int64_t clear;                 /* --find: the largest tried value that is far within the limit; 0: none */
    const struct encoding *encoding; /* of the graph's nodes; null until computed */
    struct timed_kernel timed;       /* alone; its kernel null: programs of the model */
};

/* Replaces what axes leave to others, as their defaults do: the branches of the model, the width of the FFN,
 * the nodes and the degree of a shape.
 */
void config_complete(struct config *c);

/* The width of the FFN of such a model of this hidden size, unless another is asked for. */
int64_t config_ffn(const struct model_config *c, int64_t hidden);

/* Whether a graph is from a file or has a shape, which determine its size. */
bool graph_has_size(const char *graph);

/* The value of an axis in a row, by its kind. */
struct axis_value {
    enum axis_kind kind;
    const char *text;
    int64_t count; /* AXIS_WHOLE */
    double real;   /* AXIS_NUMBER */
    char buffer[64];
    bool is_absent; /* rows do not have it */
};

/* Reads an axis of a configuration. `text` may point into *v, which must not be copied. */
void config_axis(const struct config *c, enum axis a, struct axis_value *v);

bool config_same(const struct config *c, const struct config *d, enum axis a);

/* Continues a hash (FNV-1a) with the bytes of a file. One that cannot be read, an error that is reported
 * when the file is used, has none. */
uint64_t file_hash(const char *path, uint64_t hash);

void config_set(struct config *c, enum axis a, const struct axis_values *v, double value);

/*
 * The hash of everything that defines the work, 16 hexadecimal digits: rows with the same hash did the same
 * work. Dense and unfused attention have the same hash, and so have all solvers; for a graph from a file the
 * file's bytes are hashed.
 */
void config_work(const struct config *c, uint64_t seed, char hash[17]);

/* --- a configuration as JSON, written by --dump: what another framework needs to repeat the step */

/* The tape is the configuration's step on this batch, laid out and in its initial state. */
struct value *config_describe(const struct config *c, const char *device, const struct batch *b,
                              const struct tape *step);

#endif
