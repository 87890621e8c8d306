/*
 * Reverse-mode differentiation: visits the forward entries in reverse order; each op's rule records its
 * contributions to the gradients of its operands. This file manages those gradients:
 *
 * - Accumulation is tracked per column range, because query, key and value are ranges of one projection: the
 *   first contribution to a range is written, later ones are accumulated; the unwritten part of a partially
 *   written range is filled with zeros first. Rows of a stack are two parts, each with columns of its own.
 * - A gradient that flows through unchanged (to both operands of a residual add) is shared, not copied:
 *   several storages then refer to one gradient storage. Before one of them accumulates into it, it takes a
 *   copy, unless all the others have already been read, i.e. their producers have already been visited.
 * - Gradients of parameters are in a category of their own, in the order of the parameters, and never shared.
 *   Where ops read copies of the parameters, in BF16, the gradient of a copy, in F32, is that of its
 * parameter.
 */
#include "models/tape/tape_internal.h"

static struct storage *of(struct tape *t, struct mat m)
{
    return &t->storages[m.storage];
}

static int64_t first_element(const struct storage *s, struct mat m)
{
    return m.offset / (int64_t)dtype_size(s->dtype);
}

/* The part of a storage's gradient that corresponds to a view of the storage. */
static struct mat part(const struct storage *s, struct mat view)
{
    int64_t at = first_element(s, view);
    return mat_cols(mat_rows(s->grad, at / s->cols, view.rows), at % s->cols, view.cols);
}

/* The views of a view's parts, of which there are one or two. */
static int parts_of(const struct storage *s, struct mat view, struct mat each[2])
{
    each[0] = view;
    if (s->split == 0 || view.rows != s->rows)
        return 1;
    each[0] = mat_rows(view, 0, s->split);
    each[1] = mat_rows(view, s->split, s->rows - s->split);
    return 2;
}

/* Of a part. */
static struct run columns_of(const struct storage *s, struct mat view)
{
    int64_t at = first_element(s, view), row = at / s->cols, first = at % s->cols + (row > 0 ? s->cols : 0);
    if (row != 0 && row != s->split)
        tape_contract("rows from %lld on are no part of a matrix", (long long)row);
    return (struct run){first, first + view.cols};
}

static int64_t written_columns(const struct storage *s, struct mat view)
{
    struct mat each[2];
    int64_t written = 0;
    for (int i = 0, count = parts_of(s, view, each); i < count; i++)
        written += runs_common(&s->written, columns_of(s, each[i]));
    return written;
}

static void mark_written(struct tape *t, struct mat view)
{
    struct mat each[2];
    for (int i = 0, count = parts_of(of(t, view), view, each); i < count; i++)
        runs_add(&of(t, view)->written, t->metadata, columns_of(of(t, view), each[i]));
}

/* Zero-fills the columns of a view that have no contribution yet, one fill per run. */
static void fill_unwritten(struct tape *t, struct mat view)
{
    struct mat each[2];
    for (int i = 0, count = parts_of(of(t, view), view, each); i < count; i++) {
        struct run all = columns_of(of(t, view), each[i]), gap;
        while (gap = runs_gap(&of(t, view)->written, all), gap.first < gap.end) {
            struct mat run = mat_cols(each[i], gap.first - all.first, gap.end - gap.first);
            op(t, fill, .y = part(of(t, view), run));
            mark_written(t, run);
        }
    }
}

/* Allocates an empty gradient for a storage. */
static void open_gradient(struct tape *t, int id)
{
    struct storage s = t->storages[id];
    bool parameter = s.category == MEMORY_PARAMETERS;
    struct mat grad = tape_storage(t, parameter ? MEMORY_GRADIENTS : MEMORY_ACTIVATIONS,
                                   parameter ? tape_wide(t) : s.dtype, s.rows, s.cols, s.name);
    t->storages[id].grad = grad;
    t->storages[id].written = (struct runs){0};
}

/* Whether another storage still needs the contents of storage id's gradient. */
static bool shared(const struct tape *t, int id)
{
    for (int i = 1; i < t->storage_count; i++)
        if (i != id && t->storages[i].grad.storage == t->storages[id].grad.storage &&
            t->storages[i].producer <= t->reversing)
            return true;
    return false;
}

static void unshare(struct tape *t, int id)
{
    struct mat old = t->storages[id].grad;
    open_gradient(t, id);
    op(t, copy, .y = t->storages[id].grad, .x = old);
    mark_written(t, whole_view(&t->storages[id], id));
}

