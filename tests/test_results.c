/*
 * The results of a bench binary from a user's perspective: rows agree with the tapes of their configuration,
 * and the result file is correct when a row or the whole run fails.
 */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <unistd.h>

#include "analysis/record/record.h"
#include "models/layers/model.h"
#include "tests/events.h"
#include "tests/files.h"
#include "tests/records.h"
#include "tests/refusals.h"
#include "tests/sweeps.h"
#include "tests/test.h"
#include "tests/values.h"

#define TINY "--hidden 16 --heads 2 --layers 1 --runs 3 --warmup 1 --output x.json "

static struct cost total_of(const struct tape *t)
{
    struct cost total = {0};
    for (enum phase p = 0; p < PHASES; p++)
        total = cost_add(total, tape_cost(t, p));
    return total;
}

/* The row's exact counts are those of the tape of its configuration, recorded here. */
static void assert_costs_of_the_tape(const struct row *row)
{
    struct model_config c = {.layers = count_at(row, "layers"),
                             .hidden = count_at(row, "hidden"),
                             .heads = count_at(row, "heads"),
                             .ffn = count_at(row, "ffn"),
                             .act = ACT_GELU,
                             .attention = ATTENTION_DENSE,
                             .mpnn = MPNN_GIN};
    struct graph_config g = {
        .family = "er", .nodes = count_at(row, "nodes"), .degree = 5, .graphs = 1, .seed = 42};
    struct tape_config t = {
        .backend = backend_cpu(), .dtype = F32, .threads = (int)count_at(row, "threads"), .seed = 42};
    struct batch b;
    char error[MESSAGE_SIZE];
    assert_true(batch_shape(&b, &g, error, sizeof error));
    struct recording forward = program_record(PROGRAM_FORWARD, &c, &b, NULL, t);
    struct recording step = program_record(PROGRAM_STEP, &c, &b, NULL, t);
    assert_int_equal(count_at(row, "forward.flops.analytic"), total_of(forward.tape).flops);
    assert_int_equal(count_at(row, "forward.bytes"), total_of(forward.tape).bytes);
    assert_int_equal(count_at(row, "step.flops.analytic"), total_of(step.tape).flops);
    assert_int_equal(count_at(row, "step.bytes"), total_of(step.tape).bytes);
    assert_int_equal(count_at(row, "step.backward.flops"), tape_cost(step.tape, PHASE_BACKWARD).flops);
    assert_int_equal(count_at(row, "step.optimizer.flops"), tape_cost(step.tape, PHASE_OPTIMIZER).flops);
    assert_int_equal(count_at(row, "step.memory.planned"), tape_plan(step.tape)->arena);
    assert_int_equal(count_at(row, "step.memory.average"), tape_plan(step.tape)->average);
    double planned = (double)count_at(row, "step.memory.planned");
    assert_true(fabs(real_at(row, "step.memory.per_graph") * (double)b.graphs / planned - 1) < 1e-12);
    assert_true(fabs(real_at(row, "step.memory.per_node") * (double)b.adj.nodes / planned - 1) < 1e-12);
    assert_int_equal(count_at(row, "parameters"), tape_parameter_elements(step.tape));
    assert_int_equal(count_at(row, "graph.edges"), b.adj.edges);
    tape_free(forward.tape);
    tape_free(step.tape);
    batch_free(&b);
}

TEST(test_counts_are_exact)
{
    struct record *record = run_json(*state, TINY "--nodes 29 --ffn 40", 0);
    const struct row *row = row_at(record, 0);
    assert_costs_of_the_tape(row);
    assert_int_equal(count_at(row, "ffn"), 40);
    assert_int_equal(count_at(row, "forward.flops.counted"), count_at(row, "forward.flops.analytic"));
    assert_int_equal(count_at(row, "step.flops.counted"), count_at(row, "step.flops.analytic"));
    record_free(record);
}

TEST(test_meta)
{
    char *before = house_list(*state);
    struct record *record = run_json(*state, "--device meta --nodes 100-10M*10", 0);
    char *after = house_list(*state);
    assert_string_equal(before, after);
    assert_int_equal(row_count(record), 6);
    for (size_t i = 0; i < 6; i++)
        assert_costs_of_the_tape(row_at(record, i));
    const struct row *row = row_at(record, 5);
    assert_int_equal(count_at(row, "nodes"), 10000000);
    assert_true(count_at(row, "step.flops.analytic") > INT64_C(1) << 53);
    assert_string_equal(text_at(row, "device"), "meta");
    assert_null_because(row, "step.time.median", "--device meta");
    assert_null_because(row, "forward.time.samples", "--device meta");
    assert_null_because(row, "loss", "--device meta");
    record_free(record);
    free(before);
    free(after);
}

