/* Tables of rows: columns, the check and what is said below, on screens of several widths and as Markdown. */
#include "analysis/tables/table.h"
#include "analysis/tables/units.h"
#include "analysis/tables/wrap.h"
#include "tests/files.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

/* What a table prints of these rows, with these columns, null-terminated; null: the usual ones. To be freed.
 */
static char *printed(enum table_style style, int width, const struct rows *rows, const char *const *columns,
                     bool all)
{
    static const bool both[TIMED] = {[TIMED_FORWARD] = true, [TIMED_STEP] = true};
    char *text;
    size_t size;
    struct table_line lines[8] = {{.row = NULL}};
    struct table t = {.out = open_memstream(&text, &size), .style = style, .width = width, .all = all};
    t.axes_count = axes_varying(rows, t.axes);
    if (columns)
        table_add(&t, columns);
    else
        table_choose(&t, both, false);
    for (size_t i = 0; i < rows_count(rows); i++)
        lines[i].row = rows_at(rows, i);
    table_print(&t, lines, rows_count(rows));
    table_below(&t);
    fclose(t.out);
    return text;
}

/* The usual columns, on a terminal. */
static char *terminal_table(const struct rows *rows)
{
    return printed(TABLE_TERMINAL, SCREEN, rows, NULL, false);
}

TEST(test_terminal_table)
{
    struct rows *rows = rows_of(good_row(100), good_row(2000), failed_row(5000, "oom", "needs 17 GiB"));
    char *text = terminal_table(rows), *rest = text, *line;
    size_t status_at = 0, lines = 0;
    while (lines < 4 && (line = strsep(&rest, "\n")) != NULL) {
        static const char *const expected[] = {"check", "ok", "ok", "oom"};
        char *status = strstr(line, expected[lines]);
        assert_non_null(status);
        *status = '\0';
        if (lines == 0)
            status_at = units_width(line);
        assert_int_equal(units_width(line), status_at); /* columns are aligned */
        assert_true(units_width(line) <= SCREEN);
        lines++;
    }
    assert_int_equal(lines, 4);
    free(text);
    rows_free(rows);
}

/* A single sample has no interval, rather than one of width 0. */
TEST(test_table_of_single_samples)
{
    const double seconds = 0.39786;
    struct rows *rows = rows_of(good_row(100), NULL, NULL);
    struct row *row = rows_at(rows, 0);
    char *many = terminal_table(rows);
    row_set_samples(row, "forward.time", &seconds, 1);
    row_set_samples(row, "step.time", &seconds, 1);
    row_derive(row);
    char *one = terminal_table(rows);
    assert_non_null(strstr(many, "["));
    assert_null(strstr(one, "["));
    assert_non_null(strstr(one, " ~398 ms "));
    free(many);
    free(one);
    rows_free(rows);
}

TEST(test_markdown_table)
{
    struct rows *rows = rows_of(good_row(100), failed_row(5000, "failed", "a | b\nc"), NULL);
    char *text = printed(TABLE_MARKDOWN, SCREEN, rows, NULL, false), *rest = text, *line;
    size_t lines = 0;
    while ((line = strsep(&rest, "\n")) && *line) {
        size_t bars = 0;
        for (const char *c = line; *c; c++)
            bars += *c == '|' && (c == line || c[-1] != '\\');
        assert_int_equal(bars, 7); /* six columns: neither a roofline nor executed FLOPs is known */
        assert_int_equal(line[strlen(line) - 1], '|');
        lines++;
    }
    assert_int_equal(lines, 4);
    free(text);
    rows_free(rows);
}

/* The lines of a text are no wider than the screen. */
static void assert_fits(char *text)
{
    for (char *line, *rest = text; (line = strsep(&rest, "\n")) != NULL;)
        if (units_width(line) > SCREEN)
            fail_msg("%zu columns: %s", units_width(line), line);
}

