/* The programs plot and findings, on result files written here: their output equals the benchmark's. */
#include <fcntl.h>
#include <unistd.h>

#include "analysis/record/result_file.h"
#include "tests/program.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

/* Writes a record of one op with two kernels, the second of which is wrong. */
static void save_kernels(const struct house *h)
{
    char error[MESSAGE_SIZE], path[PATH_MAX];
    struct record *record = empty_record();
    value_set_text(record_head(record), "benchmark", "bench_kernels");
    for (int variant = 0; variant < 2; variant++) {
        struct row *row = good_row(500);
        row_set_text(row, "op", "linear");
        row_set_text(row, "variant", variant ? "blas" : "simd");
        row_set_real(row, "kernel.gflops", 90);
        row_set_real(row, "kernel.roofline.percent", 60);
        row_set_real(row, "noise.lost", variant ? 0.5 : 0);
        if (variant) {
            row_set_text(row, "status", "wrong");
            row_set_text(row, "reason", "error 1e-3");
        }
        add_row(record, row);
    }
    snprintf(path, sizeof path, "%s/kernels.json", h->work);
    if (!record_save(record, path, error))
        fail_msg("%s", error);
    record_free(record);
}

/* Names of files are no commands and no flags. */
static void test_strange_names(const struct house *h)
{
    char line[3 * PATH_MAX];
    snprintf(line, sizeof line,
             "cd %s && P=%s && for n in '|touch STRANGE;' '<touch STRANGE;' '-x' \"it's\"; do "
             "cp kernels.json \"./$n.json\" && \"$P\" -- \"$n.json\" 2>strange.log && \"$P\" -- kernels.json "
             "\"$n\" "
             "2>strange.log && test -s \"./${n}_percent.png\" || exit 1; done; ! test -e STRANGE",
             h->work, h->program);
    assert_int_equal(system(line), 0);
}

TEST(test_plot)
{
    void *h;
    house_of(&h, "plot");
    save_kernels(h);
    bool draws = system("gnuplot --version >/dev/null 2>&1") == 0;
    assert_ends(h, "kernels.json", !draws, "",
                draws ? "charts: kernels_{percent,time,memory,flops}.svg, .png\n" : "charts skipped: ");
    char unheard[2 * PATH_MAX]; /* no stderr: gnuplot's messages are lost, not its images */
    snprintf(unheard, sizeof unheard, "cd %s && %s kernels.json unheard 2>&- && test -s unheard_percent.png",
             ((struct house *)h)->work, ((struct house *)h)->program);
    assert_true(!draws || system(unheard) == 0);
    if (draws)
        test_strange_names(h);
    snprintf(unheard, sizeof unheard,
             "cd %s && PATH=/nonexistent %s kernels.json 2>said; [ $? = 1 ] && grep -q 'gnuplot is not' said",
             ((struct house *)h)->work, ((struct house *)h)->program);
    assert_int_equal(system(unheard), 0);
    assert_ends(h, "--help", 0, "usage: plot ", "");
    assert_ends(h, "", 2, "", "usage: plot ");
    assert_ends(h, "nothing.json", 2, "", "nothing.json: ");
    house_teardown(&h);
}

TEST(test_findings)
{
    void *h;
    house_of(&h, "findings");
    save_kernels(h);
    assert_ends(h, "kernels.json", 0, "- Of 2 rows, 1 is not ok (error 1e-3).\n", "");
    struct record *record = empty_record();
    char error[MESSAGE_SIZE], path[PATH_MAX];
    snprintf(path, sizeof path, "%s/empty.json", ((struct house *)h)->work);
    assert_true(record_save(record, path, error));
    record_free(record);
    assert_ends(h, "kernels.json empty.json", 1, "1 is not ok", "empty.json: has no rows");
    assert_ends(h, "kernels.json kernels.json", 0, "\n- Of 4 rows, 2 are not ok (error 1e-3, ...)", "");
    int full = open("/dev/full", O_WRONLY), null = open("/dev/null", O_WRONLY);
    assert_int_equal(program_wait(program_start(h, "kernels.json", NULL, full, null)), 1);
    close(full);
    close(null);
    assert_ends(h, "-h", 0, "usage: findings ", "");
    assert_ends(h, "", 2, "", "usage: findings ");
    assert_ends(h, "nothing.json", 2, "", "nothing.json: ");
    house_teardown(&h);
}
