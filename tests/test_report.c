/* The page of result files: escaping, hostile records, sections, size, and the program. */
#include <ctype.h>
#include <fcntl.h>
#include <unistd.h>

#include "analysis/record/file.h"
#include "analysis/record/profile.h"
#include "analysis/record/result_file.h"
#include "analysis/report/page.h"
#include "analysis/report/parts.h"
#include "analysis/tables/html.h"
#include "tests/program.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

#define HOSTILE "\"'><script>alert(1)</script>]]>&amp;<!-- \" onload=\"alert(1)\xff\x1b[2J\xe2\x80\xae"

/* --- a page in memory */

enum { FILES = 10 }; /* at most */

static char *page_at(const char *const *paths, struct record *const *records, size_t n)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_true(out && page_write(&(struct page){n, paths, records}, out));
    fclose(out);
    return text;
}

static char *page_of(struct record *const *records, size_t n)
{
    const char *paths[FILES];
    for (size_t i = 0; i < n; i++)
        paths[i] = "a.json";
    return page_at(paths, records, n);
}

static struct record *record_with(struct row *a, struct row *b, struct row *c)
{
    struct record *record = empty_record();
    struct row *rows[] = {a, b, c};
    for (int i = 0; i < 3 && rows[i]; i++)
        add_row(record, rows[i]);
    return record;
}

static size_t occurrences(const char *text, const char *what)
{
    size_t n = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        n++;
    return n;
}

/* --- well-formed XML, with known attributes only */

static const char known[] =
    " lang charset http-equiv content name rel href class id scope colspan tabindex title data-v xmlns "
    "viewBox width "
    "height x y d cx cy r fill stroke color opacity transform stroke-width stroke-linecap stroke-linejoin "
    "stroke-dasharray font-family font-size font-weight font-style text-anchor result in in2 operator "
    "filterUnits "
    "flood-color flood-opacity points shape-rendering dy baseline-shift ";

/* Reads the attributes of a tag; returns the '>' or '/' at its end. */
static const char *skip_attributes(const char *at)
{
    while (isspace((unsigned char)*at)) {
        char name[32] = "";
        at += strspn(at, " \n\t");
        size_t length = strcspn(at, "= \n></");
        if (length == 0)
            break;
        assert_true(length + 3 < sizeof name);
        snprintf(name, sizeof name, " %.*s ", (int)length, at);
        const char *quote = at + length + strspn(at + length, " =");
        if (!strstr(known, name) || !strchr("\"'", *quote))
            fail_msg("an attribute: %.60s", at);
        at = quote + 1;
        at += strcspn(at, (char[]){*quote, '<', '\0'});
        assert_int_equal(*at++, *quote);
    }
    return at;
}

static void assert_well_formed(const char *page)
{
    enum { DEPTH = 32 };
    char open[DEPTH][16];
    size_t depth = 0;
    const char *at = strstr(page, "<html");
    assert_true(at && strncmp(page, "<!DOCTYPE html>\n", 16) == 0);
    for (const char *c = page; *c; c++)
        assert_true((unsigned char)*c >= 0x20 || *c == '\n' || *c == '\t');
    assert_null(strstr(page, "]]>"));
    while ((at = strpbrk(at, "<&"))) {
        char name[16] = "";
        bool end = at[1] == '/';
        if (*at == '&') {
            size_t length = strcspn(at, ";");
            if (length > 5 ||
                !strstr("&amp; &lt; &gt; &quot; &#39;", ((char[8]){at[0], at[1], at[2], at[3]})))
                fail_msg("an entity: %.40s", at);
            at++;
            continue;
        }
        at += 1 + end;
        size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyz123456FC");
        if (length == 0 || length >= sizeof name)
            fail_msg("a tag: %.40s", at - 1);
        memcpy(name, at, length);
        at = skip_attributes(at + length);
        if (end) {
            if (depth == 0 || strcmp(open[--depth], name) != 0)
                fail_msg("</%s> closes %s", name, open[depth]);
        } else if (*at != '/') {
            assert_true(depth < DEPTH);
            memcpy(open[depth++], name, sizeof name);
        }
        at += *at == '/';
        assert_int_equal(*at, '>');
    }
    assert_int_equal(depth, 0);
}

