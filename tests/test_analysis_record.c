/* Rows and result files: what goes in comes out, incomplete rows are refused, a file is never half written.
 */
#include "analysis/record/record.h"
#include "analysis/record/schema.h"
#include "tests/test_analysis_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct place {
    char directory[64], file[96];
};

static int make_place(void **state)
{
    struct place *p = calloc(1, sizeof *p);
    snprintf(p->directory, sizeof p->directory, "/tmp/gtmark-record-XXXXXX");
    if (!mkdtemp(p->directory))
        return -1;
    snprintf(p->file, sizeof p->file, "%s/result.json", p->directory);
    *state = p;
    return 0;
}

static int remove_place(void **state)
{
    struct place *p = *state;
    unlink(p->file);
    int result = rmdir(p->directory); /* fails if a save left something behind */
    free(p);
    return result;
}

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
}

static json_t *record_of(json_t *row)
{
    char error[MESSAGE_SIZE] = "";
    json_t *record = empty_record();
    if (!record_add(record, row, error))
        fail_msg("%s", error);
    return record;
}

static void test_round_trip(void **state)
{
    const struct place *p = *state;
    char error[MESSAGE_SIZE] = "";
    const double samples[] = {0.0123456789012345, 1e-9, 1234.5};
    json_t *row = good_row(500);
    row_set_count(row, "forward.flops.analytic", INT64_C(9007199254740993)); /* 2^53 + 1: no double */
    row_set_count(row, "step.flops.analytic", INT64_MAX);
    row_set_samples(row, "step.time", samples, 3);
    row_set_text(row, "step.memory.peak_op", "layer1.attention \"q\"\tµ");
    json_t *record = record_of(row);
    if (!record_save(record, p->file, error))
        fail_msg("%s", error);
    json_t *loaded = record_load(p->file, error);
    if (!loaded)
        fail_msg("%s", error);

    const json_t *back = json_array_get(json_object_get(loaded, "rows"), 0);
    int64_t count = 0;
    double reals[4] = {0};
    size_t n = 0;
    const char *text = NULL;
    assert_true(row_get_count(back, "forward.flops.analytic", &count));
    assert_true(count == INT64_C(9007199254740993));
    assert_true(row_get_count(back, "step.flops.analytic", &count));
    assert_true(count == INT64_MAX);
    assert_true(row_get_reals(back, "step.time.samples", reals, 4, &n));
    assert_int_equal(n, 3);
    assert_memory_equal(reals, samples, sizeof samples);
    assert_false(row_get_reals(back, "step.time.samples", reals, 2, &n));
    assert_true(row_get_text(back, "step.memory.peak_op", &text));
    assert_string_equal(text, "layer1.attention \"q\"\tµ");
    assert_string_equal(row_reason(back, "step.time.p95"), "needs 20 samples");
    assert_true(json_equal(json_object_get(record, "host"), json_object_get(loaded, "host")));
    json_decref(record);
    json_decref(loaded);
}

static void test_getters_say_when_there_is_nothing(void **state)
{
    (void)state;
    json_t *row = good_row(500);
    int64_t count = 7;
    double real = 7;
    const char *text = NULL;
    assert_false(row_get_count(row, "forward.flops.executed", &count)); /* null */
    assert_false(row_get_count(row, "no.such.path", &count));
    assert_false(row_get_real(row, "model", &real)); /* a text */
    assert_false(row_get_text(row, "nodes", &text));
    assert_true(count == 7 && real == 7 && !text);
    assert_true(row_get_real(row, "nodes", &real)); /* counts are numbers */
    assert_true(real == 500);
    json_decref(row);
}

/* Takes every field away in turn: the row is refused, and the message names the field. */
static void test_every_field_is_required(void **state)
{
    (void)state;
    char error[MESSAGE_SIZE] = "";
    for (size_t i = 0; i < schema_fields_count; i++) {
        char parent[SCHEMA_PATH];
        json_t *row = good_row(500), *object = row;
        snprintf(parent, sizeof parent, "%s", schema_fields[i].path);
        char *dot = strrchr(parent, '.');
        if (dot) {
            *dot = '\0';
            object = (json_t *)row_get(row, parent);
        }
        assert_int_equal(json_object_del(object, dot ? dot + 1 : parent), 0);
        assert_false(row_validate(row, error));
        assert_non_null(strstr(error, schema_fields[i].path));
        json_decref(row);
    }
}

