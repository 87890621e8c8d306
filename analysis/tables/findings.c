#include "analysis/tables/findings.h"

#include "analysis/record/record.h"
#include "analysis/tables/units.h"

#include <string.h>

/* How the step grows over the number of nodes, compared with its work. */
static void print_growth(FILE *out, const struct record *record)
{
    for (struct walk w = value_walk(value_get(record_head(record), "fits")); walk_next(&w);) {
        const struct value *fit = w.value;
        const char *program = "", *axis = "", *verdict = "";
        double from, to, exponent, work, low, high;
        char margin[32] = "";
        if (!value_get_text(fit, "program", &program) || !value_get_text(fit, "axis", &axis) ||
            !value_get_real(fit, "from", &from) || !value_get_real(fit, "to", &to) ||
            !value_get_real(fit, "exponent", &exponent) || !value_get_real(fit, "work_exponent", &work) ||
            !value_get_text(fit, "verdict", &verdict) || strcmp(program, "step") != 0 ||
            strcmp(axis, "nodes") != 0)
            continue;
        if (value_get_real(fit, "exponent_low", &low) && value_get_real(fit, "exponent_high", &high))
            snprintf(margin, sizeof margin, " ± %.2f", (high - low) / 2);
        fprintf(
            out,
            "- A training step grows as N^%.2f%s from %.0f to %.0f nodes; its work grows as N^%.2f: %s.\n",
            exponent, margin, from, to, work,
            strcmp(verdict, "agrees") == 0        ? "time follows the work"
            : strcmp(verdict, "contradicts") == 0 ? "time does not follow the work"
                                                  : "no contradiction within the noise");
    }
}

/* The row that is ok, with a time of `program` that is not noisy, and the largest value of a field, or null.
 */
static const struct row *largest(const struct rows *rows, const char *program, const char *path)
{
    const struct row *found = NULL;
    double best = 0, value;
    for (size_t i = 0; i < rows_count(rows); i++) {
        const struct row *row = rows_at(rows, i);
        if (!row_is_ok(row) || !row_get_real(row, path, &value) || row_noisy(row, program) ||
            (found && value <= best))
            continue;
        found = row;
        best = value;
    }
    return found;
}

static void print_largest(FILE *out, const struct record *record)
{
    const struct row *row = largest(record_rows(record), "step", "nodes");
    double median, gflops, percent, memory;
    int64_t nodes;
    const char *bound;
    char time[UNITS_TEXT], bytes[UNITS_TEXT];
    if (!row || !row_get_real(row, "step.time.median", &median) || !row_get_count(row, "nodes", &nodes) ||
        !row_get_real(row, "step.gflops", &gflops) || !row_get_real(row, "step.memory.planned", &memory))
        return;
    units_format(time, median, UNITS_SI, "s");
    units_format(bytes, memory, UNITS_BINARY, "B");
    fprintf(out, "- At %lld nodes a training step takes %s and %s, at %.0f GFLOP/s", (long long)nodes, time,
            bytes, gflops);
    if (row_get_real(row, "step.roofline.percent", &percent) &&
        row_get_text(row, "step.roofline.bound", &bound))
        fprintf(out, ": %.0f %% of this machine's %s ceiling", percent, bound);
    fputs(".\n", out);
}

static void print_kernels(FILE *out, const struct record *record)
{
    const struct rows *rows = record_rows(record);
    const struct row *best = largest(rows, "kernel", "kernel.gflops");
    const char *op, *variant;
    double rate, percent;
    size_t good = 0;
    for (size_t i = 0; i < rows_count(rows); i++)
        good += row_is_ok(rows_at(rows, i)) && !row_unchecked(rows_at(rows, i));
    if (!best || !row_get_text(best, "op", &op) || !row_get_text(best, "variant", &variant) ||
        !row_get_real(best, "kernel.gflops", &rate))
        return;
    fprintf(out, "- The fastest kernel is %s (%s) at %.0f GFLOP/s", op, variant, rate);
    if (row_get_real(best, "kernel.roofline.percent", &percent))
        fprintf(out, ", %.0f %% of its roofline", percent);
    fprintf(out, "; %zu of %zu kernels were measured and passed the check.\n", good, rows_count(rows));
}

static void print_encodings(FILE *out, const struct record *record)
{
    const struct row *row = largest(record_rows(record), "encoding", "encoding.time.median");
    const char *pe, *family;
    int64_t nodes, steps;
    double once;
    char time[UNITS_TEXT];
    if (!row || !row_get_text(row, "pe", &pe) || !row_get_text(row, "graph.family", &family) ||
        !row_get_count(row, "nodes", &nodes) || !row_get_real(row, "encoding.time.median", &once))
        return;
    units_format(time, once, UNITS_SI, "s");
    fprintf(out, "- The encoding that takes longest is %s of %s with %lld nodes: %s once", pe, family,
            (long long)nodes, time);
    if (row_get_count(row, "encoding.break_even_step", &steps))
        fprintf(out, ", under 1 %% of the time after %lld training steps", (long long)steps);
    fputs(".\n", out);
}

static void print_unchecked(FILE *out, const struct rows *rows)
{
    const char *reason = NULL;
    size_t count = 0;
    for (size_t i = 0; i < rows_count(rows); i++) {
        const char *unchecked = row_unchecked(rows_at(rows, i));
        count += unchecked != NULL;
        reason = reason ? reason : unchecked;
    }
    if (count > 0)
        fprintf(out, "- %zu of %zu rows were not checked (%s): their results may be wrong.\n", count,
                rows_count(rows), reason);
}

void findings_print(FILE *out, const struct record *record)
{
    static const struct {
        const char *benchmark;
        void (*print)(FILE *out, const struct record *record);
    } findings[] = {{"bench_node_scaling", print_growth},
                    {"bench_node_scaling", print_largest},
                    {"bench_kernels", print_kernels},
                    {"bench_pe_scaling", print_encodings}};
    const char *name = "";
    value_get_text(record_head(record), "benchmark", &name);
    for (size_t f = 0; f < sizeof findings / sizeof *findings; f++)
        if (strcmp(name, findings[f].benchmark) == 0)
            findings[f].print(out, record);
    print_unchecked(out, record_rows(record));
}