/* --- texts */

static char *written(void write(FILE *out, const char *text), const char *text)
{
    char *result = NULL;
    size_t size;
    FILE *out = open_memstream(&result, &size);
    write(out, text);
    fclose(out);
    return result;
}

static void assert_written(void write(FILE *out, const char *text), const char *text, const char *expected)
{
    char *result = written(write, text);
    assert_string_equal(result, expected);
    free(result);
}

TEST(test_texts)
{
    assert_written(html_text, "a<b>&\"c'", "a&lt;b&gt;&amp;&quot;c&#39;");
    assert_written(html_text, "two\nlines\tand\r", "two lines and ");
    assert_written(html_text, "µ – 𝛼", "µ – 𝛼");
    static const char *const bad[] = {
        "\x01",         "\x7f",         "\xc2\x85",     "\xe2\x80\xae", "\xef\xbf\xbe",
        "\xed\xa0\x80", "\xc0\xbc",     "\xe0\x80\xbc", "\xff",         "\xf4\x90\x80\x80",
        "\xe2\x81\xa6", "\xf0\x9f\x98", "\x80"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[16], *result;
        snprintf(text, sizeof text, "(%s<", bad[i]);
        result = written(html_text, text);
        const char *rest = result + 1;
        while (strncmp(rest, "\xef\xbf\xbd", 3) == 0)
            rest += 3;
        assert_true(rest > result + 1);
        assert_string_equal(rest, "&lt;");
        free(result);
    }
    char *much = calloc(100000, 1), *cut;
    memset(much, '<', 99999);
    cut = written(html_text, much);
    assert_int_equal(occurrences(cut, "&lt;"), HTML_TEXT_MOST);
    free(cut);
    free(much);
}

static void put_all_conversions(FILE *out, const char *text)
{
    html(out, "<%s %d %zu %lld %.1f %g %%>", text, -1, (size_t)2, 1LL << 40, 0.25, 1e6);
}

TEST(test_formats)
{
    assert_written(put_all_conversions, "<b>", "<&lt;b&gt; -1 2 1099511627776 0.2 1e+06 %>");
    assert_written(html_powers, "7 ms N^2 + N^1.5 N^ <", "7 ms N<sup>2</sup> + N<sup>1.5</sup> N^ &lt;");
    assert_written(html_powers, "N^-1.", "N<sup>-1</sup>.");
}

static void put_svg(FILE *out, const char *svg)
{
    svg_put(out, svg, "c1-2");
}

/* gnuplot's text becomes XML without a script, whatever stands in its texts. */
TEST(test_svg)
{
    assert_written(put_svg,
                   "<?xml?>\n<svg \n width=\"9\" xmlns:xlink=\"http://x\">\n<title>f</title><desc>g</desc>",
                   "<svg \n width=\"9\">\n");
    assert_written(put_svg, "<svg><use xlink:href='#gpPt5' id='gpPt6'/><g id=\"a\">\n</g>",
                   "<svg><use href='#c1-2-gpPt5' id='c1-2-gpPt6'/>");
    assert_written(put_svg, "<svg>a ]]> &nbsp; &amp;lt; &lt;", "<svg>a ]]&gt; &amp;nbsp; &amp;lt; &lt;");
    assert_written(put_svg,
                   "<svg><g onmousemove=\"gnuplot_svg.showHypertext(evt,'it's &lt;b> &amp;x')\" "
                   "onmouseout=\"gnuplot_svg.hideHypertext()\"><title> </title><a/></g>",
                   "<svg><g class=\"point\"><title>it's &lt;b&gt; &amp;x</title><a/></g>");
    assert_written(put_svg, "no picture", "");
}

/* --- pages */

