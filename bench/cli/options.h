/* What a command line asks for, the same for every benchmark. */
#ifndef GTMARK_BENCH_OPTIONS_H
#define GTMARK_BENCH_OPTIONS_H

#include "analysis/record/record.h"
#include "bench/cli/axes.h"
#include "bench/cli/gates_parse.h"
#include "bench/cli/largest_parse.h"
#include "bench/flops/executed.h"
#include "bench/machine/ceilings.h"
#include "bench/machine/device.h"
#include "models/layers/model.h"

/* A benchmark is a name, a sentence and the axis that it sweeps by default. */
struct bench {
    const char *name, *doc;
    enum axis axis;
    const char *values;     /* in the language of axis_parse */
    const char *also[AXES]; /* likewise of other axes; null: the canonical workload's */
    double budget;          /* seconds; 0: 60 */
    int64_t model_nodes; /* without --phase, larger graphs, and others than the first solver, only encode; 0:
                            no such limit */
    bool steps;          /* without --phase, only training steps are timed */
    const char *const *columns; /* of the table: see analysis/tables/table.h; null: the usual ones */
    bool whole;                 /* says everything about a row: profile, memory, first answer */
    bool kernels;               /* of ops alone, not of programs: see bench/cli/kernels.h */
};

enum format { FORMAT_TABLE, FORMAT_MARKDOWN, FORMAT_CSV, FORMAT_JSON, FORMAT_JSONL };

enum action {
    ACTION_RUN,
    ACTION_DRY_RUN,
    ACTION_LIST_TAPE,
    ACTION_HELP,
    ACTION_VERSION,
    ACTION_LIST_MODELS,
    ACTION_LIST_GRAPHS,
    ACTION_LIST_OPS,
    ACTION_LIST_DEVICES
};

struct sampling_options {
    int warmup; /* runs before the first sample; -1: for a tenth of a second, at least one */
    int runs;   /* samples; 0: by the sampling rule */
    int min_samples;
    int cold;         /* samples with emptied caches; -1: COLD_DEFAULT on a device, none on the host */
    double budget;    /* seconds for the sweep */
    double max_noise; /* half-width of the median's interval over the median */
    double timeout;   /* seconds of sampling for a row; 0: without end */
    bool interleave;  /* take the samples of all rows in random turns */
};

struct check_options {
    bool wanted;   /* check the results, after the timing */
    double budget; /* seconds of oracle beyond which a program is checked by rows */
};

struct output_options {
    enum format format;
    const char *file;  /* result file; null: the default place */
    const char *trace; /* file for a replay of every program; null: none */
    const char *dump;  /* directory for a step's arrays; null: none */
    bool resume;       /* go on with the result file */
    bool charts;       /* drawn beside the result file */
};

struct options {
    const struct bench *bench;
    enum action action;
    struct axis_values axes[AXES];
    bool given[AXES]; /* on the command line */
    struct device_choice device;
    bool cuda_graph; /* a program is replayed as one graph */
    const char *variant[OPS];
    bool programs[PROGRAMS];
    int64_t model_nodes;           /* as of the benchmark, where no phase is asked for */
    bool ops[OPS];                 /* chosen by --op */
    const struct kernel **kernels; /* that are timed alone, in the order of rows; null: programs are timed */
    int kernel_count;
    uint64_t seed;
    bool profile;
    bool roofline;         /* set rates against the machine's ceilings */
    bool calibrate;        /* and measure these anew */
    enum count_mode count; /* how executed FLOPs are measured */
    struct sampling_options sampling;
    struct check_options check;
    double mem_limit;        /* bytes; 0: what the machine has */
    struct largest largest;  /* sizes that are to be found; kind NONE: the axis says them */
    struct gates gates;      /* that every row must pass */
    struct record *baseline; /* record of an older run that no row may be slower than; null: none */
    const char *against;     /* an old build to run in turns with this one; null: none */
    struct output_options output;
};

/* What the benchmark sweeps an axis over unless the command line says otherwise. */
const char *bench_values(const struct bench *b, enum axis a);

/* The ceilings that the rows are set against. */
struct ceilings_request options_ceilings(const struct options *o);

void options_free(struct options *o);

#endif
