/*
 * findings FILE.json ...: the main findings of a few result files, in words: how the training step grows, how
 * near to the machine's ceilings it comes and what it takes, what the kernels leave, what encodings cost. A
 * file that says nothing of one of them is passed over.
 */
#include "analysis/record/record.h"
#include "analysis/tables/units.h"

#include <string.h>

static bool is_of(const json_t *record, const char *benchmark)
{
    const char *name = json_string_value(json_object_get(record, "benchmark"));
    return name && strcmp(name, benchmark) == 0;
}

/* The growth of the step over the number of nodes, and what its FLOPs would make of it. */
static void tell_growth(const json_t *record)
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
        printf("- A training step grows as N^%.2f%s from %.0f to %.0f nodes; its work grows as N^%.2f: %s.\n",
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

static void tell_largest(const json_t *record)
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
    printf("- At %lld nodes a training step takes %s and %s, at %.0f GFLOP/s", (long long)nodes, time, bytes,
           gflops);
    if (row_get_real(row, "step.roofline.percent", &percent) &&
        row_get_text(row, "step.roofline.bound", &bound))
        printf(": %.0f %% of what this machine's %s ceiling allows", percent, bound);
    puts(".");
}

static void tell_kernels(const json_t *record)
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
    printf("- The fastest kernel is %s (%s) at %.0f GFLOP/s", op, variant, rate);
    if (row_get_real(best, "kernel.roofline.percent", &percent))
        printf(", %.0f %% of its roofline", percent);
    printf("; %zu of %zu kernels were measured and found right.\n", good, json_array_size(rows));
}

static void tell_encodings(const json_t *record)
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
    printf("- The dearest encoding is %s of %s with %lld nodes: %s once, under 1 %% of the time after %lld "
           "training steps.\n",
           pe, family, (long long)nodes, time, (long long)steps);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *benchmark;
        void (*tell)(const json_t *record);
    } findings[] = {{"bench_node_scaling", tell_growth},
                    {"bench_node_scaling", tell_largest},
                    {"bench_kernels", tell_kernels},
                    {"bench_pe_scaling", tell_encodings}};
    bool help = argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    if (help || argc < 2 || argv[1][0] == '-') {
        fputs("usage: findings FILE.json ...   says in words what result files show\n",
              help ? stdout : stderr);
        return help ? 0 : 2;
    }
    for (int i = 1; i < argc; i++) {
        char error[MESSAGE_SIZE];
        json_t *record = record_load_any(argv[i], error);
        if (!record) {
            fprintf(stderr, "findings: %s\n", error);
            return 2;
        }
        for (size_t f = 0; f < sizeof findings / sizeof *findings; f++)
            if (is_of(record, findings[f].benchmark))
                findings[f].tell(record);
        json_decref(record);
    }
    if (fflush(stdout) != 0) {
        fputs("findings: stdout: cannot be written\n", stderr);
        return 1;
    }
    return 0;
}
