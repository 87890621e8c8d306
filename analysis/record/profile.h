/*
 * Where the time and work of a program go: the entries of its tape in the order in which they run, and sums
 * over them. A profile is measured, or only planned: then it has everything but measured times.
 */
#ifndef GTMARK_ANALYSIS_PROFILE_H
#define GTMARK_ANALYSIS_PROFILE_H

#include "analysis/record/row.h"

enum { PROFILE_CATEGORIES = 8, PROFILE_CEILINGS = 400, PROFILE_WHY = 200 };

/* The categories of memory, in the order of live_of: "parameters". */
extern const char *const profile_categories[PROFILE_CATEGORIES];

struct profile_entry {
    const char *op, *variant, *phase, *span; /* the span: "layer1.attention" */
    double seconds;                          /* median over the runs; NAN: only planned */
    double least;                            /* predicted: seconds at the ceilings; NAN: not known */
    const char *bound;                       /* the lower ceiling, compute or memory; null: not known */
    int64_t flops, bytes;                    /* analytic FLOPs, minimum bytes; -1 beyond 63 bits */
    int64_t live;                            /* bytes, while the entry runs; -1 beyond 63 bits */
    int64_t live_of[PROFILE_CATEGORIES];     /* the parts of `live` */
    const char *launched;                    /* kernels, each with its time; null: not known */
};

struct profile {
    int64_t runs; /* 0: only planned */
    size_t count;
    struct profile_entry *entries;
    char *texts;                     /* of `launched`, to be freed; null: none */
    char why_not_seen[PROFILE_WHY];  /* why `launched` is not known; empty: nothing is launched */
    char ceilings[PROFILE_CEILINGS]; /* those of `least`: "60.0 GFLOP/s, DRAM 20.0 GB/s"; empty: none */
    double launches; /* predicted: seconds that starting the entries takes beside `least`; 0 on the host */
};

/* Frees the entries, whose other texts are borrowed; the profile may be empty. */
void profile_free(struct profile *p);

/* Sets the fields of a program's profile in a row, whose times are set. */
void profile_write(const struct profile *p, struct row *row, size_t kind);

/* Sets the share of the median time that the measured entries of a program cover, if it has both. */
void profile_cover(struct row_program *program);

/* Reads it; false, with an empty profile, if the row has none or it is not well-formed. Its texts are the
 * row's. */
bool profile_read(struct profile *p, const struct row *row, size_t kind);

enum { PROFILE_KEY = 72 };

/* The sum over the entries with one key. */
struct profile_group {
    char key[PROFILE_KEY];
    int calls;
    double seconds;       /* NAN: only planned */
    double least, memory; /* NAN: not known; the part of `least` of entries that are bound by memory */
    int64_t flops, bytes; /* -1 beyond 63 bits */
};

enum profile_key {
    PROFILE_OP,        /* "attention" */
    PROFILE_PART,      /* the span within a layer, which all layers share, and the op: "ffn.up linear" */
    PROFILE_LAYER,     /* the outermost span: "layer1", "input", "head" */
    PROFILE_PHASE,     /* "backward" */
    PROFILE_ENTRY,     /* a single entry, unless two of one op share a span */
    PROFILE_INTENSITY, /* the class of its intensity: "1 to 4 FLOP/B" */
    PROFILE_BOUND      /* "compute", "memory" or "not known" */
};

enum profile_order {
    PROFILE_AS_RUN,  /* as they first run */
    PROFILE_LONGEST, /* first; by the predicted time if it is only planned */
    PROFILE_MOST_FLOPS,
    PROFILE_RISING /* intensity */
};

/* Groups of all entries, to be freed; their number in *count. */
struct profile_group *profile_groups(const struct profile *p, enum profile_key key, enum profile_order order,
                                     size_t *count);

/* The sum over all entries. */
struct profile_group profile_total(const struct profile *p);

/* The ops of a profile in the order in which they first run, and what they are measured by: time, or of a
 * plan the predicted time if that is known, else FLOPs. */
enum profile_measure { PROFILE_BY_TIME, PROFILE_BY_PREDICTION, PROFILE_BY_FLOPS };
struct profile_ops {
    struct profile_group *list, total; /* list: to be freed */
    size_t count;
    enum profile_measure measure;
};
struct profile_ops profile_ops_of(const struct profile *p);

/* The op; null: there is none. What it takes, and its share of all: 0 without it. */
const struct profile_group *profile_op(const struct profile_ops *ops, const char *op);
double profile_amount(const struct profile_ops *ops, const struct profile_group *g);
double profile_share(const struct profile_ops *ops, const char *op);

/* The op that has the largest share in any of ops[n], without those before; null: none is left. */
const char *profile_next_op(const struct profile_ops *ops, size_t n, const char *const *before, size_t count);

/* Reads the profile of a program in the row of which `measure` is largest, of those above least; null, with
 * an empty profile, if there is none. */
const struct row *profile_of_most(const struct rows *rows, size_t kind, int64_t least,
                                  int64_t measure(const struct row *row, const struct profile *p),
                                  struct profile *p);

/* The same of the measured profile with the most work, of the checked rows whose time is a basis for
 * findings. */
const struct row *profile_of_largest(const struct rows *rows, size_t kind, struct profile *p);

#endif
