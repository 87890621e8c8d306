/*
 * Faults of gradients, planted in one op at a time: a row must say `wrong` and name the op, in every
 * precision. Like test_planted.c, this program has its own cpu backend: every op runs the real kernel, then
 * the fault. Rows in BF16 and TF32 convert around it, as they do around ours, so that their limits are those
 * of ours.
 *
 * GTMARK_SOAK=1 plants each fault in each gradient of each op in each precision, and prints the table of
 * docs/validation/gradients.md; without, every second gradient has one precision and one fault.
 */
#include <math.h>
#include <string.h>

#include "bench/sweep/harness.h"
#include "kernels/converted.h"
#include "tests/planted.h"
#include "tests/test.h"

/* The kernels for any machine, which isa.c would not select here. */
extern const struct backend cpu_base_backend;

enum spoiling { ZERO, LARGER, OPPOSITE, LAST_ROW, LAST_HEAD, FAULTS };
static const char *const fault_names[FAULTS] = {"x 0", "x 1.05", "x -1", "last row x 0", "last head x 1.05"};

/* Where the next fault is planted, and what it has changed since. */
static struct {
    enum op op;
    const struct operand *gradient; /* null: nowhere */
    enum spoiling fault;
    bool activated; /* only in linear layers with an activation */
    bool changed;
} plan;

/* The gradients that ops have computed, which were not zero. */
static bool seen[OPS][OPERANDS_MAX];

/* The columns of the last head; all without heads. */
static int64_t first_column(const void *args, int64_t cols)
{
    const struct operand *heads = operand_named(plan.op, "heads");
    int count = heads ? *(const int *)((const char *)args + heads->at) : 1;
    return cols - cols / count;
}

static double spoiled(const void *args, struct mat m, int64_t i, int64_t k, double value)
{
    switch (plan.fault) {
    case ZERO:
        return 0;
    case LARGER:
        return 1.05 * value;
    case OPPOSITE:
        return -value;
    case LAST_ROW:
        return i == m.rows - 1 ? 0 : value;
    default:
        return k >= first_column(args, m.cols) ? 1.05 * value : value;
    }
}

/* What a matrix has, to begin with: 0, if it is not added to. */
static double *before_of(struct mat m)
{
    double *before = calloc((size_t)mat_size(m) + 1, sizeof *before);
    assert_non_null(before);
    for (int64_t n = 0; n < mat_size(m) && m.acc; n++)
        before[n] = mat_get(m, n / m.cols, n % m.cols);
    return before;
}

/* Spoils what was added to `before`. */
static void spoil(const void *args, struct mat m, const double *before)
{
    for (int64_t n = 0; n < mat_size(m); n++) {
        double added = mat_get(m, n / m.cols, n % m.cols) - before[n];
        double wrong = spoiled(args, m, n / m.cols, n % m.cols, added);
        plan.changed = plan.changed || wrong != added;
        mat_set(m, n / m.cols, n % m.cols, before[n] + wrong);
    }
}

static void note_gradients(enum op op, const void *args)
{
    const struct op_info *info = op_info(op);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        struct mat m = o->role == ROLE_GRAD ? *operand_mat(o, args) : (struct mat){0};
        for (int64_t n = 0; n < mat_size(m) && mat_present(m); n++)
            seen[op][i] = seen[op][i] || mat_get(m, n / m.cols, n % m.cols) != 0;
    }
}

static void run_planted(enum op op, const void *args)
{
    const struct kernel *real = backend_form_kernel(&cpu_base_backend, op, op_options(op, args), F32, NULL);
    struct mat m = {0};
    if (plan.gradient && plan.op == op &&
        (!plan.activated || ((const struct linear_backward_args *)args)->act))
        m = *operand_mat(plan.gradient, args);
    if (!mat_present(m)) {
        real->run(args);
        note_gradients(op, args);
        return;
    }
    double *before = before_of(m);
    real->run(args);
    spoil(args, m, before);
    free(before);
}

static int64_t scratch_of(enum op op, const void *args)
{
    const struct kernel *real = backend_form_kernel(&cpu_base_backend, op, op_options(op, args), F32, NULL);
    return real->scratch ? real->scratch(args) : 0;
}