struct mat grad_from(struct tape *t, struct mat output)
{
    fill_unwritten(t, output);
    return part(of(t, output), output);
}

struct mat grad_into(struct tape *t, struct mat operand)
{
    if (!mat_present(operand) || !of(t, operand)->needs_grad)
        return (struct mat){0};
    if (!mat_present(of(t, operand)->grad))
        open_gradient(t, operand.storage);
    int64_t written = written_columns(of(t, operand), operand);
    if (written > 0) {
        fill_unwritten(t, operand);
        if (shared(t, operand.storage))
            unshare(t, operand.storage);
    }
    mark_written(t, operand);
    struct mat grad = part(of(t, operand), operand);
    grad.acc = written > 0;
    return grad;
}

/* Only whole storages are shared; a parameter's gradient keeps its own place. */
static bool can_share(struct tape *t, struct mat operand, struct mat dy)
{
    const struct storage *s = of(t, operand), *g = of(t, dy);
    return s->category != MEMORY_PARAMETERS && !mat_present(s->grad) && operand.cols == s->cols &&
           operand.rows == s->rows && dy.cols == g->cols && dy.rows == g->rows;
}

void grad_pass(struct tape *t, struct mat operand, struct mat dy)
{
    if (!of(t, operand)->needs_grad)
        return;
    if (can_share(t, operand, dy)) {
        struct storage *s = of(t, operand);
        s->grad = dy;
        s->written = (struct runs){0};
        mark_written(t, operand);
    } else {
        op(t, copy, .y = grad_into(t, operand), .x = dy);
    }
}

/* Whether ops read this storage as a parameter. */
static bool is_read_parameter(const struct storage *s)
{
    return s->category == MEMORY_PARAMETERS && !s->copy;
}

/*
 * Sets each forward storage's producer, the first entry that writes it, until which its gradient is needed;
 * creates the parameters' gradients in order.
 */
static void prepare(struct tape *t)
{
    for (int e = t->main.count - 1; e >= 0; e--) {
        const struct op_info *info = op_info(t->main.entries[e].op);
        for (int i = 0; i < info->operand_count; i++)
            if (info->operands[i].role == ROLE_OUT || info->operands[i].role == ROLE_SAVE)
                of(t, *operand_mat(&info->operands[i], t->main.entries[e].args))->producer = e;
    }
    for (int i = 1, n = t->storage_count; i < n; i++)
        if (is_read_parameter(&t->storages[i]))
            open_gradient(t, i);
}

/* Whether some output of the entry has a gradient and some operand needs one. */
static bool reached(struct tape *t, const struct entry *e)
{
    const struct op_info *info = op_info(e->op);
    if (!depends_on_parameter(t, info, e->args))
        return false;
    for (int i = 0; i < info->operand_count; i++)
        if (info->operands[i].role == ROLE_OUT &&
            mat_present(of(t, *operand_mat(&info->operands[i], e->args))->grad))
            return true;
    return false;
}

void tape_backward(struct tape *t, struct mat loss)
{
    if (mat_size(loss) != 1 || !of(t, loss)->needs_grad)
        tape_contract("backward: the loss must be a scalar that depends on a parameter of a training tape");
    const char *span = t->span;
    int forward = t->main.count;
    const struct segment *next = t->segments;
    void **args = arena_alloc(t->metadata, (size_t)forward * sizeof *args);
    for (int i = 0; i < forward; i++)
        args[i] = t->main.entries[i].args;
    prepare(t);
    t->phase = PHASE_BACKWARD;
    t->span = t->main.entries[of(t, loss)->producer].span;
    op(t, fill, .y = grad_into(t, loss), .value = t->config.part.ranks ? t->config.part.share : 1);
    for (t->reversing = forward - 1; t->reversing >= 0; t->reversing--) {
        for (; next && next->end > t->reversing; next = next->before)
            tape_recompute(t, next, args);
        struct entry e = t->main.entries[t->reversing];
        e.args = args[t->reversing];
        t->span = e.span;
        if (reached(t, &e))
            rule_apply(t, &e);
    }
    for (int i = 1, n = t->storage_count; i < n; i++)
        if (is_read_parameter(&t->storages[i]))
            fill_unwritten(t, whole_view(&t->storages[i], i));
    t->span = span;
}

struct mat tape_gradient(const struct tape *t, struct mat m)
{
    m = tape_recomputed(t, m);
    const struct storage *s = &t->storages[m.storage];
    s = s->copy ? &t->storages[s->copy] : s;
    return mat_present(s->grad) ? tape_view(t, part(s, m)) : (struct mat){0};
}
