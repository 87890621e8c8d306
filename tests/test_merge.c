/* Joining result files (analysis/compare/merge.c), and build/merge. */
#include "analysis/compare/merge.h"
#include "analysis/record/result_file.h"
#include "tests/records.h"
#include "tests/test.h"

#define PLAN "--device meta --hidden 16 --heads 2 --layers 1,2 --nodes 40,10,20,30,5 "
enum { ROWS = 10 };

/* Writes the sweep as work/whole.json and its parts as work/1.json and so on. */
static void write_parts(const struct house *h)
{
    struct ended e = run_words(h, PLAN "--output whole.json", 0);
    ended_free(&e);
    for (int index = 1; index <= 3; index++) {
        char words[256];
        snprintf(words, sizeof words, PLAN "--output %d.json --shard %d/3", index, index);
        e = run_words(h, words, 0);
        ended_free(&e);
    }
}

/* Joins these files below the house. */
static struct record *join(const struct house *h, const char *const *names, size_t count,
                           struct merge_found *found, char says[1024])
{
    struct record *records[4] = {NULL};
    char error[MESSAGE_SIZE];
    FILE *out = fmemopen(says, 1024, "w");
    for (size_t i = 0; i < count; i++)
        records[i] = record_in(h, names[i]);
    assert_true(merge_possible(records, (char *const *)names, count, error));
    struct record *joined = merge_records(records, (char *const *)names, count, "merge", out, found);
    fclose(out);
    for (size_t i = 0; i < count; i++)
        record_free(records[i]);
    assert_true(record_validate(joined, error));
    return joined;
}

/* The parts in any order, one of them twice, are the sweep. */
TEST_BETWEEN(test_join, house_setup, house_teardown)
{
    static const char *const names[] = {"work/3.json", "work/1.json", "work/2.json", "work/1.json"};
    struct merge_found found;
    char says[1024] = "", path[PATH_MAX];
    write_parts(*state);
    struct record *whole = record_in(*state, "work/whole.json");
    struct record *joined = join(*state, names, 4, &found, says);
    assert_string_equal(says, "");
    assert_int_equal(found.conflicts + found.missing, 0);
    assert_int_equal(row_count(whole), ROWS);
    assert_int_equal(row_count(joined), ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        assert_int_equal(count_at(row_at(joined, i), "position"), i);
        row_at(joined, i)->started = row_at(whole, i)->started; /* planned twice */
        assert_true(rows_equal(row_at(joined, i), row_at(whole, i)));
    }
    assert_int_equal(value_size(value_get(record_head(joined), "merged")), 4);
    snprintf(path, sizeof path, "%s/joined.json", ((const struct house *)*state)->work);
    assert_true(record_save(joined, path, says));
    struct record *saved = record_in(*state, "work/joined.json");
    assert_int_equal(row_count(saved), ROWS);
    for (size_t i = 0; i < ROWS; i++)
        assert_int_equal(count_at(row_at(saved, i), "position"), i);
    record_free(saved);
    record_free(joined);
    record_free(whole);
}

TEST_BETWEEN(test_missing, house_setup, house_teardown)
{
    static const char *const names[] = {"work/3.json", "work/1.json"};
    struct merge_found found;
    char says[1024] = "";
    write_parts(*state);
    record_free(join(*state, names, 2, &found, says));
    assert_string_equal(says, "shard 2 of 3 is missing\n");
    assert_int_equal(found.missing, 1);
    record_free(join(*state, names, 1, &found, says));
    assert_string_equal(says, "shards 1 to 2 of 3 are missing\n");
    assert_int_equal(found.missing, 2);
}

/* Parts of two sweeps, which only the seed tells apart. */
TEST_BETWEEN(test_other_seed, house_setup, house_teardown)
{
    static const char *const names[] = {"work/1.json", "work/seed.json"};
    struct merge_found found;
    char says[1024] = "";
    const struct house *h = *state;
    struct ended e = run_words(h, PLAN "--output 1.json --shard 1/2", 0);
    ended_free(&e);
    e = run_words(h, PLAN "--seed 7 --output seed.json --shard 2/2", 0);
    ended_free(&e);
    record_free(join(h, names, 2, &found, says));
    assert_string_equal(says, "shard 2 of 2 is missing of the sweep of work/1.json, seed 42\n"
                              "shard 1 of 2 is missing of the sweep of work/seed.json, seed 7\n");
    assert_int_equal(found.missing, 2);
}

/* Changes 1.json: what `plant` does to its head and first row. */
static void change(const struct house *h, void plant(struct value *head, struct row *row))
{
    char path[PATH_MAX], error[MESSAGE_SIZE];
    struct record *record = record_in(h, "work/1.json");
    plant(record_head(record), row_at(record, 0));
    snprintf(path, sizeof path, "%s/changed.json", h->work);
    assert_true(record_save(record, path, error));
    record_free(record);
}

