/* Names of encodings, their storage, and eager ops with their costs. */
#include "models/encodings/encoding.h"
#include "tests/test.h"

TEST(test_names_are_read)
{
    static const struct {
        const char *text;
        enum encoding_kind kind;
        int64_t k, width;
    } good[] = {{"none", ENCODING_NONE, 0, 0},           {"rwse:16", ENCODING_RWSE, 16, 16},
                {"rwse:20:32", ENCODING_RWSE, 20, 32},   {"lap:1", ENCODING_LAP, 1, 16},
                {"lap-pyg:8:4", ENCODING_LAP_PYG, 8, 4}, {"lap:4096:4096", ENCODING_LAP, 4096, 4096},
                {"eslap:8", ENCODING_ESLAP, 8, 0}};
    struct encoding_config c;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        if (!encoding_parse(good[i].text, &c))
            fail_msg("%s was refused", good[i].text);
        assert_int_equal(c.kind, good[i].kind);
        assert_int_equal(c.k, good[i].k);
        assert_int_equal(c.width, good[i].width);
        assert_int_equal(c.solver, SOLVER_AUTO);
    }
    static const char *const bad[] = {
        "",         "lap",      "lap:",    "lap:0",    "rwse:-1",  "rwse: 1",
        "rwse:1:",  "rwse:x",   "lap:8:0", "lap:8:8:", "laps:8",   "none:1",
        "lap:4097", "la:8",     "LAP:8",   "lap:8 ",   "rwse:1.5", "lap:99999999999999999999999999",
        "eslap",    "eslap:8:4"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (encoding_parse(bad[i], &c))
            fail_msg("\"%s\" was taken", bad[i]);
}

TEST(test_storage)
{
    struct batch b = {.adj = {.nodes = 100}, .graphs = 3};
    struct encoding_config c;
    assert_true(encoding_parse("none", &c));
    assert_int_equal(encoding_storage(&c, &b), 0);
    assert_true(encoding_parse("rwse:16", &c));
    assert_int_equal(encoding_storage(&c, &b), 6400);
    assert_true(encoding_parse("lap:16", &c));
    assert_int_equal(encoding_storage(&c, &b), 6400 + 192);
}

TEST(test_ops_run_at_once)
{
    struct eager e;
    eager_start(&e, backend_cpu(), 2, (struct cancel){0});
    struct mat x = eager_matrix(&e, F32, 5, 3), y = eager_matrix(&e, F32, 5, 3);
    assert_int_equal(e.live, 120);
    run_op(&e, fill, .y = x, .value = 1.5);
    run_op(&e, add, .y = y, .a = x, .b = x);
    for (int i = 0; i < 15; i++)
        assert_true(((float *)y.data)[i] == 3);
    assert_int_equal(e.cost.flops, 15);
    assert_int_equal(e.cost.bytes, 3 * 60); /* x written, then read once for both operands, y written */
    eager_charge(&e, 100, 7);
    assert_int_equal(e.cost.flops, 115);
    assert_int_equal(e.cost.bytes, 187);
    eager_release(&e, &x);
    assert_false(mat_present(x));
    assert_int_equal(e.live, 60);
    eager_release(&e, &y);
    eager_end(&e);
    assert_int_equal(e.live, 0);
    assert_int_equal(e.peak, 120);
}

static struct encoding with_eigenvalues(float *values, int64_t *pairs)
{
    struct encoding e = {.pairs = pairs};
    e.eigenvalues = (struct mat){.data = values, .rows = 2, .cols = 3, .ld = 3, .dtype = F32};
    return e;
}

/* 1, 1, 2 without one copy of 1 becomes 1, 2, 3; a second graph has two pairs and no third. */
TEST(test_missed_eigenvalues)
{
    int64_t pairs[] = {3, 2};
    float right[] = {1, 1, 2, 0, 5, 0}, missing[] = {1, 2, 3, 0, 5, 9}, near[] = {1, 1.00005F, 2, 0, 5, 0},
          far[] = {1, 1, 2, 0, 5.001F, 0};
    struct encoding e = with_eigenvalues(right, pairs), f = with_eigenvalues(missing, pairs),
                    g = with_eigenvalues(near, pairs), h = with_eigenvalues(far, pairs);
    assert_int_equal(encoding_missed(&e, &e), 0);
    assert_int_equal(encoding_missed(&f, &e), 2);
    assert_int_equal(encoding_missed(&e, &f), 0);
    assert_int_equal(encoding_missed(&g, &e), 0);
    assert_int_equal(encoding_missed(&h, &e), 1);
}
