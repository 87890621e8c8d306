/* The options of a command line, the same for every benchmark. */
#ifndef GTMARK_BENCH_OPTIONS_H
#define GTMARK_BENCH_OPTIONS_H

#include "analysis/record/record.h"
#include "analysis/tables/printer.h"
#include "bench/base/message.h"
#include "bench/cli/axes.h"
#include "bench/cli/gates_parse.h"
#include "bench/flops/executed.h"
#include "bench/machine/device.h"
#include "bench/machine/link.h"
#include "bench/machine/peaks.h"
#include "graphs/inputs.h"
#include "models/layers/model.h"

/* A benchmark: a name, a sentence and the default sweep. */
struct bench {
    const char *name, *doc;
    enum axis axis;
    const char *values;     /* as axis_parse reads them */
    const char *gpu_values; /* on a GPU, which launches alone keep busy with little work; null: the same */
    const char *also[AXES]; /* likewise for other axes; null: canonical workload */
    double budget;          /* seconds; 0: 60 */
    /* Without --phase, larger graphs, and solvers after the first, only encode; 0: no limit. */
    int64_t model_nodes;
    bool steps;   /* without --phase: only training steps are timed */
    bool whole;   /* reports everything: profile, memory, cold start */
    bool kernels; /* times single ops (bench/cli/kernels.c) */
};

enum action {
    ACTION_RUN,
    ACTION_DRY_RUN,
    ACTION_HELP,
    ACTION_VERSION,
    ACTION_LIST_TAPE, /* and on, in the order of --list */
    ACTION_LIST_DEVICES,
    ACTION_LIST_MODELS,
    ACTION_LIST_PRESETS,
    ACTION_LIST_GRAPHS,
    ACTION_LIST_OPS
};

enum energy_rows { ENERGY_SOME, ENERGY_NO, ENERGY_ALL }; /* some: the first, the middle and the last */

struct sampling_options {
    int warmup; /* runs before the first sample; -1: by time, at least one run */
    int runs;   /* samples of all turns; 0: by the budget */
    int turns;
    int cold; /* cold-cache samples; -1: COLD_DEFAULT on a device, none on the host */
    enum energy_rows energy;
    double budget;  /* seconds, for the sweep and all around it */
    double began;   /* the clock at the first line of the run */
    double timeout; /* seconds of sampling per row; 0: no limit */
};

struct check_options {
    bool wanted;   /* check the results, after the timing */
    double budget; /* seconds for the FP64 reference; programs that need more are checked by rows */
};

struct output_options {
    enum format format;
    int columns_count;
    const char *columns[TABLE_COLUMNS]; /* of tables and CSV, by name; none: the default */
    const char *file;                   /* result file; null: the default; "-": stdout */
    const char *trace;                  /* replay of every program; null: none */
    const char *dump;                   /* directory for the arrays of a step; null: none */
    bool resume;                        /* continue the result file */
    bool charts;                        /* beside the result file */
    bool all;                           /* print all rows of kernels, all tables of a model */
};

/* The largest size within a limit (--find). */
enum largest_kind { LARGEST_NONE, LARGEST_MEMORY, LARGEST_LATENCY };

struct largest {
    enum largest_kind kind;
    enum axis axis; /* nodes, batch, layers or hidden */
    double limit;   /* bytes or seconds; 0: 90 % of free memory */
    bool decimal;   /* given in GB, not GiB: answers are too */
};

/* Where one variant overtakes another (--find). */
enum crossover_kind { CROSSOVER_NONE, CROSSOVER_AXIS, CROSSOVER_OPS, CROSSOVER_ENCODING };

struct crossover {
    enum crossover_kind kind;
    const char *values; /* of the variants: "dense,sparse" */
    enum axis variants; /* AXIS: which axis they are values of */
    int program;        /* ENCODING: the program of the same row that the encoding is compared with */
    enum axis over;     /* nodes, degree, batch or layers */
};

/* A part of the sweep (--shard), chosen by bench/sweep/shard.c. */
struct shard_options {
    int index, of;  /* 1 to `of`; 0: the whole sweep */
    int64_t rows;   /* of the sweep */
    char sweep[17]; /* hash of the works of all rows */
};