/* A row with a profile of its step. */
static struct row *profiled_row(int64_t nodes, const char *span)
{
    char name[64];
    struct row *row = row_new();
    snprintf(name, sizeof name, "%s", span);
    struct profile_entry entries[] = {
        {"linear", "packed", "forward", name, 1e-3, 8e-4, "compute", 1000, 100, 1 << 20, {1 << 20}, NULL},
        {"attention",
         "tiled",
         "backward",
         name,
         3e-3,
         1e-3,
         "memory",
         1000,
         1000,
         2 << 20,
         {1 << 20, 0, 0, 1 << 20},
         NULL}};
    row_set_text(row, "status", "ok");
    row_set_text(row, "reason", "");
    row_set_text(row, "checked", "whole");
    set_axes(row, nodes);
    set_program(row, "step", 1e-5 * (double)nodes, 1000000 * nodes, 2 << 20);
    profile_write(&(struct profile){.runs = 10, .count = 2, .entries = entries, .ceilings = "60 GFLOP/s"},
                  row, TIMED_STEP);
    return row;
}

static void set_roofline(struct row *row)
{
    row_set_text(row, "step.roofline.bound", "compute");
    row_set_text(row, "step.roofline.level", "LLC");
    row_set_real(row, "step.roofline.percent", 50);
    row_set_real(row, "step.roofline.attainable", 100);
    row_set_text(row, "step.roofline.fault", "");
}

static void set_sections(struct row *row)
{
    static const char *const name[] = {"kernel.read"}, *const said[] = {"from memory"},
                             *const hits[] = {"hits"};
    row->sections.runs = 10;
    row->sections.name = row_keep_items(row, name, 1, FIELD_TEXTS);
    row->sections.metadata = row_keep_items(row, said, 1, FIELD_TEXTS);
    row->sections.calls = row_keep_items(row, (double[]){8}, 1, FIELD_REALS);
    row->sections.seconds = row_keep_items(row, (double[]){0.003}, 1, FIELD_REALS);
    row->metrics.name = row_keep_items(row, hits, 1, FIELD_TEXTS);
    row->metrics.value = row_keep_items(row, (double[]){0.75}, 1, FIELD_REALS);
}

/* Each section is there with the data, and absent without. */
TEST(test_sections)
{
    static const char *const sections[] = {
        "Profile of step, ", "data-v=\"500\"",
        ">kernel.read</td><td class=\"n\">8</td><td class=\"n\">3.00 ms</td><td class=\"t\">from memory<",
        ">hits</td><td class=\"none\">\u2013</td><td class=\"n\">0.75</td>"};
    struct row *rows[] = {good_row(100), good_row(500), profiled_row(2000, "layer1.attention")};
    set_roofline(rows[1]);
    set_sections(rows[1]);
    struct record *full = record_with(rows[0], rows[1], rows[2]);
    struct record *bare = record_with(failed_row(500, "oom", "needs 3 GiB"), NULL, NULL);
    char *with = page_of(&full, 1), *without = page_of(&bare, 1);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        if (!strstr(with, sections[i]))
            fail_msg("no \"%s\"", sections[i]);
        if (strstr(without, sections[i]))
            fail_msg("\"%s\" without its data", sections[i]);
    }
    static const char *const always[] = {"Main findings",
                                         "What was measured",
                                         "Warnings",
                                         "Machines and builds",
                                         "bench_node_scaling --nodes 100,500",
                                         "AMD EPYC 7B13"};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        assert_true(strstr(with, always[i]) && strstr(without, always[i]));
    bool draws = system("gnuplot --version >/dev/null 2>&1") == 0;
    assert_true(!draws || strstr(with, "<g class=\"point\"><title>500 nodes, step: "));
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/nonexistent", 1);
    char *plain = page_of(&full, 1);
    setenv("PATH", path, 1);
    assert_true(strstr(plain, "No charts: gnuplot is not installed.") && !strstr(plain, "<figure"));
    free(plain);
    free(path);
    assert_non_null(strstr(with, "data-v=\"500\">500</td>"));
    assert_non_null(strstr(without, "<dt>not ok</dt><dd><a href=\"#file1\">a</a> 1</dd>"));
    assert_non_null(strstr(without, "oom <small>oom: needs 3 GiB</small>"));
    assert_well_formed(with);
    assert_well_formed(without);
    free(with);
    free(without);
    record_free(full);
    record_free(bare);
}

