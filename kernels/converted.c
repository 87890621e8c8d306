#include "kernels/converted.h"

#include "kernels/arithmetic.h"

/* Elements that one thread converts in a few times the cost of a fork. */
enum { GRAIN = 1 << 15 };

static int threads_of(struct mat m, int threads)
{
    return (int)max_of(1, min_of(threads, mat_size(m) / GRAIN));
}

void mat_widen(struct mat to, struct mat from, int threads)
{
#pragma omp parallel for schedule(static) num_threads(threads_of(to, threads))
    for (int64_t i = 0; i < to.rows; i++) {
        float *restrict y = (float *)to.data + i * to.ld;
        const uint16_t *restrict x = (const uint16_t *)from.data + i * from.ld;
#pragma omp simd
        for (int64_t k = 0; k < to.cols; k++)
            y[k] = float_of_bf16(x[k]);
    }
}

/* By the widest instructions: of all that converting costs, this takes longest. */
static void cast_back(struct mat to, struct mat from, int threads)
{
    struct cast_args a = {.call.threads = threads, .y = to, .x = from};
    backend_kernel(backend_cpu(), OP_cast, BF16, NULL)->run(&a);
}

void mat_round(struct mat to, struct mat from, int bits, int threads)
{
#pragma omp parallel for schedule(static) num_threads(threads_of(to, threads))
    for (int64_t i = 0; i < to.rows; i++)
        for (int64_t k = 0; k < to.cols; k++)
            mat_set(to, i, k, with_bits(mat_get(from, i, k), bits));
}

/* Rows that are converted at a time where they do not depend on one another, so that scratch stays small. */
enum { BLOCK = 1024 };

/* The rows of a call if each depends on the same row of the operands, and on what all share; else 0. */
static int64_t independent_rows(const void *args)
{
    const struct call *call = args;
    enum op op = call->kernel->op;
    bool independent = op == OP_linear || op == OP_mlp || op == OP_layer_norm || op == OP_add_layer_norm ||
                       op == OP_batch_norm_inference || op == OP_add || op == OP_activate;
    return independent && !call->row1 ? operand_mat(&op_info(op)->operands[0], args)->rows : 0;
}

/* The arguments of rows first .. first + rows - 1. */
static union any_args block_of(const struct op_info *info, const void *args, int64_t first, int64_t rows)
{
    union any_args block;
    memcpy(&block, args, info->args_size);
    for (int i = 0; i < info->operand_count && rows > 0; i++) {
        const struct operand *o = &info->operands[i];
        if (operand_is_mat(o) && o->rows == DIM_N && mat_present(*operand_mat(o, args)))
            *operand_mat(o, &block) = mat_rows(*operand_mat(o, args), first, rows);
    }
    return block;
}

/* The arguments of a call on converted operands, and the bytes of its scratch that these have. */
struct conversion {
    union any_args args;
    int64_t bytes;
};

static int bits_of(enum dtype dtype)
{
    return dtype == F64 ? 53 : 24;
}

/* What is done with an operand. */
enum change { NOTHING, WIDENS, ROUNDS };

/* Rows that ranks exchange are sent in the type that they have. */
static bool is_sent(const struct op_info *info, const struct operand *o)
{
    return info->exchange && !info->sums && o->role != ROLE_GRAD;
}

static enum change change_of(const struct operand *o, const void *args)
{
    const struct kernel *k = ((const struct call *)args)->kernel;
    if (!operand_is_mat(o) || !mat_present(*operand_mat(o, args)) || is_sent(op_info(k->op), o))
        return NOTHING;
    enum dtype dtype = operand_mat(o, args)->dtype;
    return dtype == BF16 ? WIDENS : o->factor && k->bits < bits_of(dtype) ? ROUNDS : NOTHING;
}

const struct kernel *converted_over(const struct kernel *k)
{
    while (k->run == converted_run)
        k--;
    return k;
}

static struct conversion convert(const void *args)
{
    const struct call *call = args;
    const struct op_info *info = op_info(call->kernel->op);
    struct conversion c = {.bytes = 0};
    memcpy(&c.args, args, info->args_size);
    for (int i = 0; i < info->operand_count; i++) {
        enum change change = change_of(&info->operands[i], args);
        if (change == NOTHING)
            continue;
        struct mat *m = operand_mat(&info->operands[i], &c.args);
        m->data = call->scratch ? (char *)call->scratch + c.bytes : NULL;
        m->ld = m->cols;
        m->dtype = change == WIDENS ? F32 : m->dtype;
        c.bytes += round_up(mat_bytes(*m), 64);
    }
    c.args.call.kernel = converted_over(call->kernel);
    c.args.call.scratch = call->scratch ? (char *)call->scratch + c.bytes : NULL;
    return c;
}

static int64_t scratch_of(const void *args, int64_t rows)
{
    union any_args block = block_of(op_info(((const struct call *)args)->kernel->op), args, 0, rows);
    struct conversion c = convert(&block);
    const struct kernel *over = c.args.call.kernel;
    return c.bytes + (over->scratch ? over->scratch(&c.args) : 0);
}

/* The last block may need more, though it has fewer rows. */
int64_t converted_scratch(const void *args)
{
    int64_t rows = independent_rows(args);
    return max_of(scratch_of(args, min_of(rows, BLOCK)), scratch_of(args, (rows - 1) % BLOCK + 1));
}

/* Of outputs of which not all rows are asked for the others stay as they are. */
static void run_converted(const struct op_info *info, const void *args)
{
    const struct call *call = args;
    struct conversion c = convert(args);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        enum change change = change_of(o, args);
        if (change == ROUNDS)
            mat_round(*operand_mat(o, &c.args), *operand_mat(o, args), call->kernel->bits, call->threads);
        if (change == WIDENS && (operand_reads(o, operand_mat(o, args)) || call->row1))
            mat_widen(*operand_mat(o, &c.args), *operand_mat(o, args), call->threads);
    }
    c.args.call.kernel->run(&c.args);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        if (change_of(o, args) == WIDENS && operand_writes(o))
            cast_back(*operand_mat(o, args), *operand_mat(o, &c.args), call->threads);
    }
}

void converted_run(const void *args)
{
    const struct op_info *info = op_info(((const struct call *)args)->kernel->op);
    int64_t rows = independent_rows(args), first = 0;
    do {
        union any_args block = block_of(info, args, first, min_of(BLOCK, rows - first));
        run_converted(info, &block);
        first += BLOCK;
    } while (first < rows);
}
