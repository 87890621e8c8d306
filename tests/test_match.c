/* Matching rows: by their work and axes, wherever they ran. */
#include "analysis/compare/match.h"

#include "tests/test.h"
#include "tests/test_analysis_rows.h"

/* Two files of two rows each, 100 and 200 nodes. */
struct files {
    struct rows *a, *b;
    const struct rows *both[2];
};

static struct rows *rows(int64_t first, int64_t second)
{
    return rows_of(good_row(first), good_row(second), NULL);
}

static struct files two_files(void)
{
    struct files f = {.a = rows(100, 200), .b = rows(200, 100)};
    f.both[0] = f.a;
    f.both[1] = f.b;
    return f;
}

static void files_free(struct files *f)
{
    rows_free(f->a);
    rows_free(f->b);
}

/* The partner in b of row i of a, by the rule of both files. */
static size_t partner(const struct files *f, size_t i, const char *const *ignored)
{
    struct match_rule rule = match_rule(f->both, 2, ignored);
    return match_find(&rule, f->b, rows_at(f->a, i));
}

TEST(test_by_axes)
{
    struct files f = two_files();
    assert_int_equal(partner(&f, 0, NULL), 1);
    assert_int_equal(partner(&f, 1, NULL), 0);
    row_set_text(rows_at(f.b, 1), "act", "relu");
    assert_true(partner(&f, 0, NULL) == MATCH_NONE);
    assert_int_equal(partner(&f, 0, (const char *const[]){"act", NULL}), 1);
    files_free(&f);
}

TEST(test_by_work)
{
    struct files f = two_files();
    row_set_text(rows_at(f.b, 1), "work", "fedcba9876543210");
    assert_true(partner(&f, 0, NULL) == MATCH_NONE);
    row_omit(rows_at(f.a, 0), "work", "none");
    row_omit(rows_at(f.b, 1), "work", "none");
    assert_true(partner(&f, 0, NULL) == MATCH_NONE);
    files_free(&f);
}

/* Machines have their own devices and threads; rows that differ in these do not match. */
TEST(test_where_it_ran)
{
    struct files f = two_files();
    for (size_t i = 0; i < 2; i++) {
        row_set_text(rows_at(f.b, i), "device", "cuda:0");
        row_set_count(rows_at(f.b, i), "threads", 64);
    }
    assert_int_equal(partner(&f, 0, NULL), 1);
    row_set_count(rows_at(f.b, 0), "threads", 2);
    assert_true(partner(&f, 0, NULL) == MATCH_NONE);
    assert_int_equal(partner(&f, 1, NULL), 0);
    files_free(&f);
}

/* Where a version lacks an axis, the hash decides. */
TEST(test_missing_axes)
{
    struct files f = two_files();
    row_set_text(rows_at(f.a, 0), "attention", "dense");
    assert_int_equal(partner(&f, 0, NULL), 1);
    row_set_text(rows_at(f.b, 1), "work", "another");
    assert_true(partner(&f, 0, NULL) == MATCH_NONE);
    struct row *older = row_new();
    row_set_text(older, "status", "ok");
    row_set_text(older, "work", "0123456789abcdef");
    row_set_count(older, "nodes", 100);
    rows_replace(f.b, 1, older);
    assert_int_equal(partner(&f, 0, NULL), 1);
    files_free(&f);
}

TEST(test_ok_rows_come_first)
{
    struct files f = two_files();
    rows_insert(f.b, 0, failed_row(100, "failed", "a fault"));
    rows_append(f.b, good_row(100));
    rows_append(f.b, failed_row(300, "oom", "too large"));
    rows_append(f.a, good_row(300));
    assert_int_equal(partner(&f, 0, NULL), 2);
    assert_int_equal(partner(&f, 2, NULL), 4);
    files_free(&f);
}

TEST(test_explanations)
{
    struct files f = two_files();
    char text[AXES_TEXT];
    struct match_rule rule = match_rule(f.both, 2, NULL);
    struct row *row = good_row(250);
    struct rows *nothing = rows_new();
    match_explain(&rule, f.b, row, text);
    assert_string_equal(text, "nodes 250, not 200");
    row_set_text(row, "model", "gps"); /* differs from all rows of the file, so nodes are irrelevant */
    match_explain(&rule, f.b, row, text);
    assert_string_equal(text, "model gps, not graph_transformer");
    match_explain(&rule, f.b, rows_at(f.a, 0), text);
    assert_non_null(strstr(text, "not the work id"));
    match_explain(&rule, nothing, row, text);
    assert_string_equal(text, "the file has no rows");
    row_free(row);
    rows_free(nothing);
    files_free(&f);
}

/* None is overlooked, however many there are. */
TEST(test_every_axis_varies)
{
    for (const struct field *f = schema_fields; schema_has(f); f++) {
        const struct field *varying[AXES_MAX];
        struct rows *two = rows(100, 100);
        struct row *with = rows_at(two, 1);
        field_clear(rows_at(two, 0), f);
        if (f->type == FIELD_TEXT)
            *field_text(with, f) = "another";
        else if (f->type == FIELD_COUNT)
            *field_count(with, f) = 7;
        else if (f->type == FIELD_REAL)
            *field_real(with, f) = 7;
        size_t n = axes_varying(two, varying);
        assert_int_equal(n, f->symbol != NULL);
        assert_true(n == 0 || varying[0] == f);
        rows_free(two);
    }
}