/* Files of one benchmark, and machines whose processors have one name, can be told apart. */
TEST(test_names)
{
    static const char *const paths[] = {"results/zen4/run.json", "results/zen5/run.json"};
    static const char *const said[] = {", several machines</p>", "<h3>model 17, AMD EPYC</h3>",
                                       "<h3>model 2, AMD EPYC</h3>", ">zen4/run</a>", ">zen5/run</a>"};
    struct record *records[2];
    for (int i = 0; i < 2; i++) {
        records[i] = record_with(good_row(100), NULL, NULL);
        value_set_text(value_get(record_head(records[i]), "host"), "processor",
                       i ? "model 2, AMD EPYC" : "model 17, AMD EPYC");
    }
    char *page = page_at(paths, records, 2);
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (!strstr(page, said[i]))
            fail_msg("no \"%s\"", said[i]);
    free(page);
    record_free(records[0]);
    record_free(records[1]);
}

/* Every kind of remark that a row shows. */
TEST(test_warnings)
{
    struct row *row = good_row(500);
    double samples[20];
    for (int i = 0; i < 20; i++)
        samples[i] = (i == 0 ? 4 : 1) * 0.1 * (1 + 0.01 * i);
    row_set_samples(row, "step.time", samples, 20);
    row_set_samples(row, "forward.time", samples, 3); /* too few */
    row_derive(row);
    uncheck(row, "--no-check");
    row_set_count(row, "step.time.other_repetitions", 4);
    row_set_count(row, "step.noise.involuntary", 4000);
    row_set_count(row, "step.noise.minor_faults", 40000);
    row_set_count(row, "step.noise.major_faults", 7);
    row_set_count(row, "step.gpu.throttled", 3);
    row_set_text(row, "step.roofline.fault", "calibrate again");
    row_set_real(row, "noise.lost", 0.36);
    row_set_real(row, "noise.largest_gap", 0.012);
    row_set_text(row, "error.exceptions", "ties in max_pool");
    struct record *record = record_with(row, NULL, NULL);
    char *page = page_of(&record, 1);
    static const char *const said[] = {"\"--no-check\"",  "wide range, or few repetitions",
                                       "step: 4 of 24\"", "samples that drift",
                                       "slow start",      "times per second",
                                       "page faults",     "step: 7 while it was timed\"",
                                       "3 samples",       "calibrate again",
                                       "36.0 % of the",   "\"ties in max_pool\""};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (!strstr(page, said[i]))
            fail_msg("no \"%s\"", said[i]);
    free(page);
    record_free(record);
}

TEST(test_hostile)
{
    static const char *const texts[] = {"model",
                                        "op",
                                        "variant",
                                        "act",
                                        "graph.family",
                                        "device",
                                        "step.roofline.fault",
                                        "step.roofline.bound",
                                        "step.roofline.level",
                                        "encoding.method",
                                        "error.exceptions",
                                        "step.flops.source"};
    struct row *rows[3];
    for (int i = 0; i < 3; i++) {
        char text[256];
        rows[i] = profiled_row(100 << i, HOSTILE);
        set_roofline(rows[i]);
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            snprintf(text, sizeof text, "%d" HOSTILE, k < 6 ? i : 0);
            row_set_text(rows[i], texts[k], text);
        }
        row_set_count(rows[i], "step.flops.executed", 1000);
        row_set_real(rows[i], "kernel.gflops", 90);
        row_set_real(rows[i], "kernel.intensity", 2);
        row_set_real(rows[i], "kernel.roofline.percent", 1e300);
    }
    row_set_text(rows[1], "status", "failed");
    row_set_text(rows[1], "reason", HOSTILE);
    struct record *record = record_with(rows[0], rows[1], rows[2]);
    struct value *head = record_head(record), *host = value_new_object();
    value_set_text(host, "cpu", HOSTILE);
    value_set_text(host, HOSTILE, HOSTILE);
    value_set(head, "host", host);
    value_set_text(head, "benchmark", HOSTILE);
    value_set_text(head, "command", HOSTILE);
    value_set_text(head, "started", HOSTILE);
    value_set(head, "tags", value_new_object());
    value_set_text(value_get(head, "tags"), HOSTILE, HOSTILE);
    char *page = page_of(&record, 1);
    assert_int_equal(occurrences(page, "<script"), 1);
    assert_int_equal(occurrences(page, "</script"), 1);
    assert_well_formed(page);
    free(page);
    record_free(record);
}

