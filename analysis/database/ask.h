/*
 * Asking a store (database.h), which is opened read-only. Answers are tables, one for each machine. Functions
 * return false on failure and write a one-line reason to error[MESSAGE_SIZE].
 */
#ifndef GTMARK_ANALYSIS_ASK_H
#define GTMARK_ANALYSIS_ASK_H

#include "analysis/tables/printer.h"

/* What rows are ranked by: the median time, graphs/s, the planned memory, the share of the roofline. */
enum measure { MEASURE_LATENCY, MEASURE_THROUGHPUT, MEASURE_MEMORY, MEASURE_EFFICIENCY, MEASURES };

enum { CONDITIONS_MAX = 64, CONDITION_TEXT = 128 };

/* A value that an axis or a tag must have; of those of one axis, which follow one another, any. */
struct condition {
    bool tag, number;
    const char *path;             /* of the axis's field */
    char name[CONDITION_TEXT];    /* the axis's flag, or the tag's key */
    char pattern[CONDITION_TEXT]; /* of a text, as in a shell: * ? [] */
    double value;                 /* of a number */
};

struct question {
    const char *program;
    double max_latency, max_memory, min_throughput; /* NAN: any */
    double min_efficiency;                          /* a share of the roofline; NAN: any */
    int by;                                         /* enum measure; negative: latency */
    int top;    /* at most so many lines of each machine; 0: 10 if ranked by one measure, else all */
    int pareto; /* 2: the rows that no other row beats in both of these; 0: not asked for */
    enum measure against[2];
    const char *history; /* the rows of the work whose hash begins so, by date; null: not asked for */
    const char *machine; /* pattern of its name; null: all */
    bool all; /* rows of every run and status; otherwise the newest of each configuration that is ok */
    size_t conditions_count;
    struct condition conditions[CONDITIONS_MAX];
};

/* How a store is opened, and answers are printed. */
struct asking {
    const char *store;
    double timeout;     /* s */
    enum format format; /* FORMAT_TABLE, FORMAT_MARKDOWN or FORMAT_CSV */
    FILE *out;
};

/* Answers a question; *lines becomes the number of rows found. */
bool ask_question(const struct asking *how, const struct question *q, size_t *lines, char *error);

/* Prints the result of a SELECT statement; all others are refused. */
bool ask_sql(const struct asking *how, const char *sql, char *error);

#endif