struct run_plan {
    struct config *list;
    int64_t count;
};

/* A kernel that is timed alone, for a form of its op. */
struct timed_kernel {
    const struct kernel *kernel;
    struct form form;
};

/* Kernels and models of others (--plugin). */
struct plugin_options {
    const char *file; /* null: none */
    struct plugin *opened;
    char id[128];       /* its name and the hash of its bytes */
    const char *models; /* --model, which is read when the library is open; null: not given */
};

enum plan_for { PLAN_FOR_CPU, PLAN_FOR_CUDA };

struct options {
    const struct bench *bench;
    FILE *out; /* of results: what was stdout */
    enum action action;
    struct axis_values axes[AXES];
    bool given[AXES];          /* on the command line */
    int cores;                 /* granted to the process, asked for once */
    int threads;               /* for --threads 0 of one rank, likewise */
    const struct ranks *world; /* all ranks that were started; null: this process alone */
    bool weak;                 /* a batch for each rank (--weak) */
    struct device_choice device;
    enum plan_for plan_for; /* which device plans are for */
    struct plugin_options plugin;
    bool cuda_graph;                     /* replay each program as one graph: on a GPU */
    bool launched;                       /* not as a graph (--no-cuda-graph) */
    const char *variant[OPS][FORMS_MAX]; /* of each form (--impl) */
    bool programs[PROGRAMS];
    int64_t model_nodes;          /* as in struct bench, if --phase is not given */
    bool forms[FORMS];            /* of ops, chosen by --op: by form_at */
    struct timed_kernel *kernels; /* timed alone, in row order; null: programs are timed */
    int kernel_count;
    uint64_t seed;
    struct graph_tables tables; /* for graphs from files */
    bool profile;
    bool summed;              /* of the profile only the sum, the predicted time, is wanted */
    unsigned conventions;     /* of --flop-convention, a bit each */
    bool roofline;            /* compare rates with the machine's peak rates */
    bool calibrate;           /* measure them again */
    struct given_peaks peaks; /* another machine's, for --device meta (--peaks); count 0: none */
    struct links links;       /* between ranks, for predictions: measured, or given (--peaks) */
    enum count_mode count;    /* how executed FLOPs are measured */
    struct sampling_options sampling;
    struct check_options check;
    double mem_limit;           /* bytes; 0: what is free */
    struct largest largest;     /* sizes to find; kind NONE: the axis has them */
    struct crossover crossover; /* variants to compare along an axis; kind NONE: none */
    struct gates gates;         /* for every row */
    struct record *baseline;    /* an older result file, for comparison; null: none */
    const char *against;        /* an older build to run in turns with this one; null: none */
    struct lenience lenience;
    struct shard_options shard;
    struct output_options output;
    struct value *tags;   /* of --tag; null: none */
    struct run_plan plan; /* of actions that look at rows */
};

const char *bench_values(const struct bench *b, enum axis a);

/* The peak rates to compare rows with; those that the calibration file has. */
struct peaks_request options_peaks(const struct options *o);
struct peaks options_kept_peaks(const struct options *o);

bool options_print_profile(const struct options *o);

/* Bytes that the host may use: --mem-limit, or what is free. */
double options_host_memory(const struct options *o);

void options_free(struct options *o);

/* --- the arguments of --peaks: a file with calibrations, or rates; or those of the link between ranks */

/* Reads the calibrations of a result file, or "peak=60GFLOP/s,dram=20GB/s". False with a message. What it has
 * read before is freed; to be freed by given_peaks_free. */
bool peaks_parse(const char *text, struct given_peaks *g, struct message *error);

/* Reads what follows link=: "400Gb/s,2us" or a result file, in the place of what was read before. */
bool link_parse(const char *text, struct links *all, struct message *error);

/* Keeps only the last with the most threads. */
void given_peaks_keep_largest(struct given_peaks *g);

bool given_peaks_have(const struct given_peaks *g, int threads);

void given_peaks_free(struct given_peaks *g);

#endif
