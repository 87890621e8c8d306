/*
 * Predictions of several ranks: the time of exchanges and of runs, computed by hand, with what hides them;
 * the bytes and memory of programs; and what is said of memory over ranks, where it falls, where it does not,
 * and where there is nothing to say.
 */
#include <math.h>

#include "analysis/findings/findings.h"
#include "bench/row/forecast.h"
#include "bench/sweep/estimate.h"
#include "tests/sweeps.h"
#include "tests/test.h"

static const struct bench bench = {.name = "test", .axis = AXIS_RANKS, .values = "1"};

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.17g is not %.17g", value, expected);
}

/* --- by hand: messages of 0.5 s, 100 B/s */

enum { RANKS = 2, STEPS = 4 };

/* A start and a wait: what a rank sends, and seconds computed before, between and after them. */
static struct timeline rank_of(struct exchange_step steps[STEPS], enum link_kind kind, int64_t bytes,
                               double before, double between, double after)
{
    steps[0] = (struct exchange_step){true, 7, kind, bytes, before, 0};
    steps[1] = (struct exchange_step){false, 7, kind, 0, between, 0};
    return (struct timeline){steps, 2, after};
}

TEST(test_exchange)
{
    struct exchange_step steps[RANKS][STEPS];
    struct link link = link_given(0.5, 100);
    struct timeline part[RANKS] = {rank_of(steps[0], LINK_EXCHANGE, 100, 1, 0, 1),
                                   rank_of(steps[1], LINK_EXCHANGE, 200, 2, 0, 1)};
    struct forecast f = forecast_of(part, RANKS, &link);
    assert_true(f.known && f.bytes == 200);
    assert_near(f.alone, 0.5 + 2); /* of the rank that sends more */
    assert_near(f.run, 2 + 2.5 + 1);
    assert_near(f.exposed, 2.5); /* of 3 seconds computed */
    assert_string_equal(f.link.text, "500 ms, 100 B/s, given (--peaks)");
    struct timeline three[3] = {part[0], part[1], part[1]};
    assert_near(forecast_of(three, 3, &link).alone, 2 * 0.5 + 2);
    for (int r = 0; r < 2; r++)
        steps[r][0].kind = LINK_MESSAGE; /* to one rank, of however many */
    assert_near(forecast_of(three, 3, &link).alone, 0.5 + 2);
    part[0] = rank_of(steps[0], LINK_SUM, 100, 1, 0, 1);
    part[1] = rank_of(steps[1], LINK_SUM, 100, 2, 0, 1);
    f = forecast_of(part, RANKS, &link);
    assert_near(f.alone, 2 * 0.5 + 1);
    assert_near(f.run, 2 + 2 + 1);
}

/* Computation between start and wait hides the exchange wholly, or in part. */
TEST(test_overlap)
{
    struct exchange_step steps[RANKS][STEPS];
    struct link link = link_given(0.5, 100);
    struct timeline part[RANKS] = {rank_of(steps[0], LINK_EXCHANGE, 200, 1, 3, 1),
                                   rank_of(steps[1], LINK_EXCHANGE, 200, 2, 3, 1)};
    struct forecast f = forecast_of(part, RANKS, &link);
    assert_near(f.alone, 2.5);
    assert_near(f.run, 6);
    assert_true(fabs(f.exposed) < 1e-9);
    part[0] = rank_of(steps[0], LINK_EXCHANGE, 200, 1, 1, 1);
    part[1] = rank_of(steps[1], LINK_EXCHANGE, 200, 2, 1, 1);
    f = forecast_of(part, RANKS, &link);
    assert_near(f.run, 2 + 2.5 + 1);
    assert_near(f.exposed, 1.5);
}

/* Two exchanges under way: the second has to wait for the link. */
TEST(test_two)
{
    struct exchange_step steps[STEPS] = {{true, 1, LINK_EXCHANGE, 100, 1, 0},
                                         {true, 2, LINK_EXCHANGE, 100, 0, 0},
                                         {false, 1, LINK_EXCHANGE, 0, 0.25, 0},
                                         {false, 2, LINK_EXCHANGE, 0, 1, 0}};
    struct timeline same = {steps, STEPS, 1}, part[RANKS] = {same, same};
    struct link link = link_given(0.5, 100);
    struct forecast f = forecast_of(part, RANKS, &link);
    assert_near(f.alone, 3);
    /* From 1 to 2.5, and from there to 4; a second is computed from 2.5 on. */
    assert_near(f.run, 4 + 1);
    assert_near(f.exposed, 5 - 3.25);
}

