/* Which kernels are audited. */
#ifndef GTMARK_BENCH_AUDIT_ROWS_H
#define GTMARK_BENCH_AUDIT_ROWS_H

#include "bench/base/message.h"
#include "kernels/backend.h"

enum { ROWS_MAX = 512, VARIANT_TEXT = 64 };

/* A kernel to audit, by name: each child opens the library itself. */
struct audited_row {
    enum op op;
    enum dtype dtype;
    bool on_device;
    char variant[VARIANT_TEXT];
};

struct audited_rows {
    int count;
    bool failed; /* the library, for the reason in `error` */
    struct message error;
    struct audited_row row[ROWS_MAX];
};

/*
 * The kernels of a library (null: our own defaults) that compute one of these ops (none set: any). Those for
 * a GPU are left out where there is none, and `error` says why.
 */
void audited_rows_list(const char *library, const bool ops[OPS], struct audited_rows *rows);

#endif
