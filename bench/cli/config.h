/* One configuration of a sweep: a value for every axis. */
#ifndef GTMARK_BENCH_CONFIG_H
#define GTMARK_BENCH_CONFIG_H

#include "bench/cli/options.h"

struct config {
    const struct model *model;
    struct model_config parts;
    struct graph_config graph;
    int threads;
    const struct encoding *encoding; /* of the graph's nodes, once it was computed; null before */
    const struct kernel *kernel;     /* that is timed alone; null: programs of the model */
};

/* How many configurations the options ask for: the product of their axes, for each kernel that is timed
 * alone. Solvers only multiply encodings by eigenvectors. */
int64_t config_count(const struct options *o);

/* The configuration at an index; the axes vary in the order of enum axis, the last fastest, kernels
 * slowest. */
struct config config_at(const struct options *o, int64_t index);

/* The values of its axes, as struct axis_values holds them; of nodes the size that --find-max-nodes found. Of
 * an encoding without eigenvectors the solver is the first. */
void config_values(const struct options *o, int64_t index, double value[AXES]);

/* Whether a program is measured: one that was asked for. Where only small graphs' models are, it is not of a
 * graph beyond that limit, nor with the encoding that the first solver's row has too. */
bool config_runs(const struct options *o, const struct config *c, enum program_kind kind);

/* Whether every configuration makes sense; else a message that names the flags. */
bool config_check_all(const struct options *o, struct message *error);

/* Records a program of the configuration for a backend and dtype, with the kernel variants of the options. On
 * the host its replays end at the next entry after a signal (bench/base/interrupt.h). */
struct recording config_record(const struct config *c, const struct options *o, const struct batch *b,
                               enum program_kind kind, const struct backend *backend, enum dtype dtype);

/*
 * The hash of everything that defines the work, 16 hexadecimal digits: rows that share it did the same work.
 * Dense and unfused attention do, and encodings by whatever solver; of a graph that is read, its file's bytes
 * are part of it.
 */
void config_work(const struct config *c, uint64_t seed, char hash[17]);

#endif