/* Numbers that no machine has neither stop the page nor make it malformed. */
TEST(test_extremes)
{
    static const double numbers[] = {1e-300, 1e300, 5e-324};
    struct row *rows[3];
    for (int i = 0; i < 3; i++) {
        double n = numbers[i];
        rows[i] = profiled_row(1, "layer1");
        row_set_count(rows[i], "nodes", i ? INT64_MAX - i : 1);
        set_equal_turns(rows[i], "step.time", n);
        set_equal_turns(rows[i], "kernel.time", n);
        row_set_count(rows[i], "step.flops.analytic", INT64_MAX);
        row_set_count(rows[i], "step.memory.planned", i ? INT64_MAX : 1);
        row_set_real(rows[i], "step.throughput", n);
        row_set_text(rows[i], "op", "linear");
        row_set_text(rows[i], "variant", "simd");
        row_set_real(rows[i], "kernel.gflops", n);
        row_set_real(rows[i], "kernel.intensity", n);
        row_set_real(rows[i], "kernel.roofline.percent", n);
        row_set_real(rows[i], "kernel.cold.percent", 1 / n > 1e308 ? 1e308 : 1 / n);
        row_set_real(rows[i], "noise.lost", n);
    }
    struct record *record = record_with(rows[0], rows[1], rows[2]);
    struct value *calibration = value_new_object(), *levels = value_new_object(), *dram = value_new_object();
    value_set_real(dram, "read", 1e-300);
    value_set(levels, "DRAM", dram);
    value_set(calibration, "bandwidth", levels);
    value_set_real(calibration, "peak", 1e300);
    value_set_count(calibration, "threads", 2);
    value_set(record_head(record), "calibrations", value_new_array());
    value_append(value_get(record_head(record), "calibrations"), calibration);
    char *page = page_of(&record, 1);
    assert_well_formed(page);
    free(page);
    record_free(record);
}

TEST(test_size)
{
    struct record *records[FILES];
    char work[32];
    int rows = getenv("GTMARK_SMALL") ? 20 : 105; /* the page shows 101 of each file */
    for (int k = 0; k < FILES; k++) {
        records[k] = empty_record();
        for (int i = 0; i < rows; i++) {
            struct row *row = good_row(100 + 50 * (i % 10));
            snprintf(work, sizeof work, "%016x", 1000 * k + i);
            row_set_text(row, "work", work);
            row_set_count(row, "hidden", 8 + i / 10);
            add_row(records[k], row);
        }
    }
    char *page = page_of(records, FILES);
    assert_true(strlen(page) < 3000000);
    assert_true((strstr(page, " more in the file") != NULL) == (rows == 105));
    free(page);
    for (int k = 0; k < FILES; k++)
        record_free(records[k]);
}

/* --- the program */

static void save_record(const struct house *h, const char *name)
{
    char error[MESSAGE_SIZE], path[PATH_MAX];
    struct record *record = record_with(good_row(100), good_row(500), failed_row(1000, "oom", "too large"));
    snprintf(path, sizeof path, "%s/%s", h->work, name);
    assert_true(record_save(record, path, error));
    record_free(record);
}