#define OP(name, doc)                                                                                        \
    static void run_##name(const void *args)                                                                 \
    {                                                                                                        \
        run_planted(OP_##name, args);                                                                        \
    }                                                                                                        \
    static int64_t scratch_##name(const void *args)                                                          \
    {                                                                                                        \
        return scratch_of(OP_##name, args);                                                                  \
    }
#include "kernels/ops_list.h"

const struct backend *backend_cpu(void)
{
    enum { ROWS = 3 };
    static const struct kernel of_all[][ROWS] = {
#define OP(name, doc)                                                                                        \
    {{OP_##name, "planted", TYPE_f32, run_##name, scratch_##name, NULL, NULL},                               \
     CONVERTED(OP_##name, "planted", TYPE_tf32, NULL),                                                       \
     CONVERTED(OP_##name, "planted", TYPE_bf16, NULL)},
#include "kernels/ops_list.h"
    };
    static struct kernel kernels[OPS * ROWS];
    static struct backend planted = {
        .name = "planted", .doc = "planted faults", .kernels = kernels, .base = &cpu_base_backend};
    bool empty = planted.count == 0;
    for (int op = 0; op < OPS && empty; op++)
        if (op_forward_of(op) != OPS) {
            memcpy(kernels + planted.count, of_all[op], sizeof of_all[op]);
            planted.count += ROWS;
        }
    return &planted;
}

const struct backend *const *backend_cpu_all(void)
{
    static const struct backend *const all[] = {&cpu_base_backend, NULL};
    return all;
}

static const struct bench bench = {
    .name = "bench_planted", .doc = "planted faults", .axis = AXIS_NODES, .values = "60"};

static int run_bench(int argc, char **argv)
{
    return bench_main(&bench, argc, argv);
}

static const char *const precisions[] = {"f32", "tf32", "bf16"};
enum { KINDS = sizeof precisions / sizeof *precisions };

/* For --check-budget: for whole programs and all rows; for two rows of what is like nothing before. */
#define LONG  "60"
#define SHORT "1e-9"

static struct planted_row run(const char *model, const char *precision, const char *budget)
{
    char words[512];
    snprintf(words, sizeof words,
             "--hidden 16 --heads 2 --layers 1 --nodes 60 --runs 1 --warmup 0 --threads 1 --phase step "
             "--precision %s --check-budget %s %s",
             precision, budget, model);
    plan.changed = false;
    return planted_run(run_bench, words);
}

/* Models that have, together, all ops with gradients of a training step on one rank. */
static const char *const models_of_all[] = {
    "--norm layer",
    "--model gps_sparse --norm none --act relu",
    "--attention unfused --mpnn gcn --norm graph",
    "--attention performer --mpnn gine --task node",
    "--attention sparse --mpnn gatv2 --mlp fused",
    "--model gin --mpnn gatedgcn --task edge",
    "--model gin --mpnn pna --pool max --dropout 0.1",
    "--model gin --mpnn pna-edge --pool sum --norm batch",
};

struct tally {
    int planted, found;
};

/* The gradients that only rounding errors have here: what batch norm subtracts. */
static bool is_noise(const char *model, enum op op)
{
    return strstr(model, "--norm batch") && op != OP_batch_norm_backward;
}

/* The gradients that a model in F32, which is compared as a whole, has below its limits: those of the sum of
 * the values, which linear attention adds 1e-4 times. */
static bool is_negligible(enum op op, const struct operand *gradient)
{
    return op == OP_sum_pool_backward ||
           (op == OP_performer_attention_backward && strcmp(gradient->name, "dsum") == 0);
}

static void expect_found(const char *model, enum op op, const struct operand *gradient, enum spoiling fault,
                         int precision, const char *budget, struct tally *tally)
{
    bool whole = precision == 0 && strcmp(budget, LONG) == 0;
    if ((fault == LAST_HEAD && !operand_named(op, "heads")) || (whole && is_negligible(op, gradient)))
        return;
    plan.op = op, plan.gradient = gradient, plan.fault = fault;
    struct planted_row row = run(model, precisions[precision], budget);
    plan.gradient = NULL;
    if (!plan.changed)
        return;
    tally->planted++;
    tally->found += strcmp(row.status, "wrong") == 0 && strstr(row.reason, op_info(op)->name);
    if (strcmp(row.status, "wrong") != 0 || !strstr(row.reason, op_info(op)->name))
        print_message("%s, %s within %s: %s of %s %s: %s: %s\n", model, precisions[precision], budget,
                      gradient->name, op_info(op)->name, fault_names[fault], row.status, row.reason);
}

TEST(test_faults)
{
    static bool done[OPS][OPERANDS_MAX];
    static struct tally tally[FAULTS][KINDS];
    const char *const budgets[] = {LONG, SHORT};
    int next = 0, planted = 0, found = 0, gradients = 0;
    bool all = env_set("GTMARK_SOAK");
    for (size_t m = 0; m < sizeof models_of_all / sizeof *models_of_all; m++) {
        memset(seen, 0, sizeof seen);
        for (int p = all ? 0 : (int)m % KINDS; p <= (all ? KINDS - 1 : (int)m % KINDS); p++) {
            struct planted_row row = run(models_of_all[m], precisions[p], LONG);
            if (strcmp(row.status, "ok") != 0)
                fail_msg("%s, %s, without a fault: %s", models_of_all[m], precisions[p], row.reason);
        }
        for (int op = 0; op < OPS; op++)
            for (int o = 0; o < op_info(op)->operand_count; o++) {
                if (!seen[op][o] || done[op][o] || is_noise(models_of_all[m], op))
                    continue;
                done[op][o] = true;
                if (gradients++ % 2 && !all)
                    continue;
                for (int n = all ? 0 : next; n < (all ? FAULTS * KINDS : next + 1); n++)
                    for (int w = all ? 0 : next % 2; w < (all ? 2 : next % 2 + 1); w++)
                        expect_found(models_of_all[m], op, &op_info(op)->operands[o], n % FAULTS, n % KINDS,
                                     budgets[w], &tally[n % FAULTS][n % KINDS]);
                next = (next + 1) % (FAULTS * KINDS);
            }
    }
    print_message("%d gradients of ops; found of planted, by f32, tf32, bf16:\n", gradients);
    for (int f = 0; f < FAULTS; f++) {
        print_message("%-17s", fault_names[f]);
        for (int p = 0; p < KINDS; p++) {
            print_message(" %d of %d", tally[f][p].found, tally[f][p].planted);
            planted += tally[f][p].planted;
            found += tally[f][p].found;
        }
        print_message("\n");
    }
    assert_true(planted >= 20);
    assert_int_equal(found, planted);
}

/* The first linear layers that a step goes back through, those of the head, have no activation. */
TEST(test_activated_layers)
{
    struct tally tally = {0};
    plan.activated = true;
    for (int p = 0; p < KINDS; p++)
        expect_found("", OP_linear_backward, operand_named(OP_linear_backward, "dx"), LARGER, p, SHORT,
                     &tally);
    plan.activated = false;
    assert_true(tally.planted == KINDS && tally.found == KINDS);
}
