/* SPDX-License-Identifier: MIT
 *
 * A kernel of one's own for gtmark: a shared library that defines gtmark_plugin. Includes nothing of gtmark;
 * C99 and C++11. docs/plugins.md is the guide, docs/ops.md lists the ops, their mathematics and operands.
 */
#ifndef GTMARK_PLUGIN_H
#define GTMARK_PLUGIN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GTMARK_PLUGIN_VERSION 1

/* Types of elements; those of an entry are a sum of GTMARK_F32 and GTMARK_F64. */
enum { GTMARK_F32 = 1, GTMARK_F64 = 2, GTMARK_I32 = 4, GTMARK_I64 = 8 };

/* What an entry does in its calls besides computing. Without these a call neither allocates nor starts
 * threads. */
enum { GTMARK_ALLOCATES = 1, GTMARK_STARTS_THREADS = 2 };

/* What a run makes of the values that it records under one name. */
enum { GTMARK_SUM = 1, GTMARK_MEAN = 2 };

/*
 * A matrix: element (i, k) is at data + i * ld + k, in elements, and aligned to its size alone. Nothing else
 * may be accessed, nor the elements between the rows. The arrays of offsets and edges are matrices of one
 * column.
 */
struct gtmark_matrix {
    const char *name; /* as in docs/ops.md */
    void *data;
    int64_t rows, cols, ld; /* rows is 0 if it is absent */
    int32_t type;
    int32_t accumulate; /* of an output: add to what it holds */
};

/* An attribute, or a size such as the number of heads, as both kinds of number. */
struct gtmark_attribute {
    const char *name;
    double real;
    int64_t whole;
};

struct gtmark_call {
    uint32_t size;                        /* of this struct */
    int32_t threads;                      /* at most; results may not depend on it */
    void *scratch;                        /* aligned to 64 bytes; its contents are undefined */
    const struct gtmark_matrix *matrices; /* of the op, to be found by name */
    const struct gtmark_attribute *attributes;
    int32_t matrix_count, attribute_count;
    void *stream; /* on "cuda", a cudaStream_t: all work is launched on it, and nothing waits */
    /* Runs body(data, i, threads) for each i below threads on the threads of the suite, and waits. */
    void (*team)(const struct gtmark_call *call, void (*body)(void *data, int thread, int threads),
                 void *data);
    /*
     * Sections nest; enter opens one, leave closes the one that was opened last; metadata may be null. A
     * metric has a value in each run. Both are taken in runs of their own, after the timed ones, where these
     * do nothing. On the thread of the call only; names are at most 31 of a-z, 0-9, _ and -.
     */
    void (*enter)(const struct gtmark_call *call, const char *section, const char *metadata);
    void (*leave)(const struct gtmark_call *call, const char *section);
    void (*record)(const struct gtmark_call *call, const char *metric, double value, int32_t how);
    void *state; /* that setup has set */
};

/* A kernel of an op, or, of the op "function", what is no op: a loader, a sampler, a step of one's own. */
struct gtmark_entry {
    const char *op;      /* NAME_backward computes the gradients of NAME */
    const char *variant; /* the name in --impl OP=VARIANT */
    const char *device;  /* "cpu", or "cuda": data and scratch are in the memory of a GPU */
    int32_t types;
    int32_t flags;
    /* Computes the op: null, or what went wrong. */
    const char *(*run)(const struct gtmark_call *call);
    /* Bytes that scratch must have; null: none. Here and in `supports` matrices have shapes and no data. */
    int64_t (*scratch)(const struct gtmark_call *call);
    /* Null, or why the entry cannot compute these shapes, operands or attributes; null: it can compute all.
     */
    const char *(*supports)(const struct gtmark_call *call);
    /* Of a function, may be null: before its runs, which are in turns, and after them; not timed. As run. */
    const char *(*setup)(const struct gtmark_call *call, void **state);
    void (*teardown)(void *state);
    /*
     * The options of the op that it computes, "mask,dropout" of attention+mask+dropout; null: none. It is
     * asked for no other, nor for one that the op gains later.
     */
    const char *options;
};

struct gtmark_plugin {
    uint32_t version, sizes; /* GTMARK_PLUGIN_VERSION, GTMARK_SIZES */
    const struct gtmark_entry *entries;
    int32_t count;
};

/* The sizes of all structs, as one number. */
#define GTMARK_SIZES                                                                                         \
    (uint32_t)(sizeof(struct gtmark_matrix) + 251 * sizeof(struct gtmark_attribute) +                        \
               251 * 251 * sizeof(struct gtmark_call) + 251 * 251 * 251 * sizeof(struct gtmark_entry))

/* What the library exports: GTMARK_PLUGIN(entries), of an array of entries, at the end of a file. */
#if defined(__GNUC__)
#define GTMARK_EXPORT __attribute__((visibility("default")))
#else
#define GTMARK_EXPORT
#endif
extern GTMARK_EXPORT const struct gtmark_plugin gtmark_plugin;
#define GTMARK_PLUGIN(entries)                                                                               \
    const struct gtmark_plugin gtmark_plugin = {GTMARK_PLUGIN_VERSION, GTMARK_SIZES, entries,                \
                                                (int32_t)(sizeof(entries) / sizeof *(entries))}

/* The matrix with this name. One that the op does not have is absent. */
static inline struct gtmark_matrix gtmark_matrix(const struct gtmark_call *call, const char *name)
{
    struct gtmark_matrix absent = {name, NULL, 0, 0, 0, 0, 0};
    for (int32_t i = 0; i < call->matrix_count; i++)
        if (strcmp(call->matrices[i].name, name) == 0)
            return call->matrices[i];
    return absent;
}

/* The attribute with this name; 0 if the op does not have it. */
static inline struct gtmark_attribute gtmark_attribute(const struct gtmark_call *call, const char *name)
{
    struct gtmark_attribute none = {name, 0, 0};
    for (int32_t i = 0; i < call->attribute_count; i++)
        if (strcmp(call->attributes[i].name, name) == 0)
            return call->attributes[i];
    return none;
}

#ifdef __cplusplus
}
#endif

#endif