/* Rows are packed before an exchange begins, and unpacked after it: neither is hidden. */
TEST(test_moving)
{
    struct exchange_step steps[RANKS][STEPS];
    struct link link = link_given(0.5, 100);
    struct timeline part[RANKS] = {rank_of(steps[0], LINK_EXCHANGE, 200, 1, 3, 1),
                                   rank_of(steps[1], LINK_EXCHANGE, 200, 2, 3, 1)};
    steps[0][0].moving = 2, steps[0][1].moving = 0.25;
    steps[1][0].moving = 0.5, steps[1][1].moving = 0.75;
    struct forecast f = forecast_of(part, RANKS, &link);
    assert_near(f.alone, 2 + 2.5 + 0.75); /* of the rank that takes longest, each */
    /* From 3 to 5.5; computed until 6 and 5.5. */
    assert_near(f.run, 5.5 + 0.75 + 1);
    assert_near(f.exposed, 7.25 - 6);
    steps[0][0].moving = NAN; /* not known */
    f = forecast_of(part, RANKS, &link);
    assert_near(f.alone, 0.5 + 2.5 + 0.75);
}

/* Without a link nothing is predicted; without ceilings only the exchange. */
TEST(test_unknown)
{
    struct exchange_step steps[RANKS][STEPS];
    struct timeline part[RANKS] = {rank_of(steps[0], LINK_SUM, 100, NAN, 0, 1),
                                   rank_of(steps[1], LINK_SUM, 100, NAN, 0, 1)};
    struct link link = link_given(0.5, 100);
    struct forecast f = forecast_of(part, RANKS, &link);
    assert_true(f.known && isnan(f.run) && isnan(f.exposed));
    assert_near(f.alone, 2);
    f = forecast_of(part, RANKS, NULL);
    assert_true(!f.known && isnan(f.run) && f.bytes == 100);
}

/* --- of programs */

static const char small[] = "--device=meta --batch=6 --nodes=12 --hidden=16 --heads=2 --layers=2 --threads=1 "
                            "--peaks=link=8Gb/s,2us --peaks peak=60GFLOP/s,dram=20GB/s --ranks=";

/* The forecast on so many ranks; the facts of each, whose sum of nodes is *nodes, and whose most memory is
 * *memory. */
static struct forecast planned(int ranks, enum program_kind kind, int64_t *nodes, int64_t *memory)
{
    char words[256];
    struct workload w;
    struct message error;
    snprintf(words, sizeof words, "%s%d", small, ranks);
    struct options o = options_of(&bench, words);
    struct config c = o.plan.list[0];
    if (!workload_plan(&w, &o, &c, &error))
        fail_msg("%s", error.text);
    struct forecast f = forecast_make(&w, kind, &o.peaks.list[0]);
    *nodes = *memory = 0;
    for (int r = 0; r < ranks && w.group.facts; r++) {
        *nodes += w.group.facts[r].nodes;
        *memory = w.group.facts[r].arena > *memory ? w.group.facts[r].arena : *memory;
    }
    if (w.group.facts)
        assert_int_equal(*nodes, workload_whole(&w)->adj.nodes);
    workload_close(&w);
    options_free(&o);
    return f;
}

/* The dry run's memory is that of the largest rank, not always the first. */
TEST(test_estimate)
{
    bool other = false;
    for (int ranks = 2; ranks <= 6; ranks++) {
        char words[256];
        int64_t nodes, memory;
        planned(ranks, PROGRAM_STEP, &nodes, &memory);
        snprintf(words, sizeof words, "%s%d", small, ranks);
        struct options o = options_of(&bench, words);
        struct config c = o.plan.list[0];
        struct workload w;
        struct message error;
        assert_int_equal(estimate_row(&o, &c, NULL).program[PROGRAM_STEP].arena, memory);
        assert_true(workload_plan(&w, &o, &c, &error));
        struct recording r = workload_record(&w, PROGRAM_STEP);
        other = other || tape_plan(r.tape)->arena < memory;
        tape_free(r.tape);
        workload_close(&w);
        options_free(&o);
    }
    assert_true(other);
}

/* The sum of the gradients is all that data-parallel ranks exchange; a rank of six has less to compute and to
 * hold than one of two. */