/* Threads do not change the work: the same hash, FLOPs and, up to rounding, loss. */
TEST(test_threads)
{
    struct record *record = run_json(*state, TINY "--nodes 16 --threads 1,2", 0);
    const struct row *one = row_at(record, 0), *two = row_at(record, 1);
    assert_int_equal(count_at(two, "threads"), 2);
    assert_string_equal(text_at(one, "work"), text_at(two, "work"));
    assert_int_equal(count_at(one, "step.flops.analytic"), count_at(two, "step.flops.analytic"));
    assert_true(fabs(real_at(two, "loss") / real_at(one, "loss") - 1) < 1e-5);
    record_free(record);
}

/* GPU-only fields are null without a GPU, with a reason. */
TEST(test_no_gpu)
{
    struct record *record = run_json(*state, TINY "--nodes 8", 0);
    assert_absent(row_at(record, 0), "step.gpu.energy_per_graph");
    assert_absent(row_at(record, 0), "forward.gpu.clock");
    assert_absent(row_at(record, 0), "forward.time.discarded");
    record_free(record);
}

static double loss_of(const struct house *h, const char *words)
{
    char all[256];
    snprintf(all, sizeof all, "--nodes 16 --hidden 16 --heads 2 --layers 1 --runs 3 --output x.json %s",
             words);
    struct record *record = run_json(h, all, 0);
    double loss = real_at(row_at(record, 0), "loss");
    record_free(record);
    return loss;
}

TEST(test_runs_in_turns)
{
    struct record *record =
        run_json(*state, "--nodes 8,16 --hidden 16 --heads 2 --layers 1 --runs 7 --repetitions 3", 0);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(row_at(record, i)->forward.time.samples.count, 7);
        assert_int_equal(row_at(record, i)->step.time.samples.count, 7);
    }
    record_free(record);
}

TEST(test_seed_and_device)
{
    double loss = loss_of(*state, "--seed 7");
    assert_true(loss == loss_of(*state, "--seed 7 --warmup 0"));
    assert_true(loss == loss_of(*state, "--seed 7 --repetitions 2"));
    assert_true(loss != loss_of(*state, "--seed 8"));
    assert_true(fabs(loss_of(*state, "--seed 7 --device ref") / loss - 1) < 1e-5);
    assert_true(fabs(loss_of(*state, "--seed 7 --impl linear=ref --impl attention=ref") / loss - 1) < 1e-5);
}

TEST(test_out_of_memory)
{
    struct record *record = run_json(*state, TINY "--nodes 8,16 --mem-limit 1KiB", 1);
    assert_int_equal(row_count(record), 2);
    const struct row *row = row_at(record, 0);
    char bytes[64];
    snprintf(bytes, sizeof bytes, "(%lld bytes)", (long long)count_at(row, "step.memory.planned"));
    assert_string_equal(text_at(row, "status"), "oom");
    assert_non_null(strstr(text_at(row, "reason"), bytes));
    assert_null_because(row, "step.time.median", "--mem-limit");
    struct record *file = record_in(*state, "work/x.json");
    assert_true(records_equal(record, file));
    record_free(record);
    record_free(file);
}

/*
 * Attention that stores its scores does not fit where the others do; all do the same work or report that they
 * do not.
 */
TEST(test_kinds_of_attention)
{
    struct record *record = run_json(
        *state, TINY "--nodes 400 --phase step --attention dense,sparse,unfused --mem-limit 2MiB", 1);
    assert_int_equal(row_count(record), 3);
    const struct row *dense = row_at(record, 0), *sparse = row_at(record, 1), *unfused = row_at(record, 2);
    assert_string_equal(text_at(dense, "status"), "ok");
    assert_string_equal(text_at(sparse, "status"), "ok");
    assert_string_equal(text_at(unfused, "status"), "oom");
    char bytes[64];
    snprintf(bytes, sizeof bytes, "(%lld bytes)", (long long)count_at(unfused, "step.memory.planned"));
    assert_non_null(strstr(text_at(unfused, "reason"), bytes));
    assert_true(count_at(unfused, "step.memory.planned") > 2 * 400 * 400 * 4); /* 2 heads */
    assert_string_equal(text_at(dense, "work"), text_at(unfused, "work"));
    assert_string_not_equal(text_at(dense, "work"), text_at(sparse, "work"));
    record_free(record);
}