/* Two rows of which most is known, and one that is not ok. */
static struct rows *known_rows(void)
{
    struct row *even = good_row(100);
    set_equal_turns(even, "forward.time", 0.0126);
    set_equal_turns(even, "step.time", 0.0448);
    struct rows *rows = rows_of(even, good_row(2000),
                                failed_row(5000, "oom",
                                           "needs 17.2 GiB for the step and its gradients, and 12 GiB are "
                                           "free: --mem-limit, or a smaller graph"));
    for (size_t i = 0; i < 2; i++) {
        row_set_real(rows_at(rows, i), "step.roofline.percent", i ? 99.9 : 2.345);
        row_set_real(rows_at(rows, i), "error.norm", 3.6e-7);
        rows_at(rows, i)->step.time.lost = 0.015;
        rows_at(rows, i)->step.time.other_repetitions = (int64_t)i;
    }
    return rows;
}

/* Columns give way where the screen is narrow, and what does not fit into a cell is said below, in lines that
 * fit. */
TEST(test_table_on_a_screen)
{
    static const struct {
        int width;
        const char *expected;
    } screens[] = {
        {100,
         "nodes          inference        training step  GFLOP/s   roof    memory  check\n"
         "  100      12.6 ± 0.0 ms        44.8 ± 0.0 ms     46.5  2.3 %  55.5 MiB  ok 4e-07\n"
         " 2000  693 [631, 755] ms  2.46 [2.24, 2.68] s     46.5  100 %   167 MiB  ok 4e-07\n"
         " 5000                  -                    -        -      -         -  oom\n"
         "oom: needs 17.2 GiB for the step and its gradients, and 12 GiB are free: --mem-limit, or a "
         "smaller\n"
         "    graph (5000 nodes)\n"
         "up to 1.5 % of the time went to other programs (waits of all threads together); 1 repetition left\n"
         "    out (the machine was in another state)\n"},
        {80, "nodes          inference        training step  GFLOP/s   roof  check\n"
             "  100      12.6 ± 0.0 ms        44.8 ± 0.0 ms     46.5  2.3 %  ok 4e-07\n"
             " 2000  693 [631, 755] ms  2.46 [2.24, 2.68] s     46.5  100 %  ok 4e-07\n"
             " 5000                  -                    -        -      -  oom\n"
             "not shown: step.memory.planned (--columns)\n"
             "oom: needs 17.2 GiB for the step and its gradients, and 12 GiB are free:\n"
             "    --mem-limit, or a smaller graph (5000 nodes)\n"
             "up to 1.5 % of the time went to other programs (waits of all threads together);\n"
             "    1 repetition left out (the machine was in another state)\n"},
        {60, "nodes          inference        training step  check\n"
             "  100      12.6 ± 0.0 ms        44.8 ± 0.0 ms  ok 4e-07\n"
             " 2000  693 [631, 755] ms  2.46 [2.24, 2.68] s  ok 4e-07\n"
             " 5000                  -                    -  oom\n"
             "not shown: step.memory.planned, step.gflops,\n"
             "    step.roofline.percent (--columns)\n"
             "oom: needs 17.2 GiB for the step and its gradients, and 12\n"
             "    GiB are free: --mem-limit, or a smaller graph (5000\n"
             "    nodes)\n"
             "up to 1.5 % of the time went to other programs (waits of all\n"
             "    threads together); 1 repetition left out (the machine\n"
             "    was in another state)\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof screens / sizeof *screens; i++) {
        struct rows *rows = known_rows();
        char *text = printed(TABLE_TERMINAL, screens[i].width, rows, NULL, false);
        assert_string_equal(text, screens[i].expected);
        free(text);
        rows_free(rows);
    }
}

/* Why a rate is above the ceiling is said below the table, once. */
TEST(test_rate_above_the_ceiling)
{
    static const char *const columns[] = {"kernel.roofline.percent", "kernel.cold.percent",
                                          "step.roofline.percent", NULL};
    struct rows *rows = rows_of(good_row(100), good_row(2000), NULL);
    row_set_real(rows_at(rows, 0), "kernel.roofline.percent", 99.9);
    row_set_text(rows_at(rows, 0), "kernel.roofline.fault", "");
    row_set_real(rows_at(rows, 1), "kernel.roofline.percent", 112);
    row_set_text(rows_at(rows, 1), "kernel.roofline.fault", "above the bandwidth of DRAM: ops");
    row_set_real(rows_at(rows, 1), "kernel.cold.percent", 103);
    row_set_real(rows_at(rows, 1), "step.roofline.percent", 107);
    row_set_text(rows_at(rows, 1), "step.roofline.fault", "above the bandwidth of DRAM: ops");
    char *text = printed(TABLE_TERMINAL, SCREEN, rows, columns, false);
    assert_non_null(strstr(text, " 2000  112 %      103 %  107 %  ok\n"));
    assert_non_null(
        strstr(text, "\nroof above 100 %: above the bandwidth of DRAM: ops\ncold roof above 100 %: "));
    free(text);
    rows_free(rows);
}

/* What a cell has no room for is said below the table, once. */
TEST(test_notes)
{
    static const char *const columns[] = {"step", "step.flops", "forward.flops", NULL};
    struct rows *rows = rows_of(good_row(100), good_row(2000), NULL);
    for (size_t i = 0; i < 2; i++) {
        struct row *row = rows_at(rows, i);
        row_set_count(row, "step.flops.executed", 1000000000);
        row_set_text(row, "step.flops.source", "callgrind: avx2, 1 thread (timed: avx512, 2)");
        row_set_count(row, "forward.flops.executed", 500000000);
        row_set_text(row, "forward.flops.source", "hardware counters: avx512, 2 threads as timed");
    }
    char *text = printed(TABLE_TERMINAL, SCREEN, rows, columns, false);
    assert_string_equal(text, "nodes         training step  executed  executed  check\n"
                              "  100  44.8 [40.7, 48.8] ms    0.481x    0.722x  ok\n"
                              " 2000   2.46 [2.24, 2.68] s    0.009x    0.013x  ok\n"
                              "executed: callgrind: avx2, 1 thread (timed: avx512, 2)\n");
    free(text);
    rows_free(rows);
}

/* A roof that is absent says why, below the table; not where it was not asked for, nor of a row without
 * times. */
TEST(test_no_roof)
{
    static const char *const columns[] = {"step", "step.roofline.percent", NULL};
    struct rows *rows = rows_of(good_row(100), good_row(2000), failed_row(5000, "oom", "needs 17.2 GiB"));
    for (size_t i = 0; i < 3; i++)
        row_omit(rows_at(rows, i), "step.roofline",
                 i ? "not asked for (--no-roofline)"
                   : "the peak rates were measured in another state of the machine");
    char *text = printed(TABLE_TERMINAL, SCREEN, rows, columns, false);
    assert_string_equal(text, "nodes         training step  check\n"
                              "  100  44.8 [40.7, 48.8] ms  ok\n"
                              " 2000   2.46 [2.24, 2.68] s  ok\n"
                              " 5000                     -  oom\n"
                              "oom: needs 17.2 GiB (5000 nodes)\n"
                              "roof absent: the peak rates were measured in another state of the machine\n");
    free(text);
    rows_free(rows);
}

/* Any field of the schema can be a column, with its unit; those asked for are shown even if empty. */
TEST(test_any_column)
{
    struct rows *rows = rows_of(good_row(100), good_row(2000), NULL);
    for (size_t i = 0; i < schema_fields_count; i++) {
        const char *columns[] = {schema_fields[i].path, NULL};
        char *text = printed(TABLE_TERMINAL, SCREEN, rows, columns, true);
        assert_non_null(strstr(text, "check\n"));
        free(text);
    }
    static const char *const some[] = {"step.time.p95",     "step.memory.resident",
                                       "step.time.samples", "step.time.cpu",
                                       "encoding.method",   "loss",
                                       "graph.edges",       NULL};
    struct row *row = rows_at(rows, 0);
    row->step.time.samples = row_keep_items(row, (double[]){0.5, 1.5}, 2, FIELD_REALS);
    rows_at(rows, 0)->step.time.cpu = 1.5;
    rows_at(rows, 1)->step.time.cpu = NAN;
    char *text = printed(TABLE_TERMINAL, SCREEN, rows, some, true);
    assert_string_equal(
        text, "nodes  step.time.p95  resident  step.time.samples   cpu  method  loss  edges  check\n"
              "  100              -  97.3 MiB           2 values  75 %       -  0.25    500  ok\n"
              " 2000              -   224 MiB          10 values     -       -  0.25  10000  ok\n");
    free(text);
    rows_free(rows);
}

/* A table of the row. To be freed. */
static char *line_of(const struct row *row)
{
    char *text;
    size_t size;
    struct table t = {.out = open_memstream(&text, &size),
                      .style = TABLE_TERMINAL,
                      .count = 2,
                      .columns = {"forward", "step"}};
    table_print(&t, &(struct table_line){.row = row}, 1);
    table_below(&t);
    fclose(t.out);
    return text;
}

/* Noisy times are marked, and one line says why; another one how many turns were left out. */
TEST(test_noisy_times)
{
    double samples[10];
    struct turn turns[10];
    struct row *row = good_row(500);
    char *line = line_of(row);
    assert_null(strstr(line, "~"));
    assert_null(strstr(line, "left out"));
    free(line);
    for (int i = 0; i < 10; i++) {
        double ping = i % 5 == 4 ? 5.7e-7 : i % 5 == 3 ? 5.6e-7 : 1.4e-7; /* 6 of 10 are in one state */
        samples[i] = i % 5 >= 3 ? 2 : 1 + 0.001 * i;
        turns[i] = (struct turn){1, {{ping, NAN}}, {{ping, NAN}}};
    }
    struct turns t = {10, turns, samples};
    struct states states = states_find(turns, 10);
    struct reported r = reported_choose(&t, &states);
    row_set_samples(row, "forward.time", samples, 7);
    row_set_times(row, "step.time", &t, &r);
    row_derive(row);
    line = line_of(row);
    const char *first = strstr(line, "~1.0"), *why = strstr(line, "\n~ ");
    assert_true(first && why);
    assert_non_null(strstr(why, "a range of "));
    free(line);
    for (size_t i = 0; i < 2; i++)
        turns[3 + 5 * i].before.seconds[0] = turns[3 + 5 * i].after.seconds[0] = 1.4e-7; /* 8 of 10 */
    states = states_find(turns, 10);
    reported_free(&r);
    r = reported_choose(&t, &states);
    row_set_times(row, "step.time", &t, &r);
    line = line_of(row);
    assert_non_null(strstr(line, "\n2 repetitions left out "));
    free(line);
    reported_free(&r);
    row_free(row);
}

/* A kernel of an op with a median, an interval of 2 % and a share of its roofline; share 0: not known. */
static struct row *timed_kernel(const char *op, const char *variant, double seconds, double share)
{
    struct row *row = good_row(100);
    double samples[10];
    for (int i = 0; i < 10; i++)
        samples[i] = seconds * (0.991 + 0.002 * i);
    row_set_text(row, "op", op);
    row_set_text(row, "variant", variant);
    row_set_samples(row, "kernel.time", samples, 10);
    if (share > 0)
        row_set_real(row, "kernel.roofline.percent", share);
    return row;
}

/* What kernel_table_print prints of these rows. To be freed. */
static char *kernel_table(const struct rows *rows, const char *blas)
{
    char *text;
    size_t size, n = rows_count(rows);
    struct table_line *lines = calloc(n + 1, sizeof *lines);
    struct table t = {.out = open_memstream(&text, &size),
                      .axes_count = 2,
                      .axes = {schema_find("op"), schema_find("variant")},
                      .count = 2,
                      .columns = {"kernel", "kernel.roofline.percent"},
                      .blas = blas};
    for (size_t i = 0; i < n; i++)
        lines[i].row = rows_at(rows, i);
    kernel_table_print(&t, lines, n);
    table_below(&t);
    fclose(t.out);
    free(lines);
    return text;
}

/* 30 ops, each with two kernels: what is worth a look, and why. */
TEST(test_kernels_worth_a_look)
{
    struct rows *rows = rows_of(NULL, NULL, NULL);
    for (int i = 0; i < 30; i++) {
        char op[16];
        snprintf(op, sizeof op, "op%02d", i);
        rows_append(rows, timed_kernel(op, "simd", 1e-3, i == 7 ? 0 : 90 - i));
        rows_append(rows, timed_kernel(op, "ref", i == 3 ? 0.5e-3 : i == 4 ? 0.995e-3 : 2e-3, 1));
    }
    char *text = kernel_table(rows, NULL);
    assert_int_equal(lines_of(text), 1 + 1 + 20 + 1 + 1 + 1 + 1);
    assert_non_null(strstr(text, "default kernels furthest from their roofline, 20 of 29\n"));
    assert_non_null(strstr(text, "op29     simd"));
    assert_true(strstr(text, "op29 ") < strstr(text, "op28 ") && !strstr(text, "op09") &&
                !strstr(text, "op07"));
    assert_non_null(strstr(text, "and defaults slower than another, 1 of 1\n")); /* op04: intervals overlap */
    assert_non_null(strstr(text, "op03    simd  1.00 ms          ref  2.00x\n60 rows in all: --all\n"));
    free(text);
    for (int i = 0; i < 30; i++)
        if (i % 2 == 1)
            row_set_text(rows_at(rows, (size_t)(2 * i)), "kernel.time.noisy", "disturbed");
    text = kernel_table(rows, NULL);
    assert_non_null(
        strstr(text, "default kernels furthest from their roofline, 15 of 15 whose time is known\n"));
    assert_true(strstr(text, "op28 ") && !strstr(text, "op29 "));
    free(text);
    for (int i = 1; i < 30; i += 2)
        row_omit(rows_at(rows, (size_t)(2 * i)), "kernel.time.noisy", NULL);
    row_set_text(rows_at(rows, 1), "status", "wrong");
    row_set_text(rows_at(rows, 1), "reason", "y: the error");
    rows_append(rows, timed_kernel("op00", "steps", 5e-3, 0));
    rows_append(rows, timed_kernel("op01", "blas", 0.2e-3, 70));
    row_set_samples(rows_at(rows, 7), "kernel.time", (const double[]){0.5e-3}, 1); /* too few */
    row_derive(rows_at(rows, 7));
    text = kernel_table(rows, "chosen for Prescott");
    const char *wrong = strstr(text, "  wrong\n");
    assert_true(wrong && wrong < strstr(text, "op29 "));
    assert_non_null(strstr(text, "\nwrong: y: the error (op00, ref kernel)\n"));
    assert_non_null(strstr(text, "slower than another, 1 of 1\n"));
    assert_non_null(strstr(text, "op01    simd  1.00 ms         blas  5.00x\n"));
    assert_null(strstr(text, "op00   steps  5.00 ms          ref")); /* which is wrong */
    assert_null(strstr(text, "op03    simd"));
    assert_fits(text);
    free(text);
    rows_free(rows);
}

/* Few kernels are all shown, and so are those without a share; a note says what kernels of the BLAS are for.
 */
TEST(test_few_kernels)
{
    struct rows *rows =
        rows_of(timed_kernel("linear", "simd", 1e-3, 50), timed_kernel("linear", "blas", 1e-4, 90), NULL);
    char *text = kernel_table(rows, "chosen for Prescott");
    assert_non_null(strstr(text, "linear     blas  "));
    assert_non_null(strstr(text, "\nchosen for Prescott\n"));
    free(text);
    for (int i = 0; i < 30; i++)
        rows_append(rows, timed_kernel("copy", "ref", 1e-3, 0));
    row_omit(rows_at(rows, 0), "kernel.roofline.percent", "--no-roofline");
    row_omit(rows_at(rows, 1), "kernel.roofline.percent", "--no-roofline");
    text = kernel_table(rows, NULL);
    assert_int_equal(lines_of(text), 1 + 32);
    free(text);
    rows_free(rows);
}
