/*
 * Rows in BF16 on AMX tiles: at every number of rows to 40 and at widths around whole tiles, with values that
 * are huge, tiny or not finite; on a thread that was there before the system was asked, and while signals
 * come.
 */
#include "tests/every_row.h"
#include "tests/test.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

enum { ROWS = 40 };

static const int64_t widths[] = {1, 2, 15, 31, 32, 33, 47, 64, 65, 97};
enum { WIDTHS = sizeof widths / sizeof *widths };

static const struct backend *amx(void)
{
    const struct backend *b = backend_cpu();
    if (strcmp(b->name, "cpu-amx") != 0) {
        print_message("no AMX: nothing to test\n");
        skip();
    }
    return b;
}

/* Its row of an op, and the row that converts, of the set below. */
static const struct kernel *row_of(const struct backend *b, enum op op)
{
    const struct kernel *k = backend_kernel(b, op, BF16, NULL);
    assert_true(k >= b->kernels && k < b->kernels + b->count);
    return k;
}

/*
 * With an activation only if no gradient is a sum of few products, which may cancel: then the rounding of its
 * factors exceeds the limits.
 */
static struct operands *inputs_of(enum op op, int64_t n, int64_t m, int64_t d, enum guard guard)
{
    struct sample s = {.op = op,
                       .dims = {1, 2, n, m, d, 1, 1},
                       .act = m > 2 && d > 2 ? (int)(n + m + d) % ACT_KINDS : ACT_NONE,
                       .bits = 8,
                       .seed = (uint64_t)(n + 100 * m + 10000 * d),
                       .acc = n % 2 ? UINT32_MAX : 0,
                       .pad = guard ? 0 : n % 3,
                       .guard = guard};
    struct operands *exact = operands_new(&s, F64), *inputs = operands_copy(exact, BF16, s.pad);
    operands_free(exact);
    return inputs;
}

static struct operands *oracle_of(const struct operands *inputs)
{
    struct operands *oracle = operands_copy(inputs, F64, 0);
    operands_run(oracle, backend_kernel(&backend_ref, inputs->sample.op, F64, NULL), 1, 0, 0);
    return oracle;
}

static void *wait_and_run(void *waiting)
{
    pthread_barrier_wait(waiting);
    if (strcmp(backend_cpu()->name, "cpu-amx") != 0)
        return NULL;
    struct operands *inputs = inputs_of(OP_linear, 70, 33, 65, GUARD_NONE), *oracle = oracle_of(inputs);
    check_row(backend_cpu(), row_of(backend_cpu(), OP_linear), inputs, oracle);
    operands_free(inputs);
    operands_free(oracle);
    return NULL;
}

/* The first test: nothing has asked for a backend yet. */
TEST(test_thread_from_before)
{
    pthread_t thread;
    pthread_barrier_t waiting;
    pthread_barrier_init(&waiting, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, wait_and_run, &waiting), 0);
    backend_cpu();
    pthread_barrier_wait(&waiting);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_barrier_destroy(&waiting);
    amx();
}

static void check_shapes(enum op op)
{
    const struct backend *b = amx();
    const struct kernel *k = row_of(b, op);
    for (int64_t n = 1; n <= ROWS; n++)
        for (int w = 0; w < WIDTHS; w++) {
            enum guard guard = n % 4 == 0 ? GUARD_AFTER : n % 4 == 1 ? GUARD_BEFORE : GUARD_NONE;
            struct operands *inputs = inputs_of(op, n, widths[w], widths[(w + n) % WIDTHS], guard);
            struct operands *oracle = oracle_of(inputs);
            check_row(b, k, inputs, oracle);
            operands_free(inputs);
            operands_free(oracle);
        }
}

TEST(test_linear)
{
    check_shapes(OP_linear);
}

TEST(test_linear_backward)
{
    check_shapes(OP_linear_backward);
}

static int class_of(double x)
{
    return isnan(x) ? 2 : isinf(x) ? (x > 0 ? 1 : -1) : 0;
}

/* What is not finite is where it is without tiles: zeros beyond the edges multiply nothing of others. */
TEST(test_values)
{
    static const double values[] = {INFINITY, -INFINITY, NAN, 3e38, -1e30, 0};
    const struct backend *b = amx();
    for (int backward = 0; backward < 2; backward++)
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            enum op op = backward ? OP_linear_backward : OP_linear;
            struct operands *inputs = inputs_of(op, 37, 35, 33, GUARD_NONE);
            mat_set(operand_of(inputs, "x"), 34, 32, values[v]);
            mat_set(operand_of(inputs, "w"), 34, 31, values[v]);
            struct operands *ours = row_run(inputs, b, row_of(b, op), 2, 0, 0);
            struct operands *theirs =
                row_run(inputs, b->base, backend_kernel(b->base, op, BF16, NULL), 2, 0, 0);
            for (const struct operand *p = NULL; (p = operands_output(ours, p));) {
                struct mat x = *operand_mat(p, &ours->args), y = *operand_mat(p, &theirs->args);
                for (int64_t i = 0; i < x.rows; i++)
                    for (int64_t c = 0; c < x.cols; c++)
                        assert_int_equal(class_of(mat_get(x, i, c)), class_of(mat_get(y, i, c)));
            }
            operands_free(inputs);
            operands_free(ours);
            operands_free(theirs);
        }
}

/* Factors below the normal numbers count as zero; the smallest normal ones do not. */
TEST(test_tiny_values)
{
    const struct backend *b = amx();
    for (int exponent = -130; exponent <= -124; exponent++) {
        struct operands *inputs = inputs_of(OP_linear, 33, 3, 2, GUARD_NONE);
        struct linear_args *a = &inputs->args.linear;
        for (int64_t i = 0; i < a->x.rows; i++)
            for (int64_t k = 0; k < 2; k++)
                mat_set(a->x, i, k, ldexp(1, exponent));
        for (int64_t j = 0; j < a->w.rows; j++) {
            for (int64_t k = 0; k < 2; k++)
                mat_set(a->w, j, k, 1);
            mat_set(a->b, 0, j, 0);
        }
        struct operands *ours = row_run(inputs, b, row_of(b, OP_linear), 1, 0, 0);
        for (int64_t i = 0; i < 33; i++)
            assert_true(mat_get(ours->args.linear.y, i, 2) == (exponent < -126 ? 0 : ldexp(2, exponent)));
        operands_free(inputs);
        operands_free(ours);
    }
}

static volatile sig_atomic_t signals;

static void count_signal(int number)
{
    float x[64];
    for (int i = 0; i < 64; i++)
        x[i] = (float)(number + i);
    signals += x[signals % 64] > 0; /* with registers of the handler's own */
}

TEST(test_signals)
{
    const struct backend *b = amx();
    const struct kernel *k = row_of(b, OP_linear);
    struct itimerval often = {{0, 200}, {0, 200}}, never = {0};
    struct sigaction counting = {.sa_handler = count_signal, .sa_flags = SA_RESTART}, before;
    struct operands *inputs = inputs_of(OP_linear, 100, 97, 130, GUARD_NONE);
    struct operands *quiet = row_run(inputs, b, k, 2, 0, 0);
    sigaction(SIGALRM, &counting, &before);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int runs = 0; runs < 20 || signals < 20; runs++) {
        struct operands *ours = row_run(inputs, b, k, 2, 0, 0);
        assert_true(operands_same_bits(ours, quiet));
        operands_free(ours);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &before, NULL);
    operands_free(inputs);
    operands_free(quiet);
}
