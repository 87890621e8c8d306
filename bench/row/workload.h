/*
 * The workload of a row: a batch of graphs, its encoding, and the programs recorded over them. It is either
 * planned (shapes, costs and memory of any size; nothing is generated) or opened (graphs generated or read).
 */
#ifndef GTMARK_BENCH_WORKLOAD_H
#define GTMARK_BENCH_WORKLOAD_H

#include "bench/cli/config.h"
#include "bench/row/encode.h"
#include "graphs/batching.h"
#include "graphs/partition.h"
#include "kernels/ranks.h"
#include "models/tape/conventions.h"

/* The status of a row, and the reason if it is not "ok". */
struct outcome {
    const char *status; /* ok, skipped, oom, failed, wrong */
    struct message reason;
};

/* Sets both and returns false. */
bool outcome_set(struct outcome *o, const char *status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* For a step that could not be done: "oom" if the reason says that there was no memory, else "failed". */
bool outcome_fail(struct outcome *o, const char *reason);

bool outcome_is_ok(const struct outcome *o);

/* A rank's part of a program. */
struct rank_facts {
    bool good;             /* so far */
    bool oom;              /* it is not, for want of memory */
    struct message reason; /* if it is not */
    int64_t nodes, edges, arena;
    int64_t halo_nodes, cut; /* of nodes that are divided (graphs/halo.h) */
    struct cost cost[PHASES];
    int64_t convention[CONVENTIONS]; /* FLOPs as other counters count them */
};

/* What rank 0, which measures as if it were alone, tells the others, which follow it. */
struct group_order {
    enum { GROUP_PARTITION, GROUP_PROGRAM, GROUP_CLOSE, GROUP_LINK, GROUP_END } kind;
    int64_t index; /* of the configuration; for GROUP_LINK the number of ranks */
    enum program_kind program;
};

/* What several ranks, which each have a part of the batch, have of a workload; unset for one alone. */
struct work_group {
    const struct ranks *ranks;
    struct ranks planned;        /* these, of a plan: they have numbers, and can do nothing */
    struct batch whole;          /* the shape of the batch of all */
    struct partition *partition; /* that it made on rank 0; null: none */
    double partition_seconds;    /* that making it took */
    struct batch *parts;         /* once asked for, the shapes of those of the other ranks, by rank */
    struct rank_facts *facts;    /* on rank 0, of each rank and the last program loaded */
};

struct workload {
    const struct options *options;
    struct config config; /* config.encoding points to the argument of workload_encode */
    struct batch batch;
    double order_seconds; /* that ordering its nodes took */
    struct work_group group;
};

/* The batch of all ranks; for several only its shape. */
const struct batch *workload_whole(const struct workload *w);

/* Whether its programs need the numbers of the edges; then the batch has them (batch_number_edges). */
bool workload_numbers_edges(const struct options *o, const struct config *c);

/* Only computes the shape of the batch, of several ranks that of the first. False with a message if there is
 * no such graph, or, with batch.peak above config.graph.limits.memory, no memory to build it. */
bool workload_plan(struct workload *w, const struct options *o, const struct config *c,
                   struct message *error);

/* The same in place of what w, planned or zero, is of; the same drawn graphs are not planned again. */
bool workload_plan_next(struct workload *w, const struct options *o, const struct config *c,
                        struct message *error);

/*
 * Generates or reads the batch if memory suffices; with --device meta only plans it. False with the outcome.
 */
bool workload_open(struct workload *w, const struct options *o, const struct config *c,
                   struct outcome *outcome);

/* The same without checking memory. False with a message. */
bool workload_generate(struct workload *w, const struct options *o, const struct config *c,
                       struct message *error);

/*
 * Takes a turn of the encoding, if the configuration has one; without a rule only uses that of an earlier
 * turn. Programs recorded later use it. False with the outcome if it could not be computed or is not correct.
 */
bool workload_encode(struct workload *w, struct encoded *e, const struct sampling *rule,
                     struct outcome *outcome);

/* Records a program for the device, with the kernels chosen by --impl. Replays on the host stop after a
 * signal. The caller frees the tape. */
struct recording workload_record(const struct workload *w, enum program_kind kind);

/* The same for the FP64 reference, in double (F64) or float (F32), and without checkpoints. */
struct recording workload_record_reference(const struct workload *w, enum program_kind kind,
                                           enum dtype dtype);

/* The analytic FLOPs of a program with the same edges, but so many rows and pairs; -1 beyond 63 bits. */
int64_t workload_flops(const struct workload *w, enum program_kind kind, struct batching_work work);

/* Opens the BLAS if a kernel of the tape calls it. False with the outcome. */
bool workload_open_blas(const struct workload *w, const struct tape *t, struct outcome *outcome);

/* Whether the device had no fault since device_recover. Otherwise the outcome is "oom", if it had no memory
 * for `what`, or "failed". */
bool workload_went_on(const struct options *o, const char *what, struct outcome *outcome);

/* Allocates the memory of a recorded program, opens the BLAS for it, and makes it ready to replay: on a GPU
 * after a first run, unless --no-cuda-graph is given as a graph. False with the outcome. */
bool workload_load(const struct workload *w, enum program_kind kind, struct recording *r,
                   struct outcome *outcome);

/* Frees the tape of a program, loaded or not, after the functions of plug-ins that end their runs. */
void workload_unload(struct recording *r);

/* Whether this much memory may be used; if not, sets the outcome. */
bool workload_fits(const struct options *o, const char *what, int64_t bytes, double limit,
                   struct outcome *outcome);

/* Maps the pages of the arena on the host, so that the first run need not. */
void workload_map_pages(const struct tape *t);

/* Bytes that programs may use on their device: --mem-limit, or what is free. */
double workload_limit(const struct options *o);

void workload_close(struct workload *w);

/* --- several ranks */

/* Gives a configuration that is one of several ranks its part. */
void workload_take_part(struct workload *w, const struct ranks *ranks);

/* What the ranks must agree on before each makes its part: with --partition metis rank 0 has the nodes
 * divided, and tells the others, unless this is a plan. Does nothing for one rank. False with a message. */
bool workload_group(struct workload *w, struct message *error);

/* The shape of the part of the first rank, as the batch. False with a message. */
bool workload_plan_first(struct workload *w, struct message *error);

/* Makes the workload of one rank alone from that of several. False without the memory. */
bool workload_alone(struct workload *alone, const struct workload *w);

/* Plans what one of its ranks has, for which nothing needs to have been started; of one rank alone it is the
 * same. Shares the memory of w, and is not closed itself. False with a message. */
bool workload_as_rank(struct workload *own, struct workload *w, int rank, struct message *error);

void workload_drop_group(struct workload *w);

/* A rank's part of a program. */
struct rank_facts workload_facts(const struct workload *w, const struct recording *r);

/* On each of several ranks: lays out a program if all have the memory and the libraries for it; on rank 0
 * with the outcome. A rank that could not make its part has no recording, and in `outcome` why. */
bool workload_lay_out(const struct workload *w, const struct ranks *ranks, struct recording *r,
                      struct outcome *outcome);

/* On rank 0: tells all other ranks. Does nothing where there are none. */
void orders_tell(const struct options *o, struct group_order order);

/* On all ranks: all get the partition of rank 0. False, on all, if one has no memory for it. */
bool orders_share(const struct ranks *r, struct rank_facts *facts, struct partition *p);

/* On rank 0: the other ranks lay out the program too, and follow its tape. False with the outcome. */
bool workload_load_together(const struct workload *w, enum program_kind kind, struct recording *r,
                            struct outcome *outcome);

/* --- what each rank has of the batch of a configuration, whose `graph` says which of them this is */

/* Whether ranks divide the nodes, not the graphs. */
bool parts_divided(const struct config *c);

/* Makes the batch of all ranks, which METIS divides, and drops it. Sets the seconds that METIS took, and the
 * peak bytes. False with a message. */
bool parts_partition(struct partition *p, const struct config *c, double *seconds, int64_t *peak,
                     struct message *error);

/* The shapes of the parts of all ranks, to be freed, even if not made; then the peak is in the first. */
struct batch *parts_shape(const struct config *c, bool *made, struct message *error);

/* The ranks that follow rank 0: each makes its own part of the batch, records and lays out the same programs,
 * and follows rank 0's tapes (models/tape/follow.c). */

/*
 * On all ranks, once each has read its command line: whether all could, and have the same one, the same
 * build and kernels of the same instruction set. If not, one of them has the message why; it is empty on the
 * others.
 */
bool group_agrees(const struct ranks *world, const char *program, int argc, char **argv, bool parsed,
                  struct message *error);

/* On all ranks, with the same options, before anything else: forms the groups of the sweep. */
void group_form(const struct options *o);

/* On rank 0: measures between the ranks of each group what exchanges take, for predictions. */
void group_calibrate(struct options *o);

/* On the other ranks: until rank 0 says that it is the end. */
void group_serve(const struct options *o);

#endif
