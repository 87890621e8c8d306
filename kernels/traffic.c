/* Minimum bytes of an op: every operand moves once, however often it is used. */
#include "kernels/ops.h"

#include "kernels/wide.h"

/* Whether one of the first `count` operands is the same matrix as m and is read. */
static bool is_read(const struct op_info *info, const void *args, int count, const struct mat *m)
{
    for (int i = 0; i < count; i++) {
        const struct operand *o = &info->operands[i];
        const struct mat *p = operand_is_mat(o) ? operand_mat(o, args) : NULL;
        if (p && operand_reads(o, p) && p->storage == m->storage && p->offset == m->offset &&
            p->data == m->data && p->rows == m->rows && p->cols == m->cols && (p->storage || p->data))
            return true;
    }
    return false;
}

struct op_traffic op_traffic(enum op op, const void *args, const int64_t dims[DIMS])
{
    const struct op_info *info = op_info(op);
    wide bytes = 0, written = 0, updated = 0, no_reuse = 0;
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        if (!operand_is_mat(o))
            continue;
        const struct mat *m = operand_mat(o, args);
        wide row = m->cols * (wide)dtype_size(m->dtype), all = m->rows * row;
        wide reads = operand_reads(o, m) && !is_read(info, args, i, m), writes = operand_writes(o);
        bytes += (reads + writes) * all;
        written += writes * all;
        updated += writes && (operand_reads(o, m) || is_read(info, args, info->operand_count, m)) ? all : 0;
        no_reuse += (reads + writes) * (o->gathered ? dims[DIM_E] * row : all);
    }
    return (struct op_traffic){wide_exact(bytes), wide_exact(written), wide_exact(updated),
                               wide_exact(no_reuse)};
}

int64_t op_bytes(enum op op, const void *args)
{
    int64_t dims[DIMS];
    char error[1];
    op_bind(op, args, dims, error, sizeof error);
    return op_traffic(op, args, dims).bytes;
}
