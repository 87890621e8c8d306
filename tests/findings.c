#include "tests/findings.h"

#include "analysis/findings/findings.h"
#include "analysis/tables/units.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

void set_turns(struct row *row, const char *path, double seconds, double noise)
{
    double samples[10];
    for (int i = 0; i < 10; i++)
        samples[i] = seconds * (i < 4 ? 1 - noise : i < 6 ? 1 : 1 + noise);
    row_set_samples(row, path, samples, 10);
}

void set_noisy(struct row *row, const char *path, double seconds)
{
    row_set_samples(row, path, (double[]){0.9 * seconds, seconds, 1.1 * seconds}, 3);
}

struct row *checked_row(int64_t nodes)
{
    struct row *row = row_new();
    row_set_text(row, "status", "ok");
    row_set_text(row, "reason", "");
    row_set_text(row, "checked", "whole");
    set_axes(row, nodes);
    return row;
}

void set_step(struct row *row, double seconds, double noise, double flops)
{
    set_turns(row, "step.time", seconds, noise);
    row_set_count(row, "step.flops.analytic", (int64_t)flops);
    row_set_count(row, "step.bytes", (int64_t)flops);
    row_set_count(row, "step.memory.planned", 100 << 20);
    row_set_real(row, "step.gflops", flops / seconds / 1e9);
    row_set_text(row, "step.roofline.level", "LLC");
    row_set_text(row, "step.roofline.bound", "compute");
    row_set_real(row, "step.roofline.percent", 50);
    row_set_text(row, "step.roofline.fault", "");
}

char *in_single_lines(char *text)
{
    char *copy = strdup(text), *rest = copy, *to = text;
    for (char *line; (line = strsep(&rest, "\n"));)
        assert_true(units_width(line) <= 100);
    free(copy);
    for (const char *c = text; *c; c++) {
        bool breaks = strncmp(c, "\n  ", 3) == 0;
        *to++ = breaks ? ' ' : *c;
        c += breaks ? 2 : 0;
    }
    *to = '\0';
    return text;
}

char *said(struct rows *rows)
{
    char *text = NULL;
    size_t size = 0;
    struct record *record = empty_record();
    value_set_count(value_get(record_head(record), "host"), "memory", 64LL << 30);
    for (size_t i = 0; i < rows_count(rows); i++)
        add_row(record, row_copy(rows_at(rows, i)));
    rows_free(rows);
    FILE *out = open_memstream(&text, &size);
    findings_print(out, (const struct record *const *)&record, (const char *[]){"name"}, 1);
    fclose(out);
    record_free(record);
    return in_single_lines(text);
}

void assert_said(struct rows *rows, const char *expected)
{
    char *text = said(rows);
    if (!strstr(text, expected))
        fail_msg("no \"%s\" in:\n%s", expected, text);
    free(text);
}

void assert_not_said(struct rows *rows, const char *unexpected)
{
    char *text = said(rows);
    if (strstr(text, unexpected))
        fail_msg("\"%s\" in:\n%s", unexpected, text);
    free(text);
}
