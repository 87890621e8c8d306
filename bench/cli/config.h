/* One configuration of a sweep: a value for every axis. */
#ifndef GTMARK_BENCH_CONFIG_H
#define GTMARK_BENCH_CONFIG_H

#include "bench/cli/options.h"

struct config {
    int model; /* index among models */
    struct model_config parts;
    struct graph_config graph;
    int threads;
    const struct encoding *encoding; /* of the graph's nodes, once it was computed; null before */
    const struct kernel *kernel;     /* that is timed alone; null: programs of the model */
};

/* How many configurations the options ask for: the product of their axes, for each kernel that is timed
 * alone. Solvers only multiply encodings by eigenvectors. */
int64_t config_count(const struct options *o);

/* The configuration at an index; the axes vary in the order of axes_swept, kernels slowest. */
struct config config_at(const struct options *o, int64_t index);

/* The values of its axes, as struct axis_values holds them; of nodes the size that --find-max-nodes found. Of
 * an encoding without eigenvectors the solver is the first. */
void config_values(const struct options *o, int64_t index, double value[AXES]);

/* Whether a program is measured: one that was asked for. Where only small graphs' models are, it is not of a
 * graph beyond that limit, nor with the encoding that the first solver's row has too. */
bool config_runs(const struct options *o, const struct config *c, enum program_kind kind);

/* Whether every configuration makes sense; else a message that names the flags. */
bool config_check_all(const struct options *o, struct message *error);

/* A value of an axis, by its kind, as rows have it. */
struct axis_value {
    enum axis_kind kind;
    const char *text;
    int64_t count; /* of AXIS_WHOLE */
    double real;   /* of AXIS_NUMBER */
    char buffer[64];
    const char *missing; /* why rows do not have it; null: they have */
};

/* Reads an axis of a configuration. `text` may point into *v, which is not to be copied. */
void config_axis(const struct config *c, enum axis a, struct axis_value *v);

/* Sets an axis to one of its values. */
void config_set(struct config *c, enum axis a, const struct axis_values *v, double value);

/*
 * The hash of everything that defines the work, 16 hexadecimal digits: rows that share it did the same work.
 * Dense and unfused attention do, and encodings by whatever solver; of a graph that is read, its file's bytes
 * are part of it.
 */
void config_work(const struct config *c, uint64_t seed, char hash[17]);

#endif
