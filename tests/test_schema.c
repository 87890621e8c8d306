/*
 * Real result files, including those of the repository, are valid according to an independent validator
 * (Python's jsonschema) by the JSON Schema that schema.def generates. Run from the root of the repository, as
 * `make test` does.
 */
#include <glob.h>
#include <sys/wait.h>

#include "analysis/record/file.h"
#include "analysis/record/record.h"
#include "analysis/record/schema.h"
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
TEST(test_groups_stand_together)
{
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
static int validate(const struct house *h, const char *files)
{
    char command[8192];
    int length =
        snprintf(command, sizeof command, "python3 tests/validate_json.py %s/" SCHEMA " %s", h->work, files);
    assert_true(length < (int)sizeof command);
    int status = system(command);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == NO_VALIDATOR || WEXITSTATUS(status) == 127)
        skip();
    return WEXITSTATUS(status);
}

TEST(test_results_of_the_repository)
{
    const struct house *h = *state;
    if (env_set("GTMARK_SMALL"))
        skip(); /* nothing of this build takes part */
    char files[4096] = "";
    glob_t found;
    assert_int_equal(glob("results/[!l]*/*.jsonl", 0, NULL, &found), 0); /* not results/local */
    for (size_t i = 0; i < found.gl_pathc; i++) {
        size_t used = strlen(files);
        snprintf(files + used, sizeof files - used, " '%s'", found.gl_pathv[i]);
    }
    globfree(&found);
    assert_int_equal(validate(h, files), VALID);
}

/* The result file, and what --format jsonl prints: the same lines, but without those of the head's members.
 */
TEST(test_results_of_runs)
{
    static const char *const runs[][2] = {
        {"ok", "--nodes 8,12,16,20,24"},
        {"oom", "--nodes 8,16 --mem-limit 1KiB"},
        {"meta", "--device meta --nodes 100-10M*10 --phase step"},
        {"batch", "--batch 2,4 --model gps_sparse --task node --graph er,ba"},
    };
    const struct house *h = *state;
    char files[PATH_MAX], path[PATH_MAX], words[512];
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        snprintf(words, sizeof words, TINY "--output %s.jsonl %s --format jsonl", runs[i][0], runs[i][1]);
        struct ended e = run_words(h, words, strcmp(runs[i][0], "oom") == 0);
        struct record *printed = record_of(e.out);
        snprintf(path, sizeof path, "work/%s.jsonl", runs[i][0]);
        struct record *saved = record_in(h, path);
        assert_int_equal(row_count(printed), row_count(saved));
        for (size_t r = 0; r < row_count(saved); r++)
            assert_true(rows_equal(row_at(printed, r), row_at(saved, r)));
        record_free(printed);
        record_free(saved);
        ended_free(&e);
    }
    snprintf(files, sizeof files, "%s/*.jsonl", h->work);
    assert_int_equal(validate(h, files), VALID);
}

/* Lines with one change each, none of which the validator may accept. */
TEST(test_what_is_not_valid)
{
    static const char *const changes[][3] = {
        {"\"kind\":\"row\"", "\"nodes\":8,", "\"nodes\":8.5,"},
        {"\"kind\":\"row\"", "\"std\":", "\"sdt\":"},
        {"\"kind\":\"row\"", "\"nodes\":8,", "\"node\":8,"},
        {"\"kind\":\"row\"", "\"status\":\"ok\"", "\"status\":\"good\""},
        {"\"kind\":\"end\"", "\"fits\":[", "\"fits\":\"2\",\"fit\":["},
        {"\"kind\":\"head\"", "\"command\":", "\"commands\":"},
        {"\"kind\":\"end\"", "\"kind\":\"end\"", "\"kind\":\"ends\""},
    };
    const struct house *h = *state;
    char path[PATH_MAX];
    struct ended e =
        run_words(h,
                  "--hidden 16 --heads 2 --layers 1 --runs 10 --threads 1 --output x.jsonl --nodes "
                  "8,16,24 --no-charts",
                  0);
    ended_free(&e);
    snprintf(path, sizeof path, "%s/bad", h->work);
    FILE *out = fopen(path, "w");
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        size_t size;
        char error[MESSAGE_SIZE], file[PATH_MAX];
        snprintf(file, sizeof file, "%s/x.jsonl", h->work);
        char *text = file_read(file, &size, error), *rest = text, *line;
        while ((line = strsep(&rest, "\n")) && !strstr(line, changes[i][0]))
            ;
        char *at = strstr(line, changes[i][1]);
        assert_non_null(at);
        fprintf(out, "%.*s%s%s\n", (int)(at - line), line, changes[i][2], at + strlen(changes[i][1]));
        free(text);
    }
    assert_int_equal(fclose(out), 0);
    strcat(path, " >/dev/null");
    assert_int_equal(validate(h, path), NONE_VALID);
}

GROUP("tests", write_schema, house_teardown)
