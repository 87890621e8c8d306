/* --shard I/N, and build/merge, which joins the result files. */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <unistd.h>

#include "analysis/compare/merge.h"
#include "bench/sweep/shard.h"
#include "kernels/rng.h"
#include "tests/records.h"
#include "tests/sweeps.h"
#include "tests/test.h"

#define PLAN "--device meta --hidden 16 --heads 2 --layers 1,2 --nodes 40,10,20,30,5 "
enum { ROWS = 10, COSTS = 60 };

static const struct bench bench = {.name = "bench", .doc = "", .axis = AXIS_NODES, .values = "8"};

/* Every row is in one part, none is empty, and the costliest is within the greedy bound: the mean and one
 * row. */
static void check_division(const double *cost, int count, int of)
{
    int part[COSTS];
    double sum[COSTS] = {0}, all = 0, most = 0, largest = 0;
    int rows[COSTS] = {0};
    assert_true(shard_divide(cost, count, of, part));
    for (int i = 0; i < count; i++) {
        assert_in_range(part[i], 0, of - 1);
        sum[part[i]] += cost[i];
        rows[part[i]]++;
        all += cost[i];
        largest = fmax(largest, cost[i]);
    }
    for (int p = 0; p < of; p++) {
        assert_true(rows[p] > 0);
        most = fmax(most, sum[p]);
    }
    assert_true(most <= (all / of + largest * (of - 1) / of) * (1 + 1e-12));
}

static void test_division(void **state)
{
    (void)state;
    double cost[COSTS];
    for (uint64_t round = 0; round < 50; round++)
        for (int of = 1; of <= 7; of++) {
            uint64_t key = rng_key(round, "shards");
            int count = of + (int)(rng_bits(key, COSTS) % (uint64_t)(COSTS - of));
            for (int i = 0; i < count; i++)
                cost[i] = (double)(rng_bits(key, (uint64_t)i) % (round % 2 ? 4 : 1000000));
            check_division(cost, count, of);
        }
}

/* By hand, the unknown one being 17/5: 5 | 4 | 17/5, then 3 to the third, 3 to the second and 2 to the first.
 */
static void test_known_division(void **state)
{
    (void)state;
    static const double cost[] = {3, NAN, 5, 4, 2, 3};
    static const int wanted[] = {2, 2, 0, 1, 0, 1};
    int part[6];
    assert_true(shard_divide(cost, 6, 3, part));
    for (int i = 0; i < 6; i++)
        assert_int_equal(part[i], wanted[i]);
}

/* The rows of a part, as bits. */
static unsigned rows_of(const char *words)
{
    struct message error;
    struct options o = options_of(&bench, words);
    unsigned rows = 0;
    assert_true(shard_choose(&o, &error));
    assert_int_equal(config_count(&o), o.shard.count);
    for (int64_t i = 0; i < o.shard.count; i++) {
        assert_int_equal(config_at(&o, i).place, o.shard.rows[i]);
        rows |= 1u << o.shard.rows[i];
    }
    options_free(&o);
    return rows;
}

/* The parts do not depend on the device, the threads or the memory. */
static void test_same_everywhere(void **state)
{
    (void)state;
    static const char *const places[] = {"--device meta", "--device cpu --threads 3", "--device ref",
                                         "--mem-limit 1MiB"};
    unsigned all = 0;
    for (int index = 1; index <= 3; index++) {
        unsigned first = 0;
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            char words[256];
            snprintf(words, sizeof words,
                     "--nodes 40,10,20,30,5 --layers 1,2 --hidden 16 --heads 2 --shard %d/3 %s", index,
                     places[i]);
            unsigned rows = rows_of(words);
            first = i ? first : rows;
            assert_int_equal(rows, first);
        }
        assert_int_equal(all & first, 0);
        all |= first;
    }
    assert_int_equal(all, (1u << ROWS) - 1);
}

