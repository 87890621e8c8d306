/* The flag --gate, and the gates of --threshold: latency:100ms,step.memory:2GiB,flops:1GFLOP,error:1e-4 */
#ifndef GTMARK_BENCH_GATES_PARSE_H
#define GTMARK_BENCH_GATES_PARSE_H

#include "analysis/record/row.h"
#include "bench/base/message.h"
#include "bench/base/quantity.h"

enum { GATES_MAX = 16 };

enum {
    GATE_LATENCY,
    GATE_P99,
    GATE_THROUGHPUT,
    GATE_NODES,
    GATE_EDGES,
    GATE_MEMORY,
    GATE_FLOPS,
    GATE_ERROR,
    GATE_MOST, /* of a metric of a plug-in */
    GATE_LEAST,
    GATE_KINDS
};

struct gate_kind {
    const char *name,   /* kinds of one name have different units */
        *field,         /* of the program, or of the row */
        *of_encoding;   /* field of the encoding; null: it has none */
    bool of_row, least; /* least: a lower bound */
    enum quantity_kind quantity;
};

extern const struct gate_kind gate_kinds[GATE_KINDS];

enum { GATE_METRIC = 32 };

enum { GATE_ENCODING = TIMED_ENCODING, GATE_ALL /* programs, not the encoding */ };

struct gate {
    int kind, program;        /* program: as program_name, or GATE_ALL */
    char metric[GATE_METRIC]; /* of GATE_MOST and GATE_LEAST, otherwise empty */
    double limit;             /* bytes, seconds, FLOPs, 1/s or a ratio */
};

struct gates {
    struct gate list[GATES_MAX + 1]; /* the last place is for --find AXIS=latency:TIME */
    int count;
};

/* What gates pass; all but the second are of comparisons with a baseline or another build. */
struct lenience {
    bool allow_uncompared; /* what could not be compared */
    bool allow_unchecked;  /* rows whose results were not checked */
    bool strict;           /* not what is inconclusive */
    bool exact;            /* what is planned, not times */
};

/* Adds the gates of a comma list; false with a message that says what is allowed. */
bool gates_parse(const char *text, struct gates *g, struct message *error);

#endif