static void assert_refused(json_t *row, const char *part_of_message)
{
    char error[MESSAGE_SIZE] = "";
    assert_false(row_validate(row, error));
    if (!strstr(error, part_of_message))
        fail_msg("\"%s\" does not say \"%s\"", error, part_of_message);
    json_decref(row);
}

static void test_what_a_row_may_not_hold(void **state)
{
    (void)state;
    json_t *row = good_row(500);
    json_object_set_new(row, "loss", json_null());
    assert_refused(row, "loss: null without a reason");

    row = good_row(500);
    json_object_set_new(row, "colour", json_string("blue"));
    assert_refused(row, "colour: no such field");

    row = good_row(500);
    json_object_set_new((json_t *)row_get(row, "step.time"), "speed", json_integer(1));
    assert_refused(row, "step.time.speed: no such field");

    row = good_row(500);
    json_object_set_new(row, "nodes", json_real(500));
    assert_refused(row, "nodes: not a 64-bit integer");

    row = good_row(500);
    json_array_append_new((json_t *)row_get(row, "step.time.samples"), json_string("fast"));
    assert_refused(row, "step.time.samples: not an array of numbers");

    row = good_row(500);
    json_object_set_new(json_object_get(row, "reasons"), "loss", json_string("forgotten"));
    assert_refused(row, "reasons: loss: no field of this path is null");

    row = good_row(500);
    row_set_null(row, "loss", "");
    assert_refused(row, "reasons: loss");

    row = good_row(500);
    row_set_text(row, "status", "fine");
    assert_refused(row, "status: fine");

    row = good_row(500);
    row_set_text(row, "status", "oom");
    assert_refused(row, "reason: a row that is oom needs one");

    assert_refused(json_array(), "not an object");
}

static void test_nulls_and_reasons(void **state)
{
    (void)state;
    char error[MESSAGE_SIZE] = "";
    json_t *row = good_row(500);
    row_set_null(row, "step", "not asked for");
    row_set_real(row, "loss", INFINITY);
    if (!row_validate(row, error))
        fail_msg("%s", error);
    assert_string_equal(row_reason(row, "step.time.median"), "not asked for");
    assert_string_equal(row_reason(row, "loss"), "not a finite number");
    assert_true(json_is_null(row_get(row, "loss")));

    row_set_real(row, "loss", 0.5); /* a value takes its reason away */
    assert_null(row_reason(row, "loss"));
    row_set_null(row, "forward.time.median", "first");
    row_set_null(row, "forward.time", "second"); /* a group's reason replaces those below it */
    assert_string_equal(row_reason(row, "forward.time.median"), "second");
    assert_true(row_validate(row, error));
    json_decref(row);
}

/* One reason for a whole group that is missing, not one for each field in it. */
static void test_the_rest_is_null(void **state)
{
    (void)state;
    char error[MESSAGE_SIZE] = "";
    json_t *row = failed_row(500, "oom", "17 GiB");
    if (!row_validate(row, error))
        fail_msg("%s", error);
    assert_string_equal(json_string_value(json_object_get(json_object_get(row, "reasons"), "step")),
                        "the row was not run");
    assert_true(json_object_size(json_object_get(row, "reasons")) < 40);
    json_decref(row);
}

