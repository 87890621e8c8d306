/* All operands and the scratch buffer share one allocation, which is transferred as a whole. */

#include "analysis/statistics/allocate.h"
#include "bench/audit/operands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/arithmetic.h"

enum { TRAP = 0xff, GUARD = 256 };

struct opened_device operands_device(void)
{
    struct opened_device d = {0};
    d.backend = backend_cuda(d.why, sizeof d.why);
    d.context = d.backend ? d.backend->device->open(0, d.why, sizeof d.why) : NULL;
    return d;
}

void operands_device_close(struct opened_device *d)
{
    if (d->context)
        d->backend->device->close(d->context);
    d->context = NULL;
}

/* The offset of each block in the allocation; scratch follows them. */
struct placement {
    int64_t at[OPERANDS_MAX], scratch, scratch_bytes, end;
};

/* Bytes from the start of a block to its first element. */
static int64_t into_block(const struct operands *o, int i)
{
    const struct operand *p = &op_info(o->sample.op)->operands[i];
    return (const unsigned char *)operand_mat(p, &o->args)->data - o->blocks[i].bytes;
}

static struct placement place(const struct operands *o, const struct kernel *k, const struct opened_device *d,
                              bool aligned)
{
    int64_t unit = d->backend->device->alignment;
    union any_args args = o->args;
    struct placement p = {0};
    for (int i = 0; i < OPERANDS_MAX; i++) {
        if (!o->blocks[i].bytes)
            continue;
        p.at[i] = round_up(p.end, unit);
        p.at[i] += aligned ? round_up(into_block(o, i), unit) - into_block(o, i) : 0;
        p.end = p.at[i] + (int64_t)o->blocks[i].size;
    }
    p.scratch = round_up(p.end, unit);
    args.call.context = d->context;
    args.call.kernel = k;
    p.scratch_bytes = k->scratch ? k->scratch(&args) : 0;
    p.end = p.scratch + p.scratch_bytes + GUARD;
    return p;
}

static void run_at(struct operands *o, const struct kernel *k, const struct placement *p, char *base,
                   void *context)
{
    const struct op_info *info = op_info(o->sample.op);
    union any_args args = o->args;
    for (int i = 0; i < info->operand_count; i++)
        if (o->blocks[i].bytes)
            operand_mat(&info->operands[i], &args)->data = base + p->at[i] + into_block(o, i);
    args.call = (struct call){.kernel = k, .scratch = base + p->scratch, .context = context, .threads = 1};
    if (k->prepare)
        k->prepare(&args);
    k->run(&args);
}

bool operands_run_on(struct operands *o, const struct kernel *k, const struct opened_device *d, bool aligned)
{
    const struct device *device = d->backend->device;
    o->rounding = kernel_rounding(k);
    struct placement p = place(o, k, d, aligned);
    unsigned char *host = allocate((size_t)p.end, 1);
    char *base = device->allocate(d->context, p.end);
    if (!base)
        abort();
    memset(host, TRAP, (size_t)p.end);
    for (int i = 0; i < OPERANDS_MAX; i++)
        if (o->blocks[i].bytes)
            memcpy(host + p.at[i], o->blocks[i].bytes, o->blocks[i].size);
    device->write(d->context, base, host, p.end);
    run_at(o, k, &p, base, d->context);
    device->read(d->context, host, base, p.end);
    device->release(d->context, base);
    struct fault f = device->fault(d->context);
    if (f.kind) {
        fprintf(stderr, "%s=%s: %s: %s\n", op_info(k->op)->name, k->variant, f.where, f.words);
        exit(1);
    }
    for (int i = 0; i < OPERANDS_MAX; i++)
        if (o->blocks[i].bytes)
            memcpy(o->blocks[i].bytes, host + p.at[i], o->blocks[i].size);
    bool intact = true;
    for (int64_t n = p.scratch + p.scratch_bytes; n < p.end; n++)
        intact = intact && host[n] == TRAP;
    free(host);
    return intact;
}