/* A part that was not finished; the same row twice is one. */
TEST_BETWEEN(test_unfinished, house_setup, house_teardown)
{
    static const char *const names[] = {"work/changed.json", "work/changed.json", "work/2.json",
                                        "work/3.json"};
    struct merge_found found;
    char says[1024] = "", path[PATH_MAX], error[MESSAGE_SIZE];
    const struct house *h = *state;
    write_parts(h);
    struct record *record = record_in(h, "work/1.json");
    row_free(rows_take(record_rows(record), 0));
    snprintf(path, sizeof path, "%s/changed.json", h->work);
    assert_true(record_save(record, path, error));
    record_free(record);
    record_free(join(h, names, 4, &found, says));
    assert_string_equal(says, "1 of 10 rows are missing: a shard was not finished\n");
    assert_int_equal(found.missing, 1);
}

static void plant_result(struct value *head, struct row *row)
{
    (void)head;
    row_set_count(row, "parameters", 1);
}

static void plant_machine(struct value *head, struct row *row)
{
    value_set_text(value_get(head, "host"), "name", "elsewhere");
    plant_result(head, row);
}

TEST_BETWEEN(test_conflict, house_setup, house_teardown)
{
    static const char *const names[] = {"work/1.json", "work/2.json", "work/3.json", "work/changed.json"};
    struct merge_found found;
    char says[1024] = "";
    write_parts(*state);
    change(*state, plant_result);
    struct record *joined = join(*state, names, 4, &found, says);
    assert_int_equal(found.conflicts, 1);
    assert_non_null(strstr(says, "work/1.json and work/changed.json: other results of the same work"));
    assert_int_equal(row_count(joined), ROWS);
    record_free(joined);
}

/* As older versions said which processor it was: where it was calibrated. */
static void plant_older(struct value *head, struct row *row)
{
    struct value *list = value_new_array(), *calibration = value_new_object();
    (void)row;
    value_set_text(calibration, "cpu", "family 26, model 2, AMD EPYC");
    value_append(list, calibration);
    value_set(head, "calibrations", list);
    value_remove(value_get(head, "host"), "processor");
}

/* The origin of a row names what the file says, wherever it does. */
TEST_BETWEEN(test_origin_of_older_files, house_setup, house_teardown)
{
    static const char *const names[] = {"work/2.json", "work/changed.json", "work/3.json"};
    struct merge_found found;
    char says[1024] = "";
    write_parts(*state);
    change(*state, plant_older);
    struct record *joined = join(*state, names, 3, &found, says), *other = record_in(*state, names[0]);
    size_t older = 0;
    for (size_t i = 0; i < ROWS; i++) {
        const char *origin = text_at(row_at(joined, i), "origin");
        older += strcmp(origin, "family 26, model 2, AMD EPYC") == 0;
        assert_true(origin == strstr(origin, record_processor(record_head(other))) ||
                    strcmp(origin, "family 26, model 2, AMD EPYC") == 0);
    }
    assert_true(older > 0 && older < ROWS);
    record_free(joined);
    record_free(other);
}

/* Runs a planned sweep of one layer, with more flags. */
static void plan(const struct house *h, const char *more)
{
    char words[256];
    snprintf(words, sizeof words, "--device meta --hidden 16 --heads 2 --layers 1 %s", more);
    struct ended e = run_words(h, words, 0);
    ended_free(&e);
}

/* Parts of several sweeps, or of one divided in several ways, are missed each by itself. */
TEST_BETWEEN(test_sweeps, house_setup, house_teardown)
{
    static const char *const names[] = {"work/a.json", "work/b.json", "work/c.json"};
    struct merge_found found;
    char says[1024] = "";
    plan(*state, "--nodes 5,10,20 --shard 1/3 --output a.json");
    plan(*state, "--nodes 5,10,20 --shard 2/2 --output b.json");
    plan(*state, "--nodes 5,10,30 --shard 2/2 --output c.json");
    record_free(join(*state, names, 3, &found, says));
    assert_string_equal(says, "shards 2 to 3 of 3 are missing of the sweep of work/a.json, seed 42\n"
                              "shard 1 of 2 is missing of the sweep of work/b.json, seed 42\n"
                              "shard 1 of 2 is missing of the sweep of work/c.json, seed 42\n");
    assert_int_equal(found.missing, 4);
}

/* The first row of a file began at another time. */
static void change_start(const struct house *h, const char *name)
{
    char path[PATH_MAX], error[MESSAGE_SIZE];
    snprintf(path, sizeof path, "work/%s", name);
    struct record *record = record_in(h, path);
    row_set_text(row_at(record, 0), "started", "2001-02-03T04:05:06Z");
    snprintf(path, sizeof path, "%s/%s", h->work, name);
    assert_true(record_save(record, path, error));
    record_free(record);
}

