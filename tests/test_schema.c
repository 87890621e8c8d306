/*
 * Real result files, including those of the repository, are valid according to an independent validator
 * (Python's jsonschema) by the JSON Schema that schema.def generates. Run from the root of the repository, as
 * `make test` does.
 */
#include <glob.h>
#include <sys/wait.h>

#include "analysis/record/record.h"
#include "analysis/record/schema.h"
#include "tests/operands.h"
#include "tests/records.h"
#include "tests/schema_json.h"
#include "tests/test.h"
#include "tests/values.h"

#define SCHEMA "schema.schema"
#define TINY   "--hidden 16 --heads 2 --layers 1 --runs 3 "

/* The schema, as a file for the validator. */
static int write_schema(void **state)
{
    char error[MESSAGE_SIZE], path[PATH_MAX];
    int failed = house_setup(state);
    if (failed)
        return failed;
    snprintf(path, sizeof path, "%s/" SCHEMA, ((const struct house *)*state)->work);
    struct value *schema = schema_json();
    bool saved = value_save(schema, path, 1, error);
    value_free(schema);
    return !saved;
}

/* Rows are written and cleared in one pass over the fields. */
static void test_groups_stand_together(void **state)
{
    (void)state;
    for (size_t i = 0; i < schema_fields_count; i++)
        for (const char *dot = schema_fields[i].path; (dot = strchr(dot, '.')) != NULL; dot++) {
            size_t length = (size_t)(dot - schema_fields[i].path), k = i + 1;
            while (k < schema_fields_count &&
                   field_is_under(&schema_fields[k], schema_fields[i].path, length))
                k++;
            for (; k < schema_fields_count; k++)
                if (field_is_under(&schema_fields[k], schema_fields[i].path, length))
                    fail_msg("%s is apart from %s", schema_fields[k].path, schema_fields[i].path);
        }
}

enum { VALID = 0, NO_VALIDATOR = 3, NONE_VALID = 4 };

/* Runs the validator on files, given as shell words; skips the test if it is not installed. */
static int validate(const struct house *h, const char *part, const char *files)
{
    char command[8192];
    int length = snprintf(command, sizeof command, "python3 tests/validate_json.py %s/" SCHEMA "%s %s",
                          h->work, part, files);
    assert_true(length < (int)sizeof command);
    int status = system(command);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_VALIDATOR || WEXITSTATUS(status) == 127)
        skip();
    return WEXITSTATUS(status);
}

static void test_results_of_the_repository(void **state)
{
    const struct house *h = *state;
    if (env_set("GTMARK_SMALL"))
        skip(); /* nothing of this build takes part */
    char files[4096] = "";
    glob_t found;
    assert_int_equal(glob("results/[!l]*/*.json", 0, NULL, &found), 0); /* not results/local */
    for (size_t i = 0; i < found.gl_pathc; i++) {
        size_t used = strlen(files);
        snprintf(files + used, sizeof files - used, " '%s'", found.gl_pathv[i]);
    }
    globfree(&found);
    assert_int_equal(validate(h, "", files), VALID);
}

/* Runs a benchmark, whose rows may fail; leaves its file as NAME.json and its output as NAME.jsonl. */
static void run_as(const struct house *h, const char *name, const char *words, int status)
{
    char all[512], path[PATH_MAX];
    snprintf(all, sizeof all, TINY "--output %s.json %s --format jsonl", name, words);
    struct ended e = run_words(h, all, status);
    snprintf(path, sizeof path, "%s/%s.jsonl", h->work, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(e.out, out);
    assert_int_equal(fclose(out), 0);
    ended_free(&e);
}

static void test_results_of_runs(void **state)
{
    const struct house *h = *state;
    char files[PATH_MAX];
    run_as(h, "ok", "--nodes 8,12,16,20,24", 0);
    run_as(h, "oom", "--nodes 8,16 --mem-limit 1KiB", 1);
    run_as(h, "meta", "--device meta --nodes 100-10M*10 --phase step", 0);
    run_as(h, "batch", "--batch 2,4 --model gps_sparse --task node --graph er,ba", 0);
    snprintf(files, sizeof files, "%s/*.json", h->work);
    assert_int_equal(validate(h, "", files), VALID);
    snprintf(files, sizeof files, "%s/*.jsonl", h->work);
    assert_int_equal(validate(h, "#line", files), VALID);
}

static struct value *row_in(const struct value *document, size_t i)
{
    return value_at(value_get(document, "rows"), i);
}

/* Documents with one change each, none of which the validator may accept. */
static void test_what_is_not_valid(void **state)
{
    const struct house *h = *state;
    char error[MESSAGE_SIZE], files[PATH_MAX];
    static const char *const words = /* with enough turns for fits */
        "--hidden 16 --heads 2 --layers 1 --runs 10 --threads 1 --output x.json --nodes 8,16 --format json";
    struct ended e = run_words(h, words, 0);
    enum { CHANGES = 6 };
    struct value *bad[CHANGES];
    for (int i = 0; i < CHANGES; i++)
        bad[i] = value_parse(e.out, error);
    value_set_real(row_in(bad[0], 1), "nodes", 8.5);
    value_set_real(value_get(row_in(bad[1], 0), "step.time"), "mode", 1);
    value_set_count(row_in(bad[2], 0), "node", 8);
    value_set_text(row_in(bad[3], 0), "status", "good");
    value_set_text(value_at(value_get(bad[4], "fits"), 0), "change", "2");
    value_remove(bad[5], "command");
    for (int i = 0; i < CHANGES; i++) {
        snprintf(files, sizeof files, "%s/bad%d.json", h->work, i);
        assert_true(value_save(bad[i], files, 1, error));
        value_free(bad[i]);
    }
    snprintf(files, sizeof files, "%s/bad*.json >/dev/null", h->work);
    assert_int_equal(validate(h, "", files), NONE_VALID);
    ended_free(&e);
}

/* One self-contained line per row as it finishes: the row, with the record as a member. */
static void test_lines(void **state)
{
    char error[MESSAGE_SIZE];
    struct ended e = run_words(*state, TINY "--output x.json --nodes 8,16 --format jsonl", 0);
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
        cmocka_unit_test(test_groups_stand_together),
        cmocka_unit_test(test_results_of_the_repository),
        cmocka_unit_test(test_results_of_runs),
        cmocka_unit_test(test_what_is_not_valid),
        cmocka_unit_test(test_lines),
    };
    return cmocka_run_group_tests(tests, write_schema, house_teardown);
}