/* Rows of every kind of message passing pass all checks, those of the initial state among them. */
TEST(test_kinds_of_message_passing)
{
    static const char *const kinds[] = {"gin",        "gcn",      "gatv2", "pna",
                                        "gatv2-edge", "pna-edge", "gine",  "gatedgcn"};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    struct record *record =
        run_json(*state, TINY "--nodes 20 --mpnn gin,gcn,gatv2,pna,gatv2-edge,pna-edge,gine,gatedgcn", 0);
    assert_int_equal(row_count(record), KINDS);
    for (int i = 0; i < KINDS; i++) {
        assert_string_equal(text_at(row_at(record, i), "mpnn"), kinds[i]);
        assert_string_equal(text_at(row_at(record, i), "status"), "ok");
        assert_string_equal(text_at(row_at(record, i), "checked"), "whole");
    }
    record_free(record);
}

/* A table begins with the swept axes, whatever they are; of ranks, see test_mpi.sh. */
TEST(test_table_of_every_axis)
{
    for (enum axis a = 0; a < AXES; a++) {
        char words[256], sweep[SWEEP_WORDS];
        if (a == AXIS_RANKS)
            continue;
        axis_sweep(a, sweep);
        const char *size = a == AXIS_NODES    ? ""
                           : a == AXIS_PRESET ? "--nodes 20 --graph er" /* not the preset's */
                                              : "--nodes 20";
        snprintf(words, sizeof words, "%s %s", size, sweep);
        struct ended e = run_words(*state, words, 0);
        int rows = 0;
        for (const char *at = heading_in(e.out); (at = strstr(at, "  ok")) != NULL; at++)
            rows++;
        assert_int_equal(rows, 2);
        ended_free(&e);
    }
}

/* Fields of a row for a ragged batch, and all families run. */
TEST(test_batches_and_families)
{
    struct record *record =
        run_json(*state, TINY "--batch 5 --nodes 12 --model gps_sparse --graph er,grid,ba,rmat", 0);
    assert_int_equal(row_count(record), 4);
    for (size_t i = 0; i < 4; i++) {
        const struct row *row = row_at(record, i);
        assert_int_equal(count_at(row, "nodes"), 12);
        assert_int_equal(count_at(row, "batch"), 5);
        int64_t pairs = count_at(row, "graph.pairs"), padded = count_at(row, "graph.padded_pairs");
        assert_true(pairs >= 5 * 12 * 12 && pairs < padded && padded <= 5 * 18 * 18);
        assert_int_equal(count_at(row, "graph.self_loops"), 0);
        assert_true(count_at(row, "graph.degree_median") <= count_at(row, "graph.degree_p99"));
        assert_true(count_at(row, "step.bytes_no_reuse") > count_at(row, "step.bytes"));
        double rate = real_at(row, "step.throughput"), nodes = real_at(row, "step.nodes_per_second");
        assert_true(fabs(nodes / rate - 12) < 1e-9);
    }
    assert_string_equal(text_at(row_at(record, 3), "graph.family"), "rmat");
    record_free(record);
}

/* A complete sweep ends with its fits: below the table, not in other formats, and always in the file. */
TEST(test_fits)
{
    static const char *const formats[] = {"table", "md", "csv", "json", "jsonl"};
    for (int f = 0; f < 5; f++) {
        char words[256];
        snprintf(words, sizeof words,
                 "--hidden 16 --heads 2 --layers 1 --runs 10 --threads 1 --output x.json --nodes 8,16,32 "
                 "--phase step --format %s",
                 formats[f]);
        struct ended e = run_words(*state, words, 0);
        struct record *file = record_in(*state, "work/x.json");
        const struct value *fits = value_get(record_head(file), "fits");
        bool noisy = false;
        for (size_t i = 0; i < row_count(file); i++)
            noisy = noisy || row_noisy(row_at(file, i), TIMED_STEP);
        assert_string_equal(text_in(value_at(fits, 0), "program"), "step");
        assert_int_equal(count_in(value_at(fits, 0), "points"), 3);
        bool printed = strstr(e.out, "\nstep = ") || strstr(e.out, "\nstep: between ");
        assert_true(printed ? f == 0 : f > 0 || noisy); /* wide ranges may leave all of it open */
        record_free(file);
        ended_free(&e);
    }
}

