/* What compare prints of several machines: columns, names, where their order flips, and the summary. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/record/record.h"
#include "tests/compared.h"
#include "tests/events.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

/* Of several machines, a column each; what differs between files alone is named above the table. */
TEST(test_machines)
{
    struct record *a = machine("Same", three, 1), *b = machine("Same", three, 1),
                  *c = machine("Same", three, 0.5);
    struct value *gpu = value_new_object(), *devices = value_new_array();
    value_set_text(gpu, "device", "cuda:0");
    value_set_text(gpu, "name", "A GPU");
    value_append(devices, gpu);
    value_set(record_head(c), "devices", devices);
    for (size_t i = 0; i < 3; i++) {
        row_set_count(row_at(b, i), "threads", 16);
        row_set_text(row_at(c, i), "device", "cuda:0");
    }
    save(*state, "a.json", a);
    save(*state, "b.json", b);
    save(*state, "c.json", c);
    char *out = compare(*state, "a.json b.json c.json --phase step", 0);
    assert_says(out, "B  Same, cpu, 16 threads: b.json\nC  A GPU, cuda:0, 2 threads: c.json\n");
    assert_says(out, "   device: A cpu; B cpu; C cuda:0\n   threads: A 2; B 16; C 2\n");
    assert_says(out, "nodes        program        A        B   C A GPU\n  100  training step  ");
    assert_int_equal(occurrences(out, "  *"), 3); /* C is the best of every row */
    assert_says(out, "B, training step: 3 same; geometric mean of B / A 1.000 over 3 rows\n");
    assert_says(out, "C, training step: 3 faster; geometric mean of C / A 0.500 over 3 rows\n");
    free(out);
    out = compare(*state, "a.json b.json c.json --phase step --format md", 0);
    assert_int_equal(occurrences(out, " ms | **"), 3);
    free(out);
    static const int64_t first[] = {100, 0};
    save(*state, "a.json", machine("One", first, 1)); /* what others have is compared without it */
    out = compare(*state, "a.json b.json c.json --phase step", 0);
    assert_says(out, "\n  500  training step        -  20.0 ms  *9.98 ms\n");
    free(out);
}

/* Processors have names where their numbers are known. */
TEST(test_processors)
{
    save(*state, "a.json", machine("family 6, model 207, Intel(R) Xeon(R) Processor, stepping 2", three, 1));
    save(*state, "b.json", machine("family 25, model 17, AMD EPYC, stepping 1", three, 1));
    save(*state, "c.json", machine("family 6, model 1, Pentium Pro", three, 1));
    char *out = compare(*state, "a.json b.json c.json", 0);
    assert_says(out,
                "A Emerald Rapids (family 6, model 207, Intel(R) Xeon(R) Processor, stepping 2), cpu, 2");
    assert_says(out, "C  family 6, model 1, Pentium Pro, cpu, 2");
    assert_says(out, "nodes        program  A Emerald Rapids  B Zen 4  C family 6, model 1\n");
    free(out);
}

/* What compare prints of a second machine whose steps take so many times as long as those of the first. */
static char *compare_factors(const struct house *h, const double factors[3], double noise)
{
    struct record *b = machine("New", three, 1);
    for (size_t i = 0; i < 3; i++) {
        const double both[] = {(1 - noise) * factors[i], (1 + noise) * factors[i]};
        double x[2 * REPORTED_MIN];
        for (size_t k = 0; k < 2 * REPORTED_MIN; k++)
            x[k] = 4e-5 * (double)three[i] * both[k % 2];
        row_set_samples(row_at(b, i), "step.time", x, 2 * REPORTED_MIN);
    }
    save(h, "a.json", machine("Old", three, 1));
    save(h, "b.json", b);
    return compare(h, "a.json b.json --phase step", 0);
}

