#include "analysis/tables/findings.h"

#include "analysis/record/record.h"
#include "analysis/tables/units.h"

#include <string.h>

/* The growth of the step over the number of nodes, and what its FLOPs would make of it. */
static void print_growth(FILE *out, const json_t *record)
{
    json_t *fit;
    size_t i;
    json_array_foreach(json_object_get(record, "fits"), i, fit)
    {
        const char *program = "", *axis = "", *verdict = "";
        double from, to, exponent, work, low, high;
        char margin[32] = "";
        if (json_unpack(fit, "{s:s, s:s, s:F, s:F, s:F, s:F, s:s}", "program", &program, "axis", &axis,
                        "from", &from, "to", &to, "exponent", &exponent, "work_exponent", &work, "verdict",
                        &verdict) ||
            strcmp(program, "step") != 0 || strcmp(axis, "nodes") != 0)
            continue;
        if (!json_unpack(fit, "{s:F, s:F}", "exponent_low", &low, "exponent_high", &high))
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

/* The row with the largest (or smallest, sign -1) value of a field among those that are ok; null: none. */
static const json_t *extreme(const json_t *rows, const char *path, double sign)
{
    const json_t *found = NULL;
    double best = 0, value;
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        if (!row_is_ok(row) || !row_get_real(row, path, &value) || (found && sign * value <= sign * best))
            continue;
        found = row;
        best = value;
    }
    return found;
}

static void print_largest(FILE *out, const json_t *record)
{
    const json_t *row = extreme(json_object_get(record, "rows"), "nodes", 1);
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
        fprintf(out, ": %.0f %% of what this machine's %s ceiling allows", percent, bound);
    fputs(".\n", out);
}

static void print_kernels(FILE *out, const json_t *record)
{
    const json_t *rows = json_object_get(record, "rows");
    const json_t *best = extreme(rows, "kernel.gflops", 1);
    const char *op, *variant;
    double rate, percent;
    size_t good = 0;
    for (size_t i = 0; i < json_array_size(rows); i++)
        good += row_is_ok(json_array_get(rows, i));
    if (!best || !row_get_text(best, "op", &op) || !row_get_text(best, "variant", &variant) ||
        !row_get_real(best, "kernel.gflops", &rate))
        return;
    fprintf(out, "- The fastest kernel is %s (%s) at %.0f GFLOP/s", op, variant, rate);
    if (row_get_real(best, "kernel.roofline.percent", &percent))
        fprintf(out, ", %.0f %% of its roofline", percent);
    fprintf(out, "; %zu of %zu kernels were measured and found right.\n", good, json_array_size(rows));
}

static void print_encodings(FILE *out, const json_t *record)
{
    const json_t *row = extreme(json_object_get(record, "rows"), "encoding.break_even_step", 1);
    const char *pe, *family;
    int64_t nodes, steps;
    double once;
    char time[UNITS_TEXT];
    if (!row || !row_get_text(row, "pe", &pe) || !row_get_text(row, "graph.family", &family) ||
        !row_get_count(row, "nodes", &nodes) || !row_get_real(row, "encoding.time.median", &once) ||
        !row_get_count(row, "encoding.break_even_step", &steps))
        return;
    units_format(time, once, UNITS_SI, "s");
    fprintf(out,
            "- The dearest encoding is %s of %s with %lld nodes: %s once, under 1 %% of the time after %lld "
            "training steps.\n",
            pe, family, (long long)nodes, time, (long long)steps);
}

void findings_print(FILE *out, const json_t *record)
{
    static const struct {
        const char *benchmark;
        void (*print)(FILE *out, const json_t *record);
    } findings[] = {{"bench_node_scaling", print_growth},
                    {"bench_node_scaling", print_largest},
                    {"bench_kernels", print_kernels},
                    {"bench_pe_scaling", print_encodings}};
    const char *name = json_string_value(json_object_get(record, "benchmark"));
    for (size_t f = 0; name && f < sizeof findings / sizeof *findings; f++)
        if (strcmp(name, findings[f].benchmark) == 0)
            findings[f].print(out, record);
}
