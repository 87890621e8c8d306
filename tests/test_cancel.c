/* Cancelled encodings: whenever it happens, there is a message, nothing leaks, and nothing more runs. */
#include <unistd.h>

#include "models/encodings/compute.h"
#include "models/encodings/encoding.h"
#include "tests/encodings.h"
#include "tests/graphs.h"
#include "tests/test.h"

/* The number of checks before it cancels; single-threaded. */
struct countdown {
    int *left;
};

static bool is_spent(const void *context)
{
    const struct countdown *c = context;
    return (*c->left)-- <= 0;
}

static struct cancel halting_by(const struct countdown *c)
{
    return (struct cancel){is_spent, c};
}

/* Checked before and after each op: a cancelled op is not charged, and later ops do not run. */
TEST(test_ops)
{
    for (int asks = 0; asks <= 4; asks++) {
        int left = asks;
        struct countdown c = {&left};
        struct eager e;
        eager_start(&e, backend_cpu(), 1, halting_by(&c));
        struct mat x = eager_matrix(&e, F32, 5, 3);
        run_op(&e, fill, .y = x, .value = 1.5);
        run_op(&e, fill, .y = x, .value = 2);
        assert_int_equal(e.cost.bytes, asks / 2 * 60);
        assert_int_equal(eager_good(&e), asks == 4);
        assert_int_equal(e.cancelled, asks < 4);
        assert_string_equal(e.reason, asks < 4 ? "stopped" : "");
        if (asks > 0)
            assert_true(((float *)x.data)[14] == (asks < 3 ? 1.5F : 2.0F));
        eager_release(&e, &x);
        eager_end(&e);
    }
}

/*
 * Computes with this many checks before cancellation; returns the number of checks made, and whether it
 * finished.
 */
static int compute(const struct encoding_config *c, const struct batch *b, int asks, bool *done)
{
    int left = asks;
    struct countdown count = {&left};
    struct encoding_options with = {.threads = 1, .cancel = halting_by(&count)};
    struct encoding e;
    char error[256] = "", want[256];
    *done = encoding_compute(c, b, &with, &e, error, sizeof error);
    snprintf(want, sizeof want, "%s:%d of %d nodes: stopped", encoding_name((int)c->kind), (int)c->k,
             (int)b->adj.nodes);
    assert_string_equal(error, *done ? "" : want);
    assert_int_equal(e.cancelled, !*done);
    assert_int_equal(mat_present(e.values), *done);
    encoding_free(&e);
    return asks - left;
}

/*
 * Cancels at the first check, at the last, and at some in between; there must be at least this many checks.
 */
static void check(enum encoding_kind kind, enum eigensolver solver, const char *family, int64_t graphs,
                  int least)
{
    struct encoding_config c = {.kind = kind, .k = 7, .solver = solver};
    struct batch b = graph_generated(family, 300 / graphs, 5, graphs, 1);
    bool done;
    int all = compute(&c, &b, 1000000, &done);
    assert_true(done);
    assert_true(all >= least);
    for (int asks = 0; asks < all; asks += asks < 40 || asks > all - 10 ? 1 : all / 17 + 1) {
        compute(&c, &b, asks, &done);
        if (done)
            fail_msg("%s by %s: done, though cancelled at ask %d of %d", encoding_name((int)kind),
                     eigensolver_name((int)solver), asks + 1, all);
    }
    compute(&c, &b, all, &done);
    assert_true(done);
    batch_free(&b);
}

TEST(test_walks)
{
    check(ENCODING_RWSE, SOLVER_AUTO, "er", 1, 300 / 16);
}

TEST(test_solvers)
{
    needs_lapack();
    for (int s = SOLVER_AUTO; s < SOLVER_KINDS; s++) {
        if (eigensolver_missing_library((enum eigensolver)s))
            continue;
        check(ENCODING_LAP, (enum eigensolver)s, "grid", 1, 1);
        check(ENCODING_LAP_PYG, (enum eigensolver)s, "ba", 20, 20);
    }
    check(ENCODING_LAP, SOLVER_ITERATIVE, "er:giant", 1, 50);
}

/* Builds a batch that may ask this often; returns how often it asked. */
static int build(struct graph_config c, int asks, bool *done)
{
    int left = asks;
    struct countdown count = {&left};
    struct batch b;
    char error[256] = "";
    c.limits.cancel = halting_by(&count);
    *done = batch_generate(&b, &c, error, sizeof error);
    if (!*done && !strstr(error, "stopped while "))
        fail_msg("%s: %s", c.family, error);
    if (*done)
        batch_free(&b);
    assert_null(b.adj.row_ptr);
    return asks - left;
}

/* Makes a file with this text, and its name and that of the graph in it. */
static void make_file(char path[32], char graph[64], const char *text)
{
    strcpy(path, "/tmp/gtmark-cancel-XXXXXX");
    int descriptor = mkstemp(path);
    ssize_t size = (ssize_t)strlen(text);
    assert_true(descriptor >= 0 && write(descriptor, text, (size_t)size) == size && close(descriptor) == 0);
    snprintf(graph, 64, "file:%s", path);
}

/* Drawing, reading, numbering and sorting end at the first sign. */
TEST(test_graphs)
{
    char path[2][32], file[2][64];
    make_file(path[0], file[0], "7 9\n9 30\n");
    make_file(path[1], file[1], "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 1\n2 1\n");
    const char *const families[] = {"er",         "ba",       "grid",    "rmat", "er:giant", "regular",
                                    "superpixel", "molecule", "peptide", "sbm",  file[0],    file[1]};
    for (size_t f = 0; f < 2 * sizeof families / sizeof *families; f++) {
        struct graph_config c = {
            .family = families[f / 2], .nodes = 300, .degree = 5, .graphs = 1, .seed = 42};
        c.by_nodes = f % 2; /* the part of a rank */
        c.ranks = 2 * c.by_nodes;
        bool done;
        int all = build(c, 1000000, &done);
        assert_true(done && all >= 3);
        for (int asks = 0; asks < all; asks++) {
            build(c, asks, &done);
            assert_false(done);
        }
    }
    unlink(path[0]);
    unlink(path[1]);
}
