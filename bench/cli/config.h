/* One configuration of a sweep: a value for every axis. */
#ifndef GTMARK_BENCH_CONFIG_H
#define GTMARK_BENCH_CONFIG_H

#include "bench/cli/options.h"
#include "bench/cli/parallel.h"
#include "graphs/order.h"

struct config {
    int preset; /* see preset_at */
    int model;  /* index among models */
    struct model_config parts;
    struct graph_config graph;
    struct graph_tables tables; /* beside a graph from a file */
    enum order order;           /* of the nodes of each graph */
    int threads;
    int ranks;                       /* that share the row */
    enum parallel parallel;          /* how they do */
    enum node_partition partition;   /* which nodes each has */
    int64_t index;                   /* among the configurations of the sweep */
    int64_t position;                /* in the sweep, of which --shard may run a part */
    const struct encoding *encoding; /* of the graph's nodes; null until computed */
    const struct kernel *kernel;     /* timed alone; null: programs of the model */
};

/* The product of the axes, and of the kernels timed alone; solvers only multiply spectral encodings. With a
 * shard that is chosen, its rows. */
int64_t config_count(const struct options *o);

/* The configuration at an index; axes vary in the order of axes_swept, kernels slowest. */
struct config config_at(const struct options *o, int64_t index);

/* Replaces what axes leave to others, as their defaults do: the branches of the model, the width of the FFN,
 * the nodes and the degree of a shape.
 */
void config_complete(struct config *c);

/*
 * The axis values at an index, as in struct axis_values; one of them as found by --find. An encoding
 * without eigenvectors has the first solver. Returns the index of the kernel.
 */
int64_t config_values(const struct options *o, int64_t index, double value[AXES]);

/*
 * The axes whose value is not that of the configuration's preset, as in "layers, hidden"; empty if there is
 * none.
 */
void config_changes(const struct config *c, char *text, size_t size);

/* Whether a program is measured: it was requested, and a limit on models (struct bench) permits it. */
bool config_runs(const struct options *o, const struct config *c, enum program_kind kind);

/* Whether every configuration is possible; otherwise a message that names the flags. */
bool config_check_all(const struct options *o, struct message *error);

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

/* Sets an axis to one of its values. */
void config_set(struct config *c, enum axis a, const struct axis_values *v, double value);

/*
 * The hash of everything that defines the work, 16 hexadecimal digits: rows with the same hash did the same
 * work. Dense and unfused attention have the same hash, and so have all solvers; for a graph from a file the
 * file's bytes are hashed.
 */
void config_work(const struct config *c, uint64_t seed, char hash[17]);

#endif
