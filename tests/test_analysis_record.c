/*
 * Rows and result files: values survive a round trip, incomplete rows are refused, a file is never half
 * written.
 */
#include "analysis/record/file.h"
#include "analysis/record/lines.h"
#include "analysis/record/result_file.h"
#include "analysis/record/schema.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"
#include "tests/values.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct record_directory {
    char directory[64], file[96];
};

static int make_directory(void **state)
{
    struct record_directory *p = calloc(1, sizeof *p);
    snprintf(p->directory, sizeof p->directory, "/tmp/gtmark-record-XXXXXX");
    if (!mkdtemp(p->directory))
        return -1;
    snprintf(p->file, sizeof p->file, "%s/result.json", p->directory);
    *state = p;
    return 0;
}

static int remove_directory(void **state)
{
    struct record_directory *p = *state;
    unlink(p->file);
    int result = rmdir(p->directory); /* fails if a save left other files */
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

static struct record *record_of(struct row *row)
{
    struct record *record = empty_record();
    add_row(record, row);
    return record;
}

TEST_BETWEEN(test_round_trip, make_directory, remove_directory)
{
    const struct record_directory *p = *state;
    char error[MESSAGE_SIZE] = "";
    const double samples[] = {0.0123456789012345, 1e-9, 1234.5};
    struct row *row = good_row(500);
    row_set_count(row, "forward.flops.analytic", INT64_C(9007199254740993)); /* 2^53 + 1: not a double */
    row_set_count(row, "step.flops.analytic", INT64_MAX);
    row_set_samples(row, "step.time", samples, 3);
    row_set_text(row, "step.memory.peak_op", "layer1.attention \"q\"\tµ");
    struct record *record = record_of(row);
    if (!record_save(record, p->file, error))
        fail_msg("%s", error);
    struct record *loaded = record_load(p->file, error);
    if (!loaded)
        fail_msg("%s", error);

    const struct row *back = rows_at(record_rows(loaded), 0);
    assert_true(back->forward.flops.analytic == INT64_C(9007199254740993));
    assert_true(back->step.flops.analytic == INT64_MAX);
    assert_int_equal(back->step.time.samples.count, 3);
    for (int i = 0; i < 3; i++)
        assert_true(back->step.time.samples.reals[i] == samples[i]);
    assert_string_equal(back->step.memory.peak_op, "layer1.attention \"q\"\tµ");
    assert_false(row_has(back, "step.time.p95")); /* of so few samples */
    assert_true(value_equal(value_get(record_head(record), "host"), value_get(record_head(loaded), "host")));
    record_free(record);
    record_free(loaded);
}

TEST(test_getters_say_when_there_is_nothing)
{
    struct row *row = good_row(500);
    double real = 7;
    assert_false(row_get_real(row, "forward.flops.executed", &real)); /* absent */
    assert_false(row_get_real(row, "no.such.path", &real));
    assert_false(row_get_real(row, "model", &real)); /* a text */
    assert_true(real == 7);
    assert_true(row_get_real(row, "nodes", &real)); /* counts are numbers */
    assert_true(real == 500);
    row_free(row);
}

/* The document of a record with one row, for modification, and that row in it. */
static struct value *document_of(struct row *row)
{
    char *text = NULL, error[MESSAGE_SIZE];
    size_t size;
    FILE *out = open_memstream(&text, &size);
    struct record *record = record_of(row);
    assert_true(record_write(record, out) && fclose(out) == 0);
    struct value *document = value_parse(text, error);
    assert_non_null(document);
    record_free(record);
    free(text);
    return document;
}

static struct value *row_in(const struct value *document)
{
    return value_at(value_get(document, "rows"), 0);
}

static struct row *read_row(const char *text)
{
    char error[MESSAGE_SIZE];
    struct row_line line;
    struct row *row = row_read(text, strlen(text), &line, error);
    assert_non_null(row);
    row_line_free(&line);
    return row;
}

/* Fields that older versions had under another name. */
TEST(test_older_names)
{
    struct row *row =
        read_row("{\"step\":{\"flops\":{\"seed\":5,\"torch\":6,\"fvcore\":7,\"deepspeed\":8,\"other\":9}}}");
    assert_true(row->step.flops.convention.simple == 5 && row->step.flops.convention.torch == 6);
    assert_true(row->step.flops.convention.fvcore == 7 && row->step.flops.convention.deepspeed == 8);
    row_free(row);
    row = read_row("{\"ranks\":{\"ghosts_max\":3},\"step\":{\"predicted\":{\"ceilings\":\"given\"}},"
                   "\"absent\":{\"forward.predicted.ceilings\":\"not asked for\"}}");
    assert_true(row->ranks.halo_nodes_max == 3 && strcmp(row->step.predicted.peaks, "given") == 0);
    assert_string_equal(row_reason(row, "forward.predicted.peaks"), "not asked for");
    row_free(row);
}

/* What a member of a wrong type, or a list with one, is: the flaw of the row. */
TEST(test_wrong_types)
{
    static const char *const wrong[][2] = {
        {"{\"nodes\":5.0}", "nodes: not a 64-bit integer"},
        {"{\"nodes\":{\"a\":1}}", "nodes: not a 64-bit integer"},
        {"{\"nodes\":null}", "nodes: not a 64-bit integer"},
        {"{\"degree\":[1]}", "degree: not a number"},
        {"{\"model\":1}", "model: not a text"},
        {"{\"step\":{\"time\":{\"samples\":[1,\"2\"]}}}", "step.time.samples: not an array of numbers"},
        {"{\"step\":{\"time\":{\"samples\":[[1]]}}}", "step.time.samples: not an array of numbers"},
        {"{\"step\":{\"time\":{\"samples\":1}}}", "step.time.samples: not an array of numbers"},
        {"{\"step\":{\"choices\":[\"a\",1]}}", "step.choices: not an array of texts"},
        {"{\"absent\":1}", "absent: not an object"},
        {"{\"absent\":{\"step\":\"\"}}", "absent: not texts, or empty ones"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct row *row = read_row(wrong[i][0]);
        assert_string_equal(row->flaw, wrong[i][1]);
        row_free(row);
    }
}

/* Members of objects in arrays, and of long paths, are none of the row; lists may be empty, names escaped. */
TEST(test_members)
{
    char text[512];
    snprintf(text, sizeof text,
             "{\"other\":[{\"nodes\":7}],\"%0200d\":{\"nodes\":8},\"nod\\u0065s\":9,"
             "\"step\":{\"time\":{\"samples\":[]},\"choices\":[]}}",
             0);
    struct row *row = read_row(text);
    assert_true(!row->flaw && row->nodes == 9);
    assert_true(row->step.time.samples.list && row->step.time.samples.count == 0 && row->step.choices.list);
    row_free(row);
}

/* The same in the head of a document and of lines, in which other members stay. */
TEST(test_older_names_of_heads)
{
    static const char fits[] = "[{\"law\":\"1 + N\",\"law_coefficients\":[1.0,2.0],\"law_error\":0.5,"
                               "\"verdict\":\"agrees\"},{\"absent\":{\"law\":\"few\"}}]";
    static const char now[] = "[{\"formula\":\"1 + N\",\"coefficients\":[1.0,2.0],\"error\":0.5,"
                              "\"verdict\":\"agrees\"},{\"absent\":{\"formula\":\"few\"}}]";
    char error[MESSAGE_SIZE], settings[] = "{\"runs\":0,\"ceilings\":\"H100\"}";
    (void)state;
    for (int lines = 0; lines < 2; lines++) {
        struct value *document = document_of(good_row(100));
        value_set(document, "fits", value_parse(fits, error));
        value_set(document, "settings", value_parse(settings, error));
        char *head = NULL, *text = value_print(document);
        if (lines) { /* the head, without its bracket, and the fits in the last line */
            value_remove(document, "rows");
            value_remove(document, "fits");
            head = value_print(document);
            free(text);
            const char *run = "";
            value_get_text(document, "run", &run);
            assert_true(asprintf(&text,
                                 "{\"kind\":\"head\",%s\n{\"kind\":\"end\",\"run\":\"%s\",\"fits\":%s}\n",
                                 head + 1, run, fits) > 0);
        }
        struct record *record = record_parse(text, error);
        assert_non_null(record);
        char *printed = value_print(value_get(record_head(record), "fits"));
        assert_string_equal(printed, now);
        assert_string_equal(text_in(record_head(record), "settings.peaks"), "H100");
        assert_null(value_get(record_head(record), "settings.ceilings"));
        free(printed);
        free(text);
        free(head);
        record_free(record);
        value_free(document);
    }
}

/* What follows from other fields is not in a file, and ignored where another program wrote it. */
TEST(test_derived_fields)
{
    const struct {
        const char *path;
        double value;
    } expected[] = {
        {"step.time.repetitions", 3},
        {"step.time.other_repetitions", 0},
        {"step.time.range_low", 1},
        {"step.time.range_high", 6},
        {"step.time.cv", sqrt(7) / 3},
        {"step.memory.per_graph", 500},
        {"step.memory.per_node", 50},
        {"step.memory.efficiency", 0.75},
        {"step.intensity", 4},
        {"step.gflops", 4},
        {"step.model_gflops", 3.5},
        {"step.bandwidth", 1},
        {"step.throughput", 1},
        {"step.nodes_per_second", 10},
        {"step.edges_per_second", 30},
        {"step.launch.per_entry", 0.125},
        {"step.bound.ratio", 8},
        {"step.communication.error", -0.25},
        {"graph.degree_mean", 3},
        {"graph.padding_waste", 0.25},
        {"encoding.break_even_step", 397},
    };
    char error[MESSAGE_SIZE] = "";
    struct row *row = good_row(10);
    row->batch = 2;
    row->graph.nodes = 20;
    row->graph.edges = 60;
    row->graph.pairs = 300;
    row->graph.padded_pairs = 400;
    row_set_samples(row, "step.time", (double[]){1, 2, 6}, 3);
    row_set_samples(row, "encoding.time", (double[]){8}, 1);
    row->step.memory.planned = 1000;
    row->step.memory.peak_live = 750;
    row->step.flops.analytic = 8000000000;
    row->step.recompute.flops = 1000000000;
    row->step.bytes = 2000000000;
    row->step.launch.median = 1;
    row->step.launch.entries = 8;
    row->step.bound.time = 0.25;
    row->step.communication.predicted = 3;
    row->step.communication.time = 4;
    row_derive(row);
    struct value *document = document_of(row);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        assert_null(value_get(row_in(document), expected[i].path));
    value_set_text(value_get(row_in(document), "step"), "gflops", "much");
    char *text = value_print(document);
    struct record *record = record_parse(text, error);
    assert_non_null(record);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        double value = 0;
        if (!row_get_real(rows_at(record_rows(record), 0), expected[i].path, &value) ||
            !(fabs(value - expected[i].value) <= 1e-12 * fabs(expected[i].value)))
            fail_msg("%s: %g", expected[i].path, value);
    }
    record_free(record);
    value_free(document);
    free(text);
}

static void assert_refused(struct value *document, const char *part_of_message)
{
    char error[MESSAGE_SIZE] = "", *text = value_print(document);
    assert_null(record_parse(text, error));
    if (!strstr(error, part_of_message))
        fail_msg("\"%s\" does not say \"%s\"", error, part_of_message);
    free(text);
    value_free(document);
}

static void assert_row_refused(struct row *row, const char *part_of_message)
{
    char error[MESSAGE_SIZE] = "";
    assert_false(row_validate(row, error));
    if (!strstr(error, part_of_message))
        fail_msg("\"%s\" does not say \"%s\"", error, part_of_message);
    row_free(row);
}

TEST(test_what_a_row_may_not_hold)
{
    struct row *row = good_row(500);
    row_set_text(row, "status", "fine");
    assert_row_refused(row, "status: fine");

    row = good_row(500);
    row_set_text(row, "status", "oom");
    assert_row_refused(row, "reason: a row that is oom needs one");
}

TEST(test_what_a_row_of_a_file_may_not_hold)
{
    struct value *good = document_of(good_row(500)), *bad = value_copy(good);
    value_set_null(row_in(bad), "loss");
    assert_refused(bad, "loss: not a number");

    bad = value_copy(good);
    value_set_real(row_in(bad), "nodes", 500);
    assert_refused(bad, "nodes: not a 64-bit integer");

    bad = value_copy(good);
    value_append(value_get(row_in(bad), "step.time.samples"), value_new_text("fast"));
    assert_refused(bad, "step.time.samples: not an array of numbers");

    bad = value_copy(good);
    value_set(row_in(bad), "absent", value_new_text("loss"));
    assert_refused(bad, "absent: not an object");

    bad = value_copy(good);
    value_set(bad, "rows", value_new_array());
    value_append(value_get(bad, "rows"), value_new_array());
    assert_refused(bad, "not an object");
    value_free(good);
}

/* A row's member as lines have it, whose arrays of numbers have no tree, and of a line of another order. The
 * same is refused of both, and the same is read. */
static void read_member(const char *member, bool usual, struct row **row, char error[MESSAGE_SIZE])
{
    char text[MESSAGE_SIZE];
    struct file_runs runs;
    int size = snprintf(text, sizeof text, "{\"kind\":\"head\",\"run\":\"r\"}\n{%s,\"run\":\"r\",%s,%s}\n",
                        usual ? "\"kind\":\"row\"" : "\"status\":\"ok\"", member,
                        usual ? "\"status\":\"ok\"" : "\"kind\":\"row\"");
    bool good = lines_read(text, (size_t)size, &runs, error);
    *row = good ? row_copy(rows_at(record_rows(runs.list[0]), 0)) : NULL;
    if (good && row_validate(*row, error))
        strcpy(error, "none");
    runs_free(&runs);
}

TEST(test_arrays_of_lines)
{
    static const char *const members[][2] = {
        {"\"id\":1,\"step\":{\"time\":{\"samples\":[1.5, -2,3e1 ,0.1]}}", "none"},
        {"\"id\":1,\"step\":{\"time\":{\"samples\":[]}}", "none"},
        {"\"id\":1,\"other\":[1,[2,3],[4]]", "none"},
        {"\"id\":1,\"step\":{\"profile\":{\"flops\":[9007199254740993,-1]}}", "none"},
        {"\"id\":1,\"step\":{\"profile\":{\"flops\":[1,2.0]}}", "flops: not an array of 64-bit integers"},
        {"\"id\":1,\"step\":{\"profile\":{\"op\":[1]}}", "op: not an array of texts"},
        {"\"id\":1,\"step\":{\"time\":{\"samples\":[1,[2]]}}", "samples: not an array of numbers"},
        {"\"id\":1,\"step\":{\"time\":{\"samples\":[[1]]}}", "samples: not an array of numbers"},
        {"\"id\":1,\"step\":{\"time\":{\"samples\":[1,\"\"]}}", "samples: not an array of numbers"},
        {"\"id\":1,\"nodes\":[1]", "nodes: not a 64-bit integer"},
        {"\"id\":1,\"loss\":[1.0]", "loss: not a number"},
        {"\"id\":1,\"model\":[1]", "model: not a text"},
        {"\"id\":1,\"absent\":[1]", "absent: not an object"},
        {"\"id\":[1]", "line 2: no line of a result file: a row without id"},
        {"\"id\":1,\"loss\":[1,1e999]", "line 2: not JSON: line 1: real number out of range"},
        {"\"id\":1,\"loss\":[1,01]", "line 2: not JSON: line 1: expected , or ] in an array"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        char error[2][MESSAGE_SIZE];
        struct row *row[2];
        for (int usual = 0; usual < 2; usual++) {
            read_member(members[i][0], usual, &row[usual], error[usual]);
            if (!strstr(error[usual], members[i][1]))
                fail_msg("%s: \"%s\" does not say \"%s\"", members[i][0], error[usual], members[i][1]);
        }
        for (const struct field *f = schema_fields; row[0] && schema_has(f); f++)
            if (row_order(row[0], row[1], f) != 0)
                fail_msg("%s: %s differs", members[i][0], f->path);
        row_free(row[0]);
        row_free(row[1]);
    }
}

TEST(test_nulls_and_reasons)
{
    char error[MESSAGE_SIZE] = "";
    struct row *row = good_row(500);
    row_omit(row, "step", "not asked for");
    row_set_real(row, "loss", INFINITY);
    if (!row_validate(row, error))
        fail_msg("%s", error);
    assert_string_equal(row_reason(row, "step.time.median"), "not asked for");
    assert_string_equal(row_reason(row, "loss"), "not a finite number");
    assert_false(row_has(row, "loss"));

    row_set_real(row, "loss", 0.5); /* a value removes its reason */
    assert_null(row_reason(row, "loss"));
    row_omit(row, "forward.time.median", "first");
    row_omit(row, "forward.time", "second"); /* a group's reason replaces those of its fields */
    assert_string_equal(row_reason(row, "forward.time.median"), "second");
    assert_true(row_validate(row, error));
    row_free(row);
}

/* Runs f in a child process and returns the signal that ended it. */
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
    row_set_real(row_new(), "step.time.mode", 1);
}

static void set_wrong_type(void)
{
    row_set_real(row_new(), "nodes", 1);
}

TEST(test_misuse_aborts)
{
    assert_int_equal(signal_of(set_unknown_path), SIGABRT);
    assert_int_equal(signal_of(set_wrong_type), SIGABRT);
}

TEST(test_record_refuses_bad_rows)
{
    char error[MESSAGE_SIZE] = "";
    struct record *record = empty_record();
    assert_false(record_put(record, 0, false, row_new(), error));
    assert_int_equal(rows_count(record_rows(record)), 0);
    assert_true(record_validate(record, error));
    record_free(record);
}

/* A save that fails in the middle of the file, due to a file size limit, as on a full disk. */
TEST_BETWEEN(test_failed_save_keeps_the_old_file, make_directory, remove_directory)
{
    const struct record_directory *p = *state;
    char error[MESSAGE_SIZE] = "";
    struct rlimit old, small = {1000, 1000};
    struct record *first = record_of(good_row(100)), *second = record_of(good_row(500));
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

    struct record *loaded = record_load(p->file, error);
    assert_int_equal(rows_at(record_rows(loaded), 0)->nodes, 100);
    record_free(first);
    record_free(second);
    record_free(loaded);
}

/* Simulates a file system without hard links; overrides the C library's link. */
static bool links_refused;

int link(const char *from, const char *to)
{
    if (!links_refused)
        return linkat(AT_FDCWD, from, AT_FDCWD, to, 0);
    errno = EPERM;
    return -1;
}

TEST_BETWEEN(test_what_is_replaced_is_kept, make_directory, remove_directory)
{
    const struct record_directory *p = *state;
    char error[MESSAGE_SIZE] = "", kept[128];
    snprintf(kept, sizeof kept, "%s~", p->file);
    for (int refused = 0; refused < 2; refused++) {
        struct record *record = record_of(good_row(refused ? 500 : 100)), *loaded;
        assert_true(record_save(record, p->file, error));
        links_refused = refused;
        if (!record_keep(p->file, error))
            fail_msg("%s", error);
        links_refused = false;
        loaded = record_load(kept, error);
        assert_int_equal(rows_at(record_rows(loaded), 0)->nodes, refused ? 500 : 100);
        record_free(loaded);
        record_free(record);
    }
    assert_int_equal(unlink(kept), 0);
}

TEST_BETWEEN(test_places_that_cannot_be_written, make_directory, remove_directory)
{
    const struct record_directory *p = *state;
    char error[MESSAGE_SIZE] = "", beneath_file[128];
    struct record *record = empty_record();
    write_file(p->file, "x");
    snprintf(beneath_file, sizeof beneath_file, "%s/below.json", p->file);
    const char *const bad[] = {"/nonexistent/result.json", beneath_file, p->directory, "/dev/null"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(file_can_save(bad[i], error));
        assert_false(record_save(record, bad[i], error));
        assert_non_null(strstr(error, bad[i]));
    }
    struct stat null_device;
    assert_int_equal(stat("/dev/null", &null_device), 0);
    assert_true(S_ISCHR(null_device.st_mode));
    assert_true(file_can_save(p->file, error));
    record_free(record);
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

TEST_BETWEEN(test_malformed_files, make_directory, remove_directory)
{
    const struct record_directory *p = *state;
    char error[MESSAGE_SIZE] = "";
    assert_null(record_load(p->file, error));
    assert_non_null(strstr(error, "cannot be read"));
    assert_null(record_load(p->directory, error));
    assert_not_loaded(p->file, "", "not JSON");
    assert_not_loaded(p->file, "{\"schema\": 2,\n \"rows\": [", "line 2");
    assert_not_loaded(p->file, "[1, 2]", "no result file");
    assert_not_loaded(p->file, "{\"schema\": 1, \"rows\": []}",
                      "written by another version: its schema is not 2");
    assert_not_loaded(p->file, "{\"schema\": 2, \"rows\": []}", "run: missing");
    assert_not_loaded(p->file, "{\"schema\": 9223372036854775808}", "integer");

    struct value *document = document_of(good_row(100));
    value_append(value_get(document, "rows"), value_new_object());
    char *text = value_print(document);
    assert_not_loaded(p->file, text, "row 2: status");
    free(text);
    value_free(document);
}
