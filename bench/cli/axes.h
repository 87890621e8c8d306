/* The axes of a sweep, which is the cartesian product of their values, and the syntax of these. */
#ifndef GTMARK_BENCH_AXES_H
#define GTMARK_BENCH_AXES_H

#include "bench/base/message.h"

enum axis {
#define AXIS(id, flag, group, name, kind, place, standard, pace, work, dump, unit, symbol, help, meaning)    \
    AXIS_##id,
#include "analysis/record/axes.def"
    AXES
};

enum axis_kind { AXIS_WHOLE, AXIS_NUMBER, AXIS_NAME, AXIS_TEXT };

struct axis_values;
struct encoding_config;
struct model;

enum axis_work { WORK_NEVER, WORK_ALWAYS, WORK_GRAPH, WORK_CHANGED };

/* A line of analysis/record/axes.def, which explains its columns. */
struct axis_info {
    const char *name, *field;
    enum axis_kind kind;
    double min, max;                  /* of numbers */
    const char *(*choice)(int index); /* names: the allowed ones; texts: examples; null past the last */
    int first;                        /* names: enumerator of the first choice */
    /* texts: the item as rows have it, allocated; null if not allowed, perhaps with the reason in why.
     * Appends what --pe means to the values. */
    char *(*canonical)(const char *item, struct axis_values *v, struct message *why);
    bool of_model;        /* rows of a single op do not have it */
    const char *standard; /* value in the canonical workload */
    int pace;
    enum axis_work work;
    const char *dump, *help;
};

/* Values of an axis: a name by its index among the choices, a text by its index in `texts`, canonical. */
struct axis_values {
    double *values;
    int count;
    char **texts;                      /* of AXIS_TEXT, one for each value */
    struct encoding_config *encodings; /* of --pe, likewise: what the texts mean */
    const struct model *others;        /* of --model: those of a plug-in; they stay */
};

/* A value of an axis of kind AXIS_TEXT. */
const char *axis_text(const struct axis_values *v, double value);

/* More rows than this are certainly a mistake, in a list or in a sweep. */
enum { AXIS_VALUES_MAX = 100000 };

const struct axis_info *axis_info(enum axis a);

/* The axis of this name; AXES if there is none. */
enum axis axis_named(const char *text, size_t length);

/* The axes in sweep order; the last varies fastest. */
void axes_swept(enum axis order[AXES]);

/*
 * Parses a comma list of values and ranges: "100,500", "1k-16k*2" (factor), "2-16+2" (step); K, M and G are
 * powers of 1000. A comma before KEY= belongs to the value: "er,sbm:blocks=8,p_in=.1". Values must be
 * distinct. Replaces the contents of `out`. False with a message that says what is allowed.
 */
bool axis_parse(enum axis a, const char *text, struct axis_values *out, struct message *error);

void axis_values_free(struct axis_values *v);

/* --- how several ranks share the work: the graphs of a batch, or the nodes (models/layers/layers.h) */

enum parallel { PARALLEL_DATA, PARALLEL_HALO, PARALLEL_ULYSSES, PARALLEL_RING, PARALLELS };

/* Which nodes a rank has if ranks divide them: consecutive ones, or as METIS divides the graph. */
enum node_partition { PARTITION_RANGE, PARTITION_METIS, NODE_PARTITIONS };

/* "data"; null if there is no such way. */
const char *parallel_name(int way);

/* "range"; null if there is no such partition. */
const char *partition_name(int partition);

#endif