static void assert_shell(const struct house *h, const char *command)
{
    char line[3 * PATH_MAX];
    snprintf(line, sizeof line, "cd %s && P=%s && %s", h->work, h->program, command);
    if (system(line) != 0)
        fail_msg("%s", line);
}

TEST(test_program)
{
    void *h;
    house_of(&h, "report");
    save_record(h, "a.json");
    assert_ends(h, "a.json", 0, "report.html\n", "");
    assert_ends(h, "a.json a.json -o -", 0, "<!DOCTYPE html>", "");
    assert_ends(h, "a.json --output b.html", 0, "b.html\n", "");
    assert_shell(h, "test -s report.html && test -s b.html && ! ls | grep -q tmp");
    assert_ends(h, "a.json -o ./a.json", 2, "", "--output ./a.json: is one of the result files");
    assert_ends(h, "a.json -o .", 1, "", "is not a regular file");
    assert_ends(h, "a.json -o nowhere/x.html", 1, "", "nowhere/x.html: cannot be written");
    assert_shell(h, "(ulimit -f 8; \"$P\" a.json -o c.html 2>log; test $? = 1) && "
                    "grep -q 'c.html: cannot be written' log && ! ls | grep -q tmp");
    assert_ends(h, "", 2, "", "usage: report ");
    assert_ends(h, "--help", 0, "usage: report ", "");
    assert_ends(h, "--outptu x a.json", 2, "", "did you mean --output?");
    int full = open("/dev/full", O_WRONLY), null = open("/dev/null", O_WRONLY);
    assert_int_equal(program_wait(program_start(h, "a.json -o -", NULL, full, null)), 1);
    close(full);
    close(null);
    /* The policy names the style and the script that are there. */
    assert_shell(h, "for tag in style script; do want=$(sed -n \"s/.*$tag-src 'sha256-\\([^']*\\)'.*/\\1/p\" "
                    "b.html | base64 -d "
                    "| od -An -v -tx1 | tr -d ' \\n') && got=$(sed -n \"/^<$tag>/,/^<.$tag>/p\" b.html | sed "
                    "\"s/^<$tag>//; "
                    "/^<.$tag>/d\" | sha256sum) && test \"$got\" = \"$want  -\" || exit 1; done");
    house_teardown(&h);
}

/* Broken files: a line each, and nothing is written. */
TEST(test_broken)
{
    void *h;
    char path[PATH_MAX], error[MESSAGE_SIZE];
    house_of(&h, "report");
    save_record(h, "a.json");
    assert_shell(h, "echo '{' >b.json && printf '[[[[' >c.json && echo '{\"schema\": 99}' >d.json");
    assert_shell(
        h,
        "\"$P\" a.json b.json c.json d.json none.json -o x.html 2>log; test $? = 2 && test $(wc -l <log) = 4 "
        "&& grep -q 'b.json: ' log && grep -q 'none.json: ' log && ! test -e x.html");
    snprintf(path, sizeof path, "%s/a.json", ((struct house *)h)->work);
    size_t size, length, step;
    char *text = file_read(path, &size, error);
    length = strcspn(text, "\n"); /* what is after it is whole without its last line */
    step = length / 40;
    for (size_t i = 0; i < length; i += i < 40 || i + 40 > length ? 8 : step) {
        snprintf(path, sizeof path, "%s/cut.json", ((struct house *)h)->work);
        FILE *out = fopen(path, "w");
        assert_true(out && fwrite(text, 1, i, out) == i && fclose(out) == 0);
        struct ended e = program_run(h, "a.json cut.json -o x.html", NULL);
        if (e.status != 2 || !strstr(e.err, "cut.json: ") || occurrences(e.err, "\n") != 1 || *e.out)
            fail_msg("cut after %zu bytes: status %d\n%s", i, e.status, e.err);
        ended_free(&e);
    }
    assert_shell(h, "! test -e x.html");
    free(text);
    house_teardown(&h);
}
