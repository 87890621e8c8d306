/* The members of a row, generated from schema.def. */
#ifndef GTMARK_ANALYSIS_ROW_STRUCT_H
#define GTMARK_ANALYSIS_ROW_STRUCT_H

#include <stddef.h>
#include <stdint.h>

#define COUNT_ABSENT INT64_MIN

/* A list, by the type of its field. */
struct items {
    union {
        const void *list; /* null: absent */
        const double *reals;
        const int64_t *counts;
        const char *const *texts;
    };
    size_t count;
};
enum { ITEM = sizeof(double) }; /* bytes of an item of any type */
_Static_assert((int)ITEM == sizeof(int64_t) && (int)ITEM == sizeof(char *), "all items have one size");

#define STRUCTURES
#define MEMBER_TEXT                             const char *
#define MEMBER_COUNT                            int64_t
#define MEMBER_REAL                             double
#define MEMBER_REALS                            struct items
#define MEMBER_COUNTS                           struct items
#define MEMBER_TEXTS                            struct items
#define FIELD(group, name, type, unit, meaning) MEMBER_##type name;
#define DERIVED                                 FIELD
#define GROUP(name)                             struct {
#define END(name)                                                                                            \
    }                                                                                                        \
    name;

/* Samples, turns and statistics of something that was timed. */
struct row_times {
#include "analysis/record/schema_time.def"
};

/* A phase of a training step. */
struct row_phase {
#include "analysis/record/schema_phase.def"
};

/* A timed program. */
struct row_program {
#include "analysis/record/schema_program.def"
};

/* Why a field or group is absent. */
struct reason {
    char *path, *text;
};

struct row {
#define OTHER(name, type, unit, symbol, meaning) MEMBER_##type name;
#define WHOLE(min, max)                          int64_t
#define NUMBER(min, max)                         double
#define NAME(choices, first)                     const char *
#define TEXT(examples, canonical)                const char *
#define AXIS(id, flag, group, name, kind, place, standard, pace, work, dump, unit, symbol, help, meaning)    \
    kind name;
#include "analysis/record/schema.def"
    struct reason *reasons;
    size_t reason_count;
    struct kept *kept; /* the memory of texts and lists */
    char *flaw;        /* of a row from a file: what is wrong with it; null: nothing */
    int64_t id;        /* in its file; -1: in none */
};
#undef STRUCTURES

#endif