TEST(test_programs)
{
    int64_t nodes, memory, of_two = 0, bytes = 0;
    double computed = 0;
    struct forecast f = planned(1, PROGRAM_STEP, &nodes, &memory);
    assert_true(f.known && f.bytes == 0 && f.alone == 0 && f.run > 0 && fabs(f.exposed) < 1e-12);
    for (int ranks = 2; ranks <= 6; ranks += 2) {
        f = planned(ranks, PROGRAM_STEP, &nodes, &memory);
        if (ranks == 2)
            bytes = f.bytes, of_two = memory, computed = f.run - f.exposed;
        struct link_load load = link_load(LINK_SUM, ranks, (double)f.bytes);
        assert_int_equal(f.bytes, bytes);
        assert_near(f.alone, load.messages * 2e-6 + load.bytes / 1e9);
        assert_true(f.exposed >= f.alone * (1 - 1e-9));
    }
    assert_true(bytes > 0 && memory < of_two && f.run - f.exposed < computed);
    f = planned(3, PROGRAM_FORWARD, &nodes, &memory);
    assert_true(f.known && f.bytes == 0 && f.alone == 0);
}

/* Bytes of the ops of a program that pack or unpack rows for the exchange between nodes and heads. */
static int64_t moved_by(const struct tape *t)
{
    int64_t bytes = 0;
    for (int i = 0; i < tape_entry_count(t); i++) {
        const char *op = op_info(tape_entry(t, i)->op)->name;
        bool moves = strcmp(op, "scatter_heads") == 0 || strcmp(op, "gather_heads") == 0;
        bytes += moves ? tape_entry(t, i)->bytes : 0;
    }
    return bytes;
}

/* With ceilings the rows that are moved take the time of their bytes at 20 GB/s, without them none. */
TEST(test_moved_rows)
{
    struct workload w;
    struct message error;
    struct options o =
        options_of(&bench, "--device=meta --nodes=12 --hidden=16 --heads=2 --layers=2 --threads=1 "
                           "--peaks=link=8Gb/s,2us --peaks peak=60GFLOP/s,dram=20GB/s --ranks=2 "
                           "--parallel=ulysses --model=graph_transformer");
    struct config c = o.plan.list[0];
    assert_true(workload_plan(&w, &o, &c, &error));
    struct recording r = workload_record(&w, PROGRAM_STEP);
    int64_t bytes = moved_by(r.tape);
    assert_true(bytes > 0);
    double with = forecast_make(&w, PROGRAM_STEP, &o.peaks.list[0]).alone;
    double without = forecast_make(&w, PROGRAM_STEP, NULL).alone;
    assert_true(fabs((with - without) / ((double)bytes / 20e9) - 1) < 1e-6);
    tape_free(r.tape);
    workload_close(&w);
    options_free(&o);
}

/* --- memory over ranks */

struct point {
    int64_t ranks, bytes;
};

static void assert_memory(const struct point *p, int n, double limit, const char *expected)
{
    struct rows *rows = rows_new();
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (int i = 0; i < n; i++) {
        struct row *row = row_new();
        row_set_count(row, "ranks.count", p[i].ranks);
        row_set_count(row, "batch", 64);
        row_set_count(row, p[i].ranks > 1 ? "ranks.memory" : "step.memory.planned", p[i].bytes);
        rows_append(rows, row);
    }
    findings_print_rank_memory(out, rows, false, limit);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
    rows_free(rows);
}

TEST(test_memory)
{
    static const struct point falls[] = {{1, 400 << 20}, {2, 220 << 20}, {4, 130 << 20}},
                              stops[] = {{1, 400 << 20}, {8, 101 << 20}, {2, 200 << 20}, {4, 100 << 20}},
                              never[] = {{2, 100 << 20}, {4, 100 << 20}};
    assert_memory(falls, 3, 0,
                  "memory of the largest rank: falls from 400 MiB on 1 rank to 130 MiB on 4 ranks, the most "
                  "here\n");
    assert_memory(falls, 3, 0x1p28,
                  "memory of the largest rank: falls from 400 MiB on 1 rank to 130 MiB on 4 ranks, the most "
                  "here; it is within 256 MiB from 2 ranks on\n");
    assert_memory(stops, 4, 0x1p20,
                  "memory of the largest rank: falls from 400 MiB on 1 rank to 100 MiB on 4 ranks, and no "
                  "further on more; it exceeds 1.00 MiB on all\n");
    assert_memory(stops, 4, 100.5 * 0x1p20,
                  "memory of the largest rank: falls from 400 MiB on 1 rank to 100 MiB on 4 ranks, and no "
                  "further on more; it is within 100 MiB first on 4 ranks, but not on all more\n");
    assert_memory(
        never, 2, 0x1p30,
        "memory of the largest rank: 100 MiB on 2 ranks, and no less on more; it is within 1.00 GiB "
        "from 2 ranks on\n");
    assert_memory(falls, 1, 0x1p30, "");
    assert_memory(NULL, 0, 0, "");
}