/* A row of two sweeps has two places, and is one row. */
TEST_BETWEEN(test_places, house_setup, house_teardown)
{
    static const char *const names[] = {"work/a.json", "work/b.json"};
    struct merge_found found;
    char says[1024] = "";
    plan(*state, "--nodes 5,10 --output a.json");
    plan(*state, "--nodes 10 --output b.json");
    change_start(*state, "b.json");
    struct record *joined = join(*state, names, 2, &found, says);
    assert_int_equal(found.conflicts, 0);
    assert_int_equal(row_count(joined), 2);
    assert_null(value_get(record_head(joined), "shard"));
    record_free(joined);
}

static void plant_calibrations(struct value *head, struct row *row)
{
    struct value *list = value_new_array(), *calibration = value_new_object();
    (void)row;
    value_set_count(calibration, "threads", 77);
    value_append(list, calibration);
    value_set(head, "calibrations", list);
}

static void plant_calibrations_elsewhere(struct value *head, struct row *row)
{
    plant_calibrations(head, row);
    plant_machine(head, row);
}

static void plant_other(struct value *head, struct row *row)
{
    (void)row;
    value_set_text(head, "benchmark", "bench_other");
}

static void plant_tags(struct value *head, struct row *row)
{
    struct value *tags = value_new_object();
    (void)row;
    value_set_text(tags, "colour", "red");
    value_set(head, "tags", tags);
}

/* What the files share is in the head, once; what they do not is not. */
TEST_BETWEEN(test_heads, house_setup, house_teardown)
{
    static const char *const twice[] = {"work/changed.json", "work/changed.json"};
    static const char *const both[] = {"work/changed.json", "work/1.json"};
    struct merge_found found;
    char says[1024] = "", error[MESSAGE_SIZE];
    const char *name = "";
    write_parts(*state);
    change(*state, plant_calibrations);
    struct record *joined = join(*state, twice, 2, &found, says);
    assert_int_equal(value_size(value_get(record_head(joined), "calibrations")), 1);
    assert_null(value_get(record_head(joined), "shard"));
    record_free(joined);
    change(*state, plant_tags);
    joined = join(*state, twice, 2, &found, says);
    assert_non_null(value_get(record_head(joined), "tags"));
    record_free(joined);
    joined = join(*state, both, 2, &found, says);
    assert_null(value_get(record_head(joined), "tags"));
    record_free(joined);
    change(*state, plant_calibrations_elsewhere);
    joined = join(*state, both, 2, &found, says);
    assert_true(value_get_text(record_head(joined), "host.name", &name));
    assert_string_equal(name, "several");
    assert_null(value_get(record_head(joined), "calibrations"));
    record_free(joined);
    change(*state, plant_other);
    struct record *records[] = {record_in(*state, both[0]), record_in(*state, both[1])};
    assert_false(merge_possible(records, (char *const *)both, 2, error));
    assert_string_equal(error, "work/1.json: is of bench_node_scaling, but work/changed.json of bench_other");
    record_free(records[0]);
    record_free(records[1]);
}

/* Another machine's rows are no copies, and say whose they are. */
TEST_BETWEEN(test_machines, house_setup, house_teardown)
{
    static const char *const names[] = {"work/1.json", "work/2.json", "work/3.json", "work/changed.json"};
    struct merge_found found;
    char says[1024] = "";
    size_t there = 0;
    write_parts(*state);
    change(*state, plant_machine);
    struct record *joined = join(*state, names, 4, &found, says), *part = record_in(*state, "work/1.json");
    assert_int_equal(found.conflicts + found.missing, 0);
    assert_int_equal(row_count(joined), ROWS + row_count(part));
    for (size_t i = 0; i < row_count(joined); i++)
        there += strcmp(text_at(row_at(joined, i), "origin"), "elsewhere") == 0;
    assert_int_equal(there, row_count(part));
    assert_string_equal(text_at(row_at(part, 0), "status"), "ok");
    record_free(joined);
    record_free(part);
}

/* The program: what it says of conflicts, and what it does not write. */
TEST_BETWEEN(test_program, house_setup, house_teardown)
{
    const struct house *sweep = *state;
    char words[5 * PATH_MAX];
    void *h;
    house_of(&h, "merge");
    assert_ends(h, "", 2, "", "needs a result file");
    assert_ends(h, "absent.json", 2, "", "absent.json");
    write_parts(sweep);
    change(sweep, plant_result);
    snprintf(words, sizeof words, "%s/1.json %s/changed.json -o all.json", sweep->work, sweep->work);
    assert_ends(h, words, 1, "", "1 conflict; nothing is written");
    assert_ends(h, "all.json", 2, "", "all.json");
    snprintf(words, sizeof words, "%s/1.json %s/2.json -o all.json", sweep->work, sweep->work);
    assert_ends(h, words, 1, "", "all.json: is incomplete");
    assert_ends(h, "all.json", 2, "", "all.json: is merged already; give the files that it was made of");
    house_teardown(&h);
}
