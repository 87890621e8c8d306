/*
 * Gradients of attention where scores are so large that one key has all of a query's softmax, or several
 * with the same score share it: there ds is 0, or a product of small differences, and any error of p or delta
 * is multiplied by queries and keys that are as large as the scores. Every op that saves lse, run forward and
 * backward on every backend, against ref in double.
 */
#include "bench/audit/operands.h"
#include "kernels/rng.h"
#include "tests/test.h"

#include <math.h>

/* Nodes 0 .. receivers - 1 each receive from the next `degree` nodes; the last shape cuts their rows in
 * pieces, which says nothing of dense attention. */
static const struct shape {
    int64_t nodes, width, heads, graphs, receivers, degree;
} shapes[] = {{13, 16, 4, 2, 13, 3}, {45, 64, 4, 1, 40, 7}, {37, 24, 1, 2, 37, 20}, {330, 32, 2, 2, 3, 300}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static bool has_edge(const struct shape *s, int64_t from, int64_t to)
{
    return from < s->nodes && to < s->receivers && (from - to - 1 + s->nodes) % s->nodes < s->degree;
}

static void connect(struct operands *o, const struct shape *s)
{
    const struct operand *p = operand_named(o->sample.op, "adj.row");
    if (!p)
        return;
    struct edges *e = (struct edges *)(void *)operand_mat(p, &o->args);
    int64_t *rows[] = {e->row.data, e->out_row.data}, count[2] = {0};
    int32_t *cols[] = {e->col.data, e->out_col.data}, *number = e->out_edge.data;
    for (int out = 0; out < 2; out++)
        for (int64_t i = 0; i < (out ? e->out_row : e->row).rows - 1; i++) {
            rows[out][i] = count[out];
            for (int64_t j = 0; j < s->nodes; j++)
                if (out ? has_edge(s, i, j) : has_edge(s, j, i))
                    cols[out][count[out]++] = (int32_t)j;
            rows[out][i + 1] = count[out];
        }
    for (int64_t j = 0, at = 0; j < s->nodes && number; j++)
        for (int64_t i = 0; i < s->nodes; i++)
            for (int64_t n = rows[0][i]; n < rows[0][i + 1]; n++)
                if (cols[0][n] == j)
                    number[at++] = (int32_t)n;
}

/* Entries of keys are within 128 `size`: scores within about 1e4 of its square, with att within 100 of
 * `size`. */
struct scores {
    double size;
    bool ties;
};

/*
 * Scores depend on the first half of a head's columns: q, or att, is 0 in the second. If there are ties,
 * every third row of keys is the one before it in the first half.
 */
static double key_entry(struct scores s, uint64_t key, struct mat m, int64_t i, int64_t c, bool scores)
{
    int64_t row = s.ties && scores && i % 3 == 2 ? i - 1 : i;
    return (float)(rng_int24(key, (uint64_t)(row * m.cols + c)) * 0x1p-16 * s.size);
}

static bool is_among(const char *name, const char *const *names)
{
    while (*names && strcmp(name, *names))
        names++;
    return *names;
}

static void prepare(struct operands *o, const struct shape *shape, struct scores s)
{
    static const char *const keys[] = {"q", "k", "r", "l", "c", "loop", "att", NULL};
    static const char *const queries[] = {"q", "att", NULL};
    const struct op_info *info = op_info(o->sample.op);
    int64_t dh = shape->width / shape->heads;
    connect(o, shape);
    for (int n = 0; n < info->operand_count; n++) {
        const struct operand *p = &info->operands[n];
        struct mat m = operand_is_mat(p) ? *operand_mat(p, &o->args) : (struct mat){0};
        bool query = is_among(p->name, queries), lse = !strcmp(p->name, "from_lse");
        for (int64_t i = 0; i < m.rows && (is_among(p->name, keys) || lse); i++)
            for (int64_t c = 0; c < m.cols; c++) {
                bool scores = c % dh < dh / 2;
                double x = key_entry(s, rng_key(o->sample.seed, p->name), m, i, c, scores);
                mat_set(m, i, c,
                        lse                      ? -2e4
                        : !scores && query       ? 0
                        : strcmp(p->name, "att") ? x
                                                 : (float)(x / s.size));
            }
        for (int64_t i = 0; i < m.rows && !strcmp(p->name, "m"); i++)
            mat_set(m, i, 0, i % 4 != 1);
        /* Of all pairs, since a score is rounded by more than what would tell two from each other. */
        for (int64_t i = 0; i < m.rows && !strcmp(p->name, "bias"); i++)
            for (int64_t c = 0; c < m.cols; c++)
                mat_set(m, i, c, 1000 * (double)(c + 1));
        if (!strcmp(p->name, "slope"))
            *(double *)(void *)((char *)&o->args + p->at) = 0.25;
    }
}

static void copy_entries(struct mat to, struct mat from)
{
    for (int64_t i = 0; i < to.rows; i++)
        for (int64_t c = 0; c < to.cols; c++)
            mat_set(to, i, c, mat_get(from, i, c));
}

/* Copies what the forward saved. */
static void copy_saved(const struct operands *forward, struct operands *back)
{
    const struct op_info *info = op_info(forward->sample.op);
    for (int n = 0; n < info->operand_count; n++) {
        const struct operand *p = operand_named(back->sample.op, info->operands[n].name);
        if (!operand_writes(&info->operands[n]) || !p || operand_writes(p))
            continue;
        copy_entries(*operand_mat(p, &back->args), operand_of(forward, p->name));
    }
}

/* A device on which operands_run does not work has `device`. */
struct place {
    const struct backend *backend;
    const struct opened_device *device;
};

static void run(struct operands *o, struct place at)
{
    unsigned options = op_options(o->sample.op, &o->args);
    const struct kernel *k = backend_form_kernel(at.backend, o->sample.op, options, o->dtype, NULL);
    bool whole = at.device ? operands_run_on(o, k, at.device, true) : operands_run(o, k, 1, 0, 0);
    assert_true(whole);
}

/* Forward, twice if keys are folded in: then there are two of each; and backward. */
static struct operands *gradients(struct form f, const struct shape *shape, struct scores scores,
                                  enum dtype dtype, struct place at)
{
    struct sample s = {.dims = {1, 2, shape->nodes, 1, shape->width, shape->heads, shape->graphs,
                                shape->receivers * shape->degree},
                       .seed = 1};
    s.op = op_forward_of(f.op);
    s.absent = operands_without(s.op, f.options);
    struct operands *exact = operands_new(&s, F64);
    prepare(exact, shape, scores);
    struct operands *forward = operands_copy(exact, dtype, 0);
    run(forward, at);
    if (mat_present(operand_of(forward, "from")) && scores.ties) {
        copy_entries(operand_of(forward, "from"), operand_of(forward, "y"));
        copy_entries(operand_of(forward, "from_lse"), operand_of(forward, "lse"));
        run(forward, at);
    }
    s.op = f.op;
    s.absent = operands_without(s.op, f.options);
    struct operands *wanted = operands_new(&s, F64);
    prepare(wanted, shape, scores);
    struct operands *back = operands_copy(wanted, dtype, 0);
    copy_saved(forward, back);
    run(back, at);
    operands_free(exact);
    operands_free(forward);
    operands_free(wanted);
    return back;
}

static double difference(struct mat a, struct mat r)
{
    double sum = 0;
    for (int64_t i = 0; i < r.rows; i++)
        for (int64_t c = 0; c < r.cols; c++)
            sum += pow(mat_get(a, i, c) - mat_get(r, i, c), 2);
    return sqrt(sum);
}

/* Each gradient is within 2e-6 of itself, or of that of the values if it is smaller, as 0 is. */
static void judge(struct form f, const struct operands *ours, const struct operands *oracle, struct place at,
                  struct scores s)
{
    const struct op_info *info = op_info(f.op);
    double least = mat_norm(operand_of(oracle, operand_named(f.op, "dv") ? "dv" : "dl"));
    for (int n = 0; n < info->operand_count; n++) {
        const struct operand *p = &info->operands[n];
        struct mat r = p->role == ROLE_GRAD ? operand_of(oracle, p->name) : (struct mat){0};
        if (!mat_present(r) || !strcmp(p->name, "db"))
            continue;
        double error = difference(operand_of(ours, p->name), r) / fmax(mat_norm(r), least);
        if (!(error <= 2e-6))
            fail_msg("%s %s, N %d, keys of size %g%s: %s is off by %g", at.backend->name, form_name(f),
                     (int)ours->sample.dims[DIM_N], s.size, s.ties ? ", with ties" : "", p->name, error);
    }
}

static void check(struct form f, struct place at)
{
    if (!backend_form_kernel(at.backend, f.op, f.options, F32, NULL))
        return;
    bool pieces =
        at.backend != &backend_ref && operand_named(f.op, "adj.row"); /* ref adds 900 edges in a chain */
    int count = pieces ? SHAPES : SHAPES - 1;
    for (int n = 0; n < count; n++)
        for (int size = 70, ties = 0; size <= 560; size *= ties ? 8 : 1, ties = !ties) {
            struct scores scores = {size, ties};
            struct place exact = {&backend_ref, NULL};
            struct operands *oracle = gradients(f, &shapes[n], scores, F64, exact);
            struct operands *ours = gradients(f, &shapes[n], scores, F32, at);
            judge(f, ours, oracle, at, scores);
            operands_free(oracle);
            operands_free(ours);
        }
}

struct form_on_device {
    struct form form;
    const struct opened_device *device;
};

static void test_op(void **state)
{
    const struct form_on_device *on = *state;
    /* ref in float drops products, not values: delta is rounded */
    bool drops = strstr(form_name(on->form), "+dropout");
    if (!drops)
        check(on->form, (struct place){&backend_ref, NULL});
    for (const struct backend *const *b = backend_cpu_all(); *b; b++)
        check(on->form, (struct place){*b, NULL});
    if (on->device->context)
        check(on->form, (struct place){on->device->backend, on->device});
}

int main(void)
{
    static const enum op ops[] = {OP_attention_backward, OP_sparse_attention_backward, OP_gatv2_backward};
    static struct form_on_device states[FORMS];
    static struct CMUnitTest tests[FORMS];
    struct opened_device device = operands_device();
    for (size_t i = 0, n = 0; i < sizeof ops / sizeof *ops; i++)
        for (unsigned options = 0; (int)options < op_info(ops[i])->form_count; options++, n++) {
            states[n] = (struct form_on_device){{ops[i], options}, &device};
            tests[n] = (struct CMUnitTest){form_name(states[n].form), test_op, NULL, NULL, &states[n]};
        }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    operands_device_close(&device);
    return failed;
}
