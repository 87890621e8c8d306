/*
 * analysis/record/schema.json equals what schema.def generates, and real result files, including those of the
 * repository, are valid according to an independent validator (Python's jsonschema).
 *
 * GTMARK_UPDATE=1 writes the schema instead. Run from the root of the repository, as `make test` does.
 */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "analysis/record/record.h"
#include "analysis/record/schema.h"
#include "tests/operands.h"
#include "tests/records.h"
#include "tests/schema_json.h"
#include "tests/values.h"

#define SCHEMA "analysis/record/schema.json"
#define TINY   "--hidden 16 --heads 2 --layers 1 --runs 3 --warmup 1 --output x.json "

static void test_schema_is_up_to_date(void **state)
{
    (void)state;
    char error[MESSAGE_SIZE];
    struct value *wanted = schema_json();
    if (env_set("GTMARK_UPDATE"))
        assert_true(value_save(wanted, SCHEMA, 1, error));
    struct value *there = value_load(SCHEMA, error);
    if (!value_equal(there, wanted))
        fail_msg(SCHEMA " is not what analysis/record/schema.def says: GTMARK_UPDATE=1 "
                        "build/tests/test_schema writes it");
    value_free(wanted);
    value_free(there);
}

enum { VALID = 0, INVALID = 1, NO_VALIDATOR = 3 };

/* Runs the validator on files, given as shell words; skips the test if it is not installed. */
static int validate(const char *schema, const char *files)
{
    char command[8192];
    int length = snprintf(command, sizeof command, "python3 tests/validate_json.py %s %s", schema, files);
    assert_true(length < (int)sizeof command);
    int status = system(command);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_VALIDATOR || WEXITSTATUS(status) == 127)
        skip();
    return WEXITSTATUS(status);
}

static void test_results_of_the_repository(void **state)
{
    (void)state;
    char files[4096] = "";
    glob_t found;
    assert_int_equal(glob("results/[!l]*/*.json", 0, NULL, &found), 0); /* not results/local */
    for (size_t i = 0; i < found.gl_pathc; i++) {
        size_t used = strlen(files);
        snprintf(files + used, sizeof files - used, " '%s'", found.gl_pathv[i]);
    }
    globfree(&found);
    assert_int_equal(validate(SCHEMA, files), VALID);
}

/* Runs a benchmark, whose rows may fail, and validates its file and its output as lines. */
static void assert_valid(const struct house *h, const char *words, int status)
{
    char all[512], path[PATH_MAX], lines[PATH_MAX];
    snprintf(all, sizeof all, TINY "%s --format jsonl", words);
    struct ended e = run_words(h, all, status);
    snprintf(path, sizeof path, "'%s/x.json'", h->work);
    snprintf(lines, sizeof lines, "%s/x.jsonl", h->work);
    FILE *out = fopen(lines, "w");
    assert_non_null(out);
    fputs(e.out, out);
    assert_int_equal(fclose(out), 0);
    ended_free(&e);
    assert_int_equal(validate(SCHEMA, path), VALID);
    assert_int_equal(validate(SCHEMA "#line", lines), VALID);
}

static void test_results_of_runs(void **state)
{
    assert_valid(*state, "--nodes 8,12,16,20,24", 0);
    assert_valid(*state, "--nodes 8,16 --mem-limit 1KiB", 1);
    assert_valid(*state, "--device meta --nodes 100-10M*10 --phase step", 0);
    assert_valid(*state, "--batch 2,4 --model gps_sparse --task node --graph er,ba", 0);
}

/* A document with one change, which the validator must reject. */
static void assert_invalid(const struct house *h, struct value *document)
{
    char path[PATH_MAX], command[PATH_MAX + 32], error[MESSAGE_SIZE];
    snprintf(path, sizeof path, "%s/bad.json", h->work);
    assert_true(value_save(document, path, 1, error));
    snprintf(command, sizeof command, "'%s' >/dev/null", path);
    assert_int_equal(validate(SCHEMA, command), INVALID);
    value_free(document);
}

static struct value *row_in(const struct value *document, size_t i)
{
    return value_at(value_get(document, "rows"), i);
}

static void test_what_is_not_valid(void **state)
{
    char error[MESSAGE_SIZE];
    static const char *const words = /* with enough turns for fits */
        "--hidden 16 --heads 2 --layers 1 --runs 10 --threads 1 --output x.json --nodes 8,16 --format json";
    struct ended e = run_words(*state, words, 0);
    struct value *good = value_parse(e.out, error), *bad = value_copy(good);
    value_set_real(row_in(bad, 1), "nodes", 8.5);
    assert_invalid(*state, bad);
    bad = value_copy(good);
    value_set_real(value_get(row_in(bad, 0), "step.time"), "mode", 1);
    assert_invalid(*state, bad);
    bad = value_copy(good);
    value_set_count(row_in(bad, 0), "node", 8);
    assert_invalid(*state, bad);
    bad = value_copy(good);
    value_set_text(row_in(bad, 0), "status", "good");
    assert_invalid(*state, bad);
    bad = value_copy(good);
    value_set_text(value_at(value_get(bad, "fits"), 0), "change", "2");
    assert_invalid(*state, bad);
    bad = value_copy(good);
    value_remove(bad, "command");
    assert_invalid(*state, bad);
    value_free(good);
    ended_free(&e);
}

/* One self-contained line per row as it finishes: the row, with the record as a member. */
static void test_lines(void **state)
{
    char error[MESSAGE_SIZE];
    struct ended e = run_words(*state, TINY "--nodes 8,16 --format jsonl", 0);
    char *rest = e.out, path[PATH_MAX];
    snprintf(path, sizeof path, "%s/x.json", ((const struct house *)*state)->work);
    struct value *file = value_load(path, error);
    for (size_t i = 0; i < 2; i++) {
        char *line = strsep(&rest, "\n");
        struct value *row = value_parse(line, error);
        assert_string_equal(text_in(row, "record.benchmark"), "bench_node_scaling");
        assert_null(value_get(row, "record.rows"));
        value_remove(row, "record");
        assert_true(value_equal(row, row_in(file, i)));
        value_free(row);
    }
    assert_string_equal(rest, "");
    value_free(file);
    ended_free(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_schema_is_up_to_date),
        cmocka_unit_test(test_results_of_the_repository),
        cmocka_unit_test(test_results_of_runs),
        cmocka_unit_test(test_what_is_not_valid),
        cmocka_unit_test(test_lines),
    };
    return cmocka_run_group_tests(tests, house_setup, house_teardown);
}