/* Without --output: in the checkout that contains the program, regardless of the working directory. */
TEST(test_default_place)
{
    struct ended e = run_words(*state, "--nodes 8 --hidden 16 --layers 1 --runs 1 --warmup 0", 0);
    struct record *file = record_in(*state, "results/local/bench_node_scaling.jsonl");
    assert_int_equal(row_count(file), 1);
    assert_non_null(strstr(e.err, "results/local/bench_node_scaling.jsonl"));
    record_free(file);
    ended_free(&e);
}

/* Elsewhere: in the current directory; a directory of that name above the program is not taken for a
 * checkout's. */
TEST(test_place_elsewhere)
{
    void *house;
    char path[PATH_MAX];
    house_of(&house, "bench_node_scaling");
    const struct house *h = house;
    snprintf(path, sizeof path, "%s/kernels/ops.def", h->root);
    assert_int_equal(unlink(path), 0);
    struct ended e = run_words(h, "--nodes 8 --hidden 16 --layers 1 --runs 1 --warmup 0", 0);
    struct record *file = record_in(h, "work/results/local/bench_node_scaling.jsonl");
    record_free(file);
    ended_free(&e);
    house_teardown(&house);
}

TEST(test_no_place)
{
    void *house;
    char path[PATH_MAX];
    house_of(&house, "bench_node_scaling");
    const struct house *h = house;
    snprintf(path, sizeof path, "%s/results", h->root);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(close(creat(path, 0666)), 0);
    refuses(h, "--nodes 8", NULL, "/results/local: Not a directory", "choose a file with --output");
    house_teardown(&house);
}

TEST(test_no_temporary_directory)
{
    const struct house *h = *state;
    char old[PATH_MAX] = "";
    const char *given = getenv("TMPDIR");
    snprintf(old, sizeof old, "%s", given ? given : "");
    setenv("TMPDIR", "/nonexistent", 1);
    refuses(h, "--nodes 8 --output x.json --count base", NULL, "--count",
            "TMPDIR=/nonexistent: cannot be written");
    refuses(h, "--nodes 8 --against", MORE(h->program), "--against",
            "TMPDIR=/nonexistent: cannot be written");
    if (given)
        setenv("TMPDIR", old, 1);
    else
        unsetenv("TMPDIR");
}

/* Failing to print results is an error, however short they are. */
TEST(test_full_disk)
{
    static const char *const formats[] = {"table", "md", "csv", "csv-full", "csv-profile", "json", "jsonl"};
    int full = open("/dev/full", O_WRONLY), null = open("/dev/null", O_WRONLY);
    if (full < 0)
        skip();
    for (size_t f = 0; f < sizeof formats / sizeof *formats; f++) {
        pid_t pid = program_start(*state, TINY "--nodes 8", MORE("--format", formats[f]), full, null);
        assert_int_equal(program_wait(pid), 1);
    }
    assert_int_equal(program_wait(program_start(*state, "--list models", NULL, full, null)), 1);
    char closed[200];
    snprintf(closed, sizeof closed, "'%s' --list models 2>/dev/null >&-",
             ((const struct house *)*state)->program);
    assert_int_equal(WEXITSTATUS(system(closed)), 1);
    close(full);
    close(null);
}

/*
 * A killed sweep has its finished rows in the file, which is a whole document at all times. A row is saved
 * before it is printed; the pipe, which holds fewer rows than the sweep has, keeps the sweep from finishing.
 */
TEST(test_killed)
{
    int reader, writer, null = open("/dev/null", O_WRONLY);
    small_pipe(&reader, &writer);
    pid_t pid = program_start(*state, TINY "--nodes 8-407+1 --threads 1 --repetitions 1 --format csv", NULL,
                              writer, null);
    close(null);
    close(writer);
    FILE *in = fdopen(reader, "r");
    char *line = NULL;
    size_t capacity = 0, printed = 0;
    assert_true(getline(&line, &capacity, in) > 0);
    while (printed < 5 && getline(&line, &capacity, in) > 0) {
        printed++;
        struct record *file = record_in(*state, "work/x.json");
        assert_true(row_count(file) >= printed);
        record_free(file);
    }
    kill(pid, SIGKILL);
    assert_int_equal(program_wait(pid), 128 + SIGKILL);
    while (getline(&line, &capacity, in) > 0)
        printed++;
    struct record *file = record_in(*state, "work/x.json");
    size_t rows = row_count(file);
    assert_true(printed >= 5 && (rows == printed || rows == printed + 1));
    for (size_t i = 0; i < rows; i++)
        assert_true(row_is_ok(row_at(file, i)) && count_at(row_at(file, i), "nodes") == 8 + (int64_t)i);
    record_free(file);
    free(line);
    fclose(in);
}

GROUP("tests", house_setup, house_teardown)