static void test_refused(void **state)
{
    static const char *const bad[] = {"0/3", "4/3",   "x",    "1",     "1/", "/3",
                                      "1/0", "1.5/3", "-1/3", "1/3/3", "3/1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char words[128], message[128];
        snprintf(words, sizeof words, PLAN "--shard %s", bad[i]);
        snprintf(message, sizeof message, "--shard %s: I/N, the I-th of N parts", bad[i]);
        assert_ends(*state, words, 2, "", message);
    }
    assert_ends(*state, PLAN "--shard 1/11", 2, "", "--shard 1/11: there are only 10 rows");
    assert_ends(*state, "--device meta --find-max nodes=memory:1MiB --shard 1/2", 2, "",
                "--shard 1/2: not with --find-max");
    assert_ends(*state, "--find-crossover attention=dense,sparse --shard 1/2", 2, "",
                "--shard 1/2: not with --find-crossover");
    assert_ends(*state, "--nodes 8,9 --against /bin/true --shard 1/2", 2, "",
                "--shard 1/2: not with --against");
}

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
static void test_join(void **state)
{
    static const char *const names[] = {"work/3.json", "work/1.json", "work/2.json", "work/1.json"};
    struct merge_found found;
    char says[1024] = "";
    write_parts(*state);
    struct record *whole = record_in(*state, "work/whole.json");
    struct record *joined = join(*state, names, 4, &found, says);
    assert_string_equal(says, "");
    assert_int_equal(found.conflicts + found.missing, 0);
    assert_int_equal(row_count(whole), ROWS);
    assert_int_equal(row_count(joined), ROWS);
    for (size_t i = 0; i < ROWS; i++) {
        assert_int_equal(count_at(row_at(joined, i), "place"), i);
        assert_true(row_equal(row_at(joined, i), row_at(whole, i)));
    }
    assert_int_equal(value_size(value_get(record_head(joined), "merged")), 4);
    record_free(joined);
    record_free(whole);
}

static void test_missing(void **state)
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
static void test_unfinished(void **state)
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

static void test_conflict(void **state)
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

/* Another machine's rows are no copies, and say whose they are. */
static void test_machines(void **state)
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

/* A part is continued by its own command alone. */
static void test_resume(void **state)
{
    write_parts(*state);
    assert_ends(*state, PLAN "--output 1.json --shard 1/3 --resume", 0, "kept", "");
    assert_ends(*state, PLAN "--output 1.json --shard 2/3 --resume", 2, "", "differs in its shard");
    assert_ends(*state, PLAN "--output 1.json --resume", 2, "", "differs in its shard");
    assert_ends(*state, PLAN "--output whole.json --shard 1/3 --resume", 2, "", "differs in its shard");
    assert_ends(*state, PLAN "--seed 7 --output 1.json --shard 1/3 --resume", 2, "", "differs in its s");
}

/* A part that is killed and continued is the part. */
static void test_kill(void **state)
{
    const struct house *h = *state;
    struct record *whole, *continued;
    int null = open("/dev/null", O_WRONLY);
    write_parts(*state);
    whole = record_in(*state, "work/2.json");
    for (int i = 0; i < 5; i++) {
        pid_t pid = program_start(h, PLAN "--output killed.json --shard 2/3 --resume", NULL, null, null);
        usleep(2000 << i);
        kill(pid, SIGKILL);
        program_wait(pid);
    }
    close(null);
    struct ended e = run_words(h, PLAN "--output killed.json --shard 2/3 --resume", 0);
    ended_free(&e);
    continued = record_in(*state, "work/killed.json");
    assert_int_equal(row_count(continued), row_count(whole));
    for (size_t i = 0; i < row_count(whole); i++)
        assert_true(row_equal(row_at(continued, i), row_at(whole, i)));
    record_free(whole);
    record_free(continued);
}

/* The program: what it says of conflicts, and what it does not write. */
static void test_program(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_division),
        cmocka_unit_test(test_known_division),
        cmocka_unit_test(test_same_everywhere),
        cmocka_unit_test_setup_teardown(test_refused, house_setup, house_teardown),
        cmocka_unit_test_setup_teardown(test_join, house_setup, house_teardown),
        cmocka_unit_test_setup_teardown(test_missing, house_setup, house_teardown),
        cmocka_unit_test_setup_teardown(test_unfinished, house_setup, house_teardown),
        cmocka_unit_test_setup_teardown(test_conflict, house_setup, house_teardown),
        cmocka_unit_test_setup_teardown(test_machines, house_setup, house_teardown),
        cmocka_unit_test_setup_teardown(test_resume, house_setup, house_teardown),
        cmocka_unit_test_setup_teardown(test_kill, house_setup, house_teardown),
        cmocka_unit_test_setup_teardown(test_program, house_setup, house_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