/* Runs f in a child and says by which signal it ended. */
static int signal_of(void (*f)(void))
{
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        f();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void set_unknown_path(void)
{
    row_set_real(json_object(), "step.time.mode", 1);
}

static void set_wrong_type(void)
{
    row_set_real(json_object(), "nodes", 1);
}

static void test_misuse_aborts(void **state)
{
    (void)state;
    assert_int_equal(signal_of(set_unknown_path), SIGABRT);
    assert_int_equal(signal_of(set_wrong_type), SIGABRT);
}

static void test_record_refuses_bad_rows(void **state)
{
    (void)state;
    char error[MESSAGE_SIZE] = "";
    json_t *record = empty_record();
    assert_false(record_add(record, json_object(), error));
    assert_int_equal(json_array_size(json_object_get(record, "rows")), 0);
    assert_true(record_validate(record, error));
    json_decref(record);
}

/* A save that breaks off in the middle of the file, by a limit on file sizes, as a full disk would. */
static void test_failed_save_keeps_the_old_file(void **state)
{
    const struct place *p = *state;
    char error[MESSAGE_SIZE] = "";
    struct rlimit old, small = {1000, 1000};
    json_t *first = record_of(good_row(100)), *second = record_of(good_row(500));
    assert_true(record_save(first, p->file, error));

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small.rlim_max = old.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    bool saved = record_save(second, p->file, error);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_false(saved);
    assert_non_null(strstr(error, p->file));
    assert_non_null(strstr(error, "cannot be written"));

    json_t *loaded = record_load(p->file, error);
    int64_t nodes = 0;
    assert_true(row_get_count(json_array_get(json_object_get(loaded, "rows"), 0), "nodes", &nodes));
    assert_int_equal(nodes, 100);
    json_decref(first);
    json_decref(second);
    json_decref(loaded);
}

/* A file system may have no hard links; this stands before the C library's. */
static bool links_refused;

int link(const char *from, const char *to)
{
    if (!links_refused)
        return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
    errno = EPERM;
    return -1;
}

static void test_what_is_replaced_is_kept(void **state)
{
    const struct place *p = *state;
    char error[MESSAGE_SIZE] = "", kept[128];
    snprintf(kept, sizeof kept, "%s~", p->file);
    for (int refused = 0; refused < 2; refused++) {
        json_t *record = record_of(good_row(refused ? 500 : 100)), *loaded;
        int64_t nodes = 0;
        assert_true(record_save(record, p->file, error));
        links_refused = refused;
        if (!record_keep(p->file, error))
            fail_msg("%s", error);
        links_refused = false;
        loaded = record_load(kept, error);
        assert_true(row_get_count(json_array_get(json_object_get(loaded, "rows"), 0), "nodes", &nodes));
        assert_int_equal(nodes, refused ? 500 : 100);
        json_decref(loaded);
        json_decref(record);
    }
    assert_int_equal(unlink(kept), 0);
}

static void test_places_that_cannot_be_written(void **state)
{
    const struct place *p = *state;
    char error[MESSAGE_SIZE] = "", beneath_file[128];
    json_t *record = empty_record();
    write_file(p->file, "x");
    snprintf(beneath_file, sizeof beneath_file, "%s/below.json", p->file);
    const char *const bad[] = {"/nonexistent/result.json", beneath_file, p->directory, "/dev/null"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(record_can_save(bad[i], error));
        assert_false(record_save(record, bad[i], error));
        assert_non_null(strstr(error, bad[i]));
    }
    struct stat null_device;
    assert_int_equal(stat("/dev/null", &null_device), 0);
    assert_true(S_ISCHR(null_device.st_mode));
    assert_true(record_can_save(p->file, error));
    json_decref(record);
}

static void assert_not_loaded(const char *path, const char *text, const char *part_of_message)
{
    char error[MESSAGE_SIZE] = "";
    write_file(path, text);
    assert_null(record_load(path, error));
    assert_non_null(strstr(error, path));
    if (!strstr(error, part_of_message))
        fail_msg("\"%s\" does not say \"%s\"", error, part_of_message);
}

static void test_malformed_files(void **state)
{
    const struct place *p = *state;
    char error[MESSAGE_SIZE] = "";
    assert_null(record_load(p->file, error));
    assert_non_null(strstr(error, "cannot be read"));
    assert_null(record_load(p->directory, error));
    assert_not_loaded(p->file, "", "not JSON");
    assert_not_loaded(p->file, "{\"schema\": 1,\n \"rows\": [", "line 2");
    assert_not_loaded(p->file, "[1, 2]", "no JSON object");
    assert_not_loaded(p->file, "{\"schema\": 99, \"rows\": []}", "schema");
    assert_not_loaded(p->file, "{\"schema\": 1, \"rows\": []}", "benchmark");
    assert_not_loaded(p->file, "{\"schema\": 9223372036854775808}", "integer");

    json_t *record = empty_record();
    json_array_append_new(json_object_get(record, "rows"), good_row(100));
    json_array_append_new(json_object_get(record, "rows"), json_object());
    char *text = json_dumps(record, 0);
    assert_not_loaded(p->file, text, "row 2: status");
    free(text);
    json_decref(record);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_round_trip, make_place, remove_place),
        cmocka_unit_test(test_getters_say_when_there_is_nothing),
        cmocka_unit_test(test_every_field_is_required),
        cmocka_unit_test(test_what_a_row_may_not_hold),
        cmocka_unit_test(test_nulls_and_reasons),
        cmocka_unit_test(test_the_rest_is_null),
        cmocka_unit_test(test_misuse_aborts),
        cmocka_unit_test(test_record_refuses_bad_rows),
        cmocka_unit_test_setup_teardown(test_failed_save_keeps_the_old_file, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_what_is_replaced_is_kept, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_places_that_cannot_be_written, make_place, remove_place),
        cmocka_unit_test_setup_teardown(test_malformed_files, make_place, remove_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
