/*
 * The peak rate of communication: how long exchanges of each size take between ranks, and the model of it. A
 * message of n bytes takes alpha + n / beta (Hockney, "The communication challenge for MPP: Intel Paragon and
 * Meiko CS-2", Parallel Computing 20(3), 1994). Of several exchanges, each by a model of its own:
 *
 * message   one message of n bytes to another rank; measured there and back, and halved
 * exchange  n bytes in messages to P - 1 others, one after another: (P - 1) alpha + n / beta
 * sum       of n bytes around a ring (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for
 * clusters of workstations", Journal of Parallel and Distributed Computing 69(2), 2009): 2 (P - 1) alpha + 2
 * (P - 1) / P n / beta
 */
#ifndef GTMARK_BENCH_LINK_H
#define GTMARK_BENCH_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/record/record.h"
#include "analysis/record/value.h"
#include "bench/base/message.h"

struct ranks;

enum link_kind { LINK_MESSAGE, LINK_EXCHANGE, LINK_SUM, LINK_KINDS };

/* What a rank sends one after another for one of a kind: how many messages, and bytes of all. */
struct link_load {
    double messages, bytes;
};

/* Of so many bytes of payload: a reduction's operand, otherwise what a rank sends. */
struct link_load link_load(enum link_kind kind, int ranks, double bytes);

/* The median seconds for a size, and its 95 % interval; NAN if there were too few turns for one. */
struct link_point {
    int64_t bytes;
    double seconds, low, high;
};

/* HOLDS: within LINK_MISS of all times, with their intervals; FAILS: a whole interval is beyond. */
enum link_verdict { LINK_INCONCLUSIVE, LINK_HOLDS, LINK_FAILS };
#define LINK_MISS 0.25

struct link_fit {
    double alpha, beta; /* s, B/s; an infinite beta if time does not grow with the size */
    double error;       /* the largest |model / median - 1| */
    enum link_verdict verdict;
};

/* The alpha and beta, neither below 0, with the least sum of squares of model / time - 1. Two parameters pass
 * through any two points: with fewer than three sizes there is no verdict. NAN without points. */
struct link_fit link_fit(enum link_kind kind, int ranks, const struct link_point *points, int count);

double link_seconds(const struct link_fit *fit, struct link_load load);

enum { LINK_SIZES = 9 }; /* 8 B to 16 MiB in powers of 8, and 64 MiB */
int64_t link_size(int index);

struct link {
    int ranks, hosts;    /* that it was measured on; 0: given (--peaks) */
    char mpi[64];        /* name and version of the library */
    char time[UTC_TEXT]; /* when it was measured: UTC, ISO 8601 */
    double load;         /* load average then */
    int points[LINK_KINDS];
    struct link_point point[LINK_KINDS][LINK_SIZES];
    struct link_fit fit[LINK_KINDS];
};

/* The same alpha and beta for all kinds. */
struct link link_given(double alpha, double beta);

/*
 * Seconds that one of a kind takes: those of the model, times what was measured over what it says at this
 * size, interpolated between the logarithms of the two nearest; beyond all, of the nearest. So on the ranks
 * and at the sizes that were measured it is what was measured, where the model fails too.
 */
double link_predict(const struct link *l, enum link_kind kind, int ranks, double bytes);

/*
 * Measures it, on each of several ranks; what counts is rank 0's. Ends after LINK_TURNS turns, or when so
 * many seconds are over or a signal came: then some sizes have fewer turns or none, but the smallest. Where a
 * rank has no memory for it, the link that is returned has no ranks.
 */
enum { LINK_TURNS = 9 };
#define LINK_SECONDS 4.0
struct link link_measure(const struct ranks *r, double seconds);

/* Those of a run, for each number of ranks, or of a file (--peaks). */
struct links {
    struct link *list;
    int count;
    const char *no_links; /* why there are none; null: one rank, or only planned */
};

void links_add(struct links *all, const struct link *l);
void links_free(struct links *all);

/* The last for this number of ranks, else of those with the most; null if there is none. */
const struct link *links_for(const struct links *all, int ranks);

struct value *link_json(const struct link *l);

/* False if the JSON is not what link_json makes. */
bool link_read(const struct value *json, struct link *l);

/* How the time of a kind is predicted: "2.00 us, 50.0 GB/s, given". */
void link_text(const struct link *l, enum link_kind kind, struct message *text);

#endif