/* Where the order flips is said if it does, not if it does not, nor if that is open. */
TEST(test_flips)
{
    static const double flip[] = {0.8, 1, 1.25}, back[] = {1.25, 1, 0.8}, none[] = {1.2, 1.3, 1.4};
    char *out = compare_factors(*state, flip, 0.01);
    assert_int_equal(occurrences(out, "step: New is 1.25 times faster than Old at 100 nodes, 1.25 times "
                                      "slower at 500; they cross near 200\n"),
                     1);
    free(out);
    out = compare_factors(*state, back, 0.01);
    assert_says(out, "step: Old is 1.25 times faster than New at 100 nodes, 1.25 times slower at 500;");
    free(out);
    out = compare_factors(*state, none, 0.01);
    assert_null(strstr(out, "cross near"));
    free(out);
    out = compare_factors(*state, flip, 0.3);
    assert_null(strstr(out, "cross near"));
    assert_says(out, "B, training step: 3 inconclusive;");
    free(out);
}

/* The summary of two machines, the second of which takes so many times as long for each step, and has a file
 * of its own with other rows. */
static char *summary(const struct house *h, const double factors[3], double noise, const int64_t *alone)
{
    static const char *const names[] = {"a.json", "b.json"};
    char from[PATH_MAX], to[PATH_MAX];
    free(compare_factors(h, factors, noise));
    for (int m = 0; m < 2; m++) {
        snprintf(to, sizeof to, "%s/machine%d", h->work, m);
        mkdir(to, 0777);
        snprintf(from, sizeof from, "%s/%s", h->work, names[m]);
        strcat(to, "/nodes.json");
        assert_int_equal(rename(from, to), 0);
    }
    save(h, "machine1/alone.json", machine("New", alone, 1));
    return compare(h, "machine0/nodes.json machine1/nodes.json machine1/alone.json --summary", 0);
}

/* All files on one screen: a machine is the best on average if it is faster often enough, and never slower.
 */
TEST(test_summary)
{
    static const double all[] = {0.7, 0.7, 0.7}, one[] = {0.7, 1, 1}, mixed[] = {0.5, 0.7, 1.5};
    static const int64_t more[] = {700, 0};
    char *out = summary(*state, all, 0.01, more);
    assert_says(out, "A  Old: machine0, version ");
    assert_says(
        out, "\nnodes (graph_transformer, batch size 1, 6 layers): inference / training step\n  100 nodes  ");
    assert_says(out, " 1.00 ms / 4.00 ms    1.00 ms / *2.80 ms\n");
    assert_says(out, " 1.00 / 1.43          1.00 / *1.00\n");
    assert_says(out, "\nnot compared: B, alone: no other machine has it\n");
    free(out);
    out = summary(*state, one, 0.01, more);
    assert_says(out, " 1.00 / 1.13           1.00 / 1.00\n");
    free(out);
    out = summary(*state, mixed, 0.01, more);
    assert_says(out, " 1.00 / 1.24           1.00 / 1.00\n");
    assert_says(out, "step: New is 1.4");
    free(out);
    out = summary(*state, all, 0.01, three); /* another file of the machine has other times of these rows */
    assert_says(out, " 1.00 ms / 4.00 ms     1.00 ms / 3.40 ms\n");
    free(out);
    out = summary(*state, all, 0.5, more);
    assert_says(out, " 1.00 / 1.43           1.00 / 1.00\n");
    free(out);
}

/* On a terminal the best is bold. */
TEST(test_bold)
{
    int master, slave, null = open("/dev/null", O_WRONLY);
    save(*state, "a.json", machine("Old", three, 1));
    save(*state, "b.json", machine("New", three, 0.5));
    open_terminal(100, &master, &slave);
    pid_t pid = program_start(*state, "a.json b.json --phase step", NULL, slave, null);
    close(slave);
    assert_true(read_until(master, "\033[1m*2.00", 1));
    free(read_rest(master));
    assert_int_equal(program_wait(pid), 0);
    close(null);
}

static int setup(void **state)
{
    return house_of(state, "compare");
}

GROUP("tests", setup, house_teardown)
