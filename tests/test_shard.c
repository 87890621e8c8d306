/* --shard I/N. */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <unistd.h>

#include "bench/row/workload.h"
#include "bench/sweep/estimate.h"
#include "bench/sweep/resume.h"
#include "kernels/rng.h"
#include "models/encodings/bound.h"
#include "models/encodings/compute.h"
#include "tests/encodings.h"
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
    shard_divide(cost, count, of, part);
    for (int i = 0; i < count; i++) {
        assert_between(part[i], 0, of - 1);
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

TEST(test_division)
{
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
TEST(test_known_division)
{
    static const double cost[] = {3, NAN, 5, 4, 2, 3};
    static const int wanted[] = {2, 2, 0, 1, 0, 1};
    int part[6];
    shard_divide(cost, 6, 3, part);
    for (int i = 0; i < 6; i++)
        assert_int_equal(part[i], wanted[i]);
}

/* Rows that cost nothing are shared out too. */
TEST(test_nothing)
{
    static const double cost[5] = {0};
    check_division(cost, 5, 5);
    check_division(cost, 5, 2);
}

/* The cost of the only row of a sweep. */
static double cost_of(const char *words)
{
    struct options o = options_of(&bench, words);
    double *cost = shard_costs(&o), only = cost[0];
    assert_int_equal(o.plan.count, 1);
    free(cost);
    options_free(&o);
    return only;
}

/* That of the encoding is the row's cost without its programs; what exceeds 63 bits is no small number; and
 * memory does not matter. */
TEST(test_costs)
{
    struct options o = options_of(&bench, "--pe lap:4 --nodes 50 --hidden 32 --heads 2");
    struct config c = o.plan.list[0];
    struct estimate e = estimate_row(&o, &c, NULL);
    double sum = e.encoding;
    for (enum program_kind p = 0; p < PROGRAMS; p++)
        sum += (double)e.program[p].flops;
    options_free(&o);
    assert_true(e.encoding > 0);
    assert_true(cost_of("--pe lap:4 --nodes 50 --hidden 32 --heads 2") == sum);
    assert_true(cost_of("--nodes 100000000 --device meta") >= 0x1p63);
    char file[] = "/tmp/gtmark-XXXXXX", words[128];
    int out = mkstemp(file);
    assert_int_equal(write(out, "1 2\n", 4), 4);
    close(out);
    snprintf(words, sizeof words, "--hidden 16 --heads 2 --mem-limit 1B --graph file:%s", file);
    assert_true(cost_of(words) > 0);
    unlink(file);
}

/* FLOPs of an encoding over what they were taken to be. */
static double unlikeliness(const struct options *o, const struct config *c)
{
    struct workload w;
    struct encoding e;
    struct message error;
    struct encoding_options with = {.threads = 1};
    assert_true(workload_generate(&w, o, c, &error));
    double likely = encoding_likely_flops(&c->parts.pe, &w.batch);
    assert_true(encoding_compute(&c->parts.pe, &w.batch, &with, &e, error.text, sizeof error.text));
    double ratio = (double)e.cost.flops / likely;
    encoding_free(&e);
    workload_close(&w);
    return ratio;
}

/* Encodings cost about what they are taken to cost, and none of the published models' fills a part. */
TEST(test_encodings)
{
    needs_lapack();
    static const struct bench published = {.name = "bench", .doc = "", .axis = AXIS_PRESET, .values = "zinc"};
    static const char *const words[] = {"--graph er:giant --nodes 600 --pe lap:16:4",
                                        "--graph grid --nodes 900 --pe lap-pyg:8:4",
                                        "--graph ba --nodes 600 --pe rwse:16:4",
                                        "--graph er --nodes 600 --pe heat:8:4",
                                        "--graph er --nodes 60 --batch 16 --pe rwse:8:4",
                                        "--graph er --nodes 40 --degree 30 --batch 4 --pe heat:8:4"};
    for (size_t i = 0; i <= sizeof words / sizeof *words; i++) {
        bool own = i < sizeof words / sizeof *words;
        struct options o = options_of(own ? &bench : &published, own ? words[i] : "--preset all --batch 2");
        for (int64_t row = 0; row < o.plan.count; row++) {
            struct config c = o.plan.list[row];
            double ratio = c.parts.pe.kind ? unlikeliness(&o, &c) : 1;
            if (!(ratio > 0.2 && ratio < 5))
                fail_msg("%s: row %d: %g times the likely FLOPs", own ? words[i] : "presets", (int)row,
                         ratio);
        }
        options_free(&o);
    }
    struct options o = options_of(&published, "--preset all");
    int part[COSTS];
    double *cost = shard_costs(&o), sum[3] = {0};
    shard_divide(cost, o.plan.count, 3, part);
    for (int64_t i = 0; i < o.plan.count; i++)
        sum[part[i]] += cost[i];
    assert_true(fmax(fmax(sum[0], sum[1]), sum[2]) < 1.1 * fmin(fmin(sum[0], sum[1]), sum[2]));
    free(cost);
    options_free(&o);
}

/* The hash of a sweep, which its parts share. */
static void hash_of(const char *words, char hash[17])
{
    struct message error;
    struct options o = options_of(&bench, words);
    const char *text = "";
    assert_true(shard_choose(&o, &error));
    struct value *shard = shard_value(&o);
    assert_true(value_get_text(shard, "sweep", &text));
    snprintf(hash, 17, "%s", text);
    value_free(shard);
    options_free(&o);
}

TEST(test_hash)
{
    char a[17], b[17], other[17];
    hash_of("--nodes 10,20 --shard 1/2", a);
    hash_of("--nodes 10,20 --shard 2/2", b);
    hash_of("--nodes 10,30 --shard 1/2", other);
    assert_string_equal(a, b);
    assert_string_not_equal(a, other);
}

/* The rows of a part, as bits. */
static unsigned rows_of(const char *words)
{
    struct message error;
    struct options o = options_of(&bench, words);
    unsigned rows = 0;
    assert_true(shard_choose(&o, &error));
    for (int64_t i = 0; i < o.plan.count; i++)
        rows |= 1u << o.plan.list[i].position;
    options_free(&o);
    return rows;
}

/* The parts do not depend on the device, the threads or the memory. */
TEST(test_same_everywhere)
{
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

TEST_BETWEEN(test_refused, house_setup, house_teardown)
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
    assert_ends(*state, "--device meta --find nodes=memory:1MiB --shard 1/2", 2, "",
                "--find: not with --shard");
    assert_ends(*state, "--find attention=dense,sparse --shard 1/2", 2, "", "--find: not with --shard");
    assert_ends(*state, "--nodes 8,9 --against /bin/true --shard 1/2", 2, "", "--shard: not with --against");
}

/* Writes the sweep as work/whole.json and two of its three parts. */
static void write_parts(const struct house *h)
{
    static const char *const parts[] = {"--output whole.json", "--output 1.json --shard 1/3",
                                        "--output 2.json --shard 2/3"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char words[256];
        snprintf(words, sizeof words, PLAN "%s", parts[i]);
        struct ended e = run_words(h, words, 0);
        ended_free(&e);
    }
}

/* A part is continued by its own command alone. */
TEST_BETWEEN(test_resume, house_setup, house_teardown)
{
    write_parts(*state);
    assert_ends(*state, PLAN "--output 1.json --shard 1/3 --resume", 0, "kept", "");
    assert_ends(*state, PLAN "--output 1.json --shard 2/3 --resume", 2, "", "differs in its shard");
    assert_ends(*state, PLAN "--output 1.json --resume", 2, "", "differs in its shard");
    assert_ends(*state, PLAN "--output whole.json --shard 1/3 --resume", 2, "", "differs in its shard");
    assert_ends(*state, PLAN "--seed 7 --output 1.json --shard 1/3 --resume", 2, "", "differs in its s");
}

/* A part that is killed and continued is the part. */
TEST_BETWEEN(test_kill, house_setup, house_teardown)
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
    for (size_t i = 0; i < row_count(whole); i++) {
        row_at(continued, i)->started = row_at(whole, i)->started;
        assert_true(rows_equal(row_at(continued, i), row_at(whole, i)));
    }
    record_free(whole);
    record_free(continued);
}
