#include "models/tape/eager.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/arithmetic.h"
#include "models/tape/tape_internal.h"

void eager_start(struct eager *e, const struct backend *backend, int threads, struct cancel cancel)
{
    if (backend->device)
        tape_contract("ops run eagerly on the host only, not on %s", backend->name);
    *e = (struct eager){.backend = backend, .threads = threads, .cancel = cancel};
}

void eager_end(struct eager *e)
{
    eager_free(e, e->scratch, e->scratch_bytes);
    e->scratch = NULL;
    e->scratch_bytes = 0;
}

bool eager_good(const struct eager *e)
{
    return !*e->reason;
}

bool eager_goes_on(struct eager *e)
{
    if (eager_good(e) && is_cancelled(e->cancel)) {
        e->cancelled = true;
        eager_fail(e, "stopped");
    }
    return eager_good(e);
}

bool eager_fail(struct eager *e, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    if (eager_good(e))
        vsnprintf(e->reason, sizeof e->reason, format, list);
    va_end(list);
    return false;
}

void *eager_alloc(struct eager *e, int64_t bytes)
{
    void *memory = aligned_alloc(64, (size_t)round_up(bytes, 64));
    if (!memory) {
        eager_fail(e, "no memory for %" PRId64 " bytes", bytes);
        return NULL;
    }
    e->live += bytes;
    if (e->live > e->peak)
        e->peak = e->live;
    return memory;
}

void eager_free(struct eager *e, void *memory, int64_t bytes)
{
    free(memory);
    e->live -= memory ? bytes : 0;
}

struct mat eager_matrix(struct eager *e, enum dtype dtype, int64_t rows, int64_t cols)
{
    struct mat m = {.rows = rows, .cols = cols, .ld = cols, .dtype = dtype};
    m.data = eager_alloc(e, mat_bytes(m));
    return m;
}

void eager_release(struct eager *e, struct mat *m)
{
    eager_free(e, m->data, mat_bytes(*m));
    *m = (struct mat){0};
}

static void *scratch_of(struct eager *e, const struct kernel *k, const void *args)
{
    int64_t bytes = k->scratch ? k->scratch(args) : 0;
    if (bytes > e->scratch_bytes) {
        eager_free(e, e->scratch, e->scratch_bytes);
        e->scratch = eager_alloc(e, bytes);
        e->scratch_bytes = e->scratch ? bytes : 0;
    }
    return e->scratch;
}

void eager_run(struct eager *e, enum op op, void *args)
{
    if (!eager_goes_on(e))
        return;
    char error[256];
    if (!op_complete(op, args, error, sizeof error))
        tape_contract("%s", error);
    enum dtype dtype = op_dtype(op, args);
    unsigned options = op_options(op, args);
    const struct kernel *k = backend_form_kernel(e->backend, op, options, dtype, NULL);
    if (!k)
        tape_contract("backend %s has no kernel for %s in %s", e->backend->name, op_info(op)->forms[options],
                      dtype_name(dtype));
    struct call *call = args;
    call->threads = e->threads;
    call->cancel = e->cancel;
    call->scratch = scratch_of(e, k, args);
    if (!eager_good(e))
        return;
    k->run(args);
    if (eager_goes_on(e))
        eager_charge(e, op_flops(op, args), op_bytes(op, args));
}

void eager_charge(struct eager *e, int64_t flops, int64_t bytes)
{
    e->cost = cost_add(e->cost, (struct cost){.flops = flops, .bytes = bytes, .no_reuse = bytes});
}
