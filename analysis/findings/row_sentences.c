/* Findings about single rows: the largest, the parts of one configuration, kernels, encodings, checks. */
#include "analysis/findings/sentences.h"

#include "analysis/record/schema.h"
#include "analysis/tables/units.h"

#include <math.h>
#include <string.h>

static void print_seconds(FILE *out, const char *before, double seconds)
{
    char text[UNITS_TEXT];
    units_format(text, seconds, UNITS_SI, "s");
    fprintf(out, "%s%s", before, text);
}

void sentences_largest(FILE *out, const struct facts *facts)
{
    const struct row *row = NULL;
    double most = 0, work, median, gflops, percent, memory;
    char name[AXES_TEXT], bytes[UNITS_TEXT];
    const char *bound, *fault = "";
    for (size_t i = 0; i < rows_count(facts->rows); i++) {
        const struct row *r = rows_at(facts->rows, i);
        if (is_settled(r, "step") && row_get_real(r, "step.flops.analytic", &work) && work > most) {
            most = work;
            row = r;
        }
    }
    if (!row || !row_get_real(row, "step.time.median", &median) ||
        !row_get_real(row, "step.gflops", &gflops) || !row_get_real(row, "step.memory.planned", &memory))
        return;
    describe_row(facts, row, name);
    units_format(bytes, memory, UNITS_BINARY, "B");
    fprintf(out, "With %s, a training step ", name);
    print_seconds(out, "takes ", median);
    fprintf(out, " and %s, at %.3g GFLOP/s", bytes, gflops);
    row_get_text(row, "step.roofline.fault", &fault);
    if (!*fault && row_get_real(row, "step.roofline.percent", &percent) &&
        row_get_text(row, "step.roofline.bound", &bound))
        fprintf(out, ": %.0f %% of what this machine's %s ceiling allows", percent, bound);
    fputs(".\n", out);
}

/* The largest of some parts of a whole. */
struct share {
    const char *name;
    double seconds;
};

static void print_largest_share(FILE *out, const char *whole, double total, const struct share *parts,
                                size_t n)
{
    size_t most = 0;
    for (size_t i = 1; i < n; i++)
        most = parts[i].seconds > parts[most].seconds ? i : most;
    fputs(whole, out);
    print_seconds(out, " takes ", total);
    fprintf(out, "; the largest part, %.0f %%, is %s.\n", 100 * parts[most].seconds / total,
            parts[most].name);
}

static void print_first_answer(FILE *out, const struct row *row)
{
    static const char *const fields[] = {"graph", "encoding", "record", "upload", "forward"};
    struct share parts[] = {{"the graph", 0},
                            {"the encoding", 0},
                            {"recording and planning", 0},
                            {"allocating and initialising", 0},
                            {"the first run", 0}};
    double total;
    if (!row_get_real(row, "first_answer.total", &total))
        return;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        char path[SCHEMA_PATH];
        snprintf(path, sizeof path, "first_answer.%s", fields[i]);
        row_get_real(row, path, &parts[i].seconds);
    }
    print_largest_share(out, "The first answer, from seed or file to output,", total, parts,
                        sizeof parts / sizeof *parts);
}

void sentences_parts(FILE *out, const struct facts *facts)
{
    const struct row *row = rows_at(facts->rows, 0);
    double step, backward, optimizer, recompute = 0;
    if (rows_count(facts->rows) != 1)
        return;
    if (is_settled(row, "step") && row_get_real(row, "step.time.median", &step) &&
        row_get_real(row, "step.backward.time", &backward) &&
        row_get_real(row, "step.optimizer.time", &optimizer)) {
        row_get_real(row, "step.recompute.time", &recompute);
        const struct share parts[] = {{"forward and loss", step - backward - optimizer - recompute},
                                      {"recomputing activations", recompute},
                                      {"the backward pass", backward},
                                      {"the optimizer", optimizer}};
        print_largest_share(out, "A training step", step, parts, sizeof parts / sizeof *parts);
    }
    if (row_is_ok(row) && !row_unchecked(row))
        print_first_answer(out, row);
}

/* A row and a quantity with its interval. */
struct candidate {
    const struct row *row;
    double value, low, high;
    bool noisy;
};

typedef bool quantity(const struct row *row, struct candidate *c);

/* A field that is inversely proportional to the kernel's time, with the interval of the latter. */
static bool read_rate(const struct row *row, const char *field, struct candidate *c)
{
    double time, low, high;
    if (!is_settled(row, "kernel") || !row_get_real(row, field, &c->value) ||
        !row_get_real(row, "kernel.time.median", &time) || !row_get_real(row, "kernel.time.ci95_low", &low) ||
        !row_get_real(row, "kernel.time.ci95_high", &high) || !(low > 0))
        return false;
    c->low = c->value * time / high;
    c->high = c->value * time / low;
    return true;
}

static bool read_gflops(const struct row *row, struct candidate *c)
{
    return read_rate(row, "kernel.gflops", c);
}

/* Negative, so that the largest is the furthest from the roofline. */
static bool read_distance(const struct row *row, struct candidate *c)
{
    struct candidate percent;
    if (!read_rate(row, "kernel.roofline.percent", &percent))
        return false;
    c->value = -percent.value;
    c->low = -percent.high;
    c->high = -percent.low;
    return true;
}

/* Noisy times too, which may be the longest. A state of the machine can double a time, so a noisy one may be
 * wrong by this factor. */
static bool read_encoding(const struct row *row, struct candidate *c)
{
    c->noisy = row_noisy(row, "encoding") != NULL;
    if (!row_is_ok(row) || row_unchecked(row) || !row_get_real(row, "encoding.time.median", &c->value) ||
        !row_get_real(row, c->noisy ? "encoding.time.min" : "encoding.time.ci95_low", &c->low) ||
        !row_get_real(row, c->noisy ? "encoding.time.max" : "encoding.time.ci95_high", &c->high))
        return false;
    c->low /= c->noisy ? 2 : 1;
    c->high *= c->noisy ? 2 : 1;
    return true;
}

/* The row with the largest value of `count`; in *rival the one that may have a larger one, if any. */
static struct candidate largest(const struct rows *rows, quantity *read, struct candidate *rival,
                                size_t *count)
{
    struct candidate best = {.row = NULL};
    *rival = best;
    *count = 0;
    for (size_t i = 0; i < rows_count(rows); i++) {
        struct candidate c = {.row = rows_at(rows, i)};
        if (!read(c.row, &c))
            continue;
        ++*count;
        if (!best.row || c.value > best.value)
            best = c;
    }
    for (size_t i = 0; i < rows_count(rows); i++) {
        struct candidate c = {.row = rows_at(rows, i)};
        if (c.row != best.row && read(c.row, &c) && c.high >= best.low &&
            (!rival->row || c.high > rival->high))
            *rival = c;
    }
    return best;
}

/* "linear (blas), 2000 nodes" */
static void print_kernel(FILE *out, const struct facts *facts, const struct row *row)
{
    const char *op = "?", *variant = "?";
    char axes[AXES_TEXT];
    row_get_text(row, "op", &op);
    row_get_text(row, "variant", &variant);
    describe_axes(facts, row, axes);
    fprintf(out, "%s (%s)%s%s", op, variant, *axes ? ", " : "", axes);
}

/* "linear (blas), 2000 nodes" or, if there is a rival, "... or ..., the rows cannot tell which," */
static void print_kernels(FILE *out, const struct facts *facts, const struct candidate *best,
                          const struct candidate *rival)
{
    print_kernel(out, facts, best->row);
    if (!rival->row)
        return;
    fputs(" or ", out);
    print_kernel(out, facts, rival->row);
    fputs(", the rows cannot tell which,", out);
}

void sentences_kernels(FILE *out, const struct facts *facts)
{
    size_t count;
    struct candidate rival, best = largest(facts->rows, read_gflops, &rival, &count);
    double percent;
    const char *fault = "";
    if (count < 2)
        return;
    fprintf(out, "Of %zu kernels with a settled time, ", count);
    print_kernels(out, facts, &best, &rival);
    fprintf(out, " is the fastest, at %.3g GFLOP/s", best.value);
    row_get_text(best.row, "kernel.roofline.fault", &fault);
    if (!*fault && row_get_real(best.row, "kernel.roofline.percent", &percent))
        fprintf(out, ", %.0f %% of its roofline", percent);
    fputs(".\n", out);
    best = largest(facts->rows, read_distance, &rival, &count);
    if (count < 2)
        return;
    fprintf(out, "Of %zu with a roofline, ", count);
    print_kernels(out, facts, &best, &rival);
    fprintf(out, " is the furthest from it, at %.2g %%.\n", -best.value);
}

/* "takes 264 ms (lap:16)" */
static void print_encoding(FILE *out, const struct facts *facts, const struct candidate *c)
{
    char name[AXES_TEXT];
    double least = c->value;
    row_get_real(c->row, "encoding.time.min", &least);
    describe_row(facts, c->row, name);
    print_seconds(out, c->noisy ? "took " : "takes ", c->noisy ? least : c->value);
    fprintf(out, "%s (%s%s)", c->noisy ? " or more in every run" : "", name,
            c->noisy ? "; too few turns for a median" : "");
}

/* The row whose encoding pays off last, of those with a step. */
static void print_break_even(FILE *out, const struct facts *facts)
{
    const struct row *last = NULL;
    int64_t most = 0, steps;
    size_t count = 0;
    char name[AXES_TEXT];
    for (size_t i = 0; i < rows_count(facts->rows); i++) {
        const struct row *row = rows_at(facts->rows, i);
        if (!is_settled(row, "encoding") || !is_settled(row, "step") ||
            !row_get_count(row, "encoding.break_even_step", &steps))
            continue;
        count++;
        if (!last || steps > most) {
            last = row;
            most = steps;
        }
    }
    if (!last)
        return;
    describe_row(facts, last, name);
    if (count > 1)
        fprintf(out, "Of %zu encodings timed beside a training step the last to pay off (%s)", count, name);
    else
        fprintf(out, "The only encoding timed beside a training step (%s)", name);
    fprintf(out, " is less than 1 %% of the time after %lld step%s.\n", (long long)most,
            most == 1 ? "" : "s");
}

void sentences_encodings(FILE *out, const struct facts *facts)
{
    size_t count;
    struct candidate rival, best = largest(facts->rows, read_encoding, &rival, &count);
    if (count < 2)
        return;
    fprintf(out, "Of %zu encodings the dearest ", count);
    print_encoding(out, facts, &best);
    if (rival.row) {
        fputs(", if it is not the one that ", out);
        print_encoding(out, facts, &rival);
        fputs(": the rows cannot tell", out);
    }
    fputs(".\n", out);
    print_break_even(out, facts);
}

/* Whether the results of an ok row were compared with a reference: programs, or the pairs of an encoding. */
static bool is_checked(const struct row *row)
{
    static const char *const checks[] = {"checked", "error.norm", "encoding.residual"};
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        if (row_has(row, checks[i]) && !row_is_null(row, checks[i]))
            return !row_unchecked(row);
    return false;
}

void sentences_checks(FILE *out, const struct facts *facts)
{
    size_t passed = 0, ok = 0, noisy = 0, rows = rows_count(facts->rows);
    const char *reason = NULL;
    for (size_t i = 0; i < rows; i++) {
        const struct row *row = rows_at(facts->rows, i);
        bool is_noisy = false;
        for (size_t p = 0; p < TIMED; p++)
            is_noisy = is_noisy || row_noisy(row, program_name(p));
        reason = reason ? reason : row_unchecked(row);
        ok += row_is_ok(row);
        passed += row_is_ok(row) && is_checked(row);
        noisy += row_is_ok(row) && is_noisy;
    }
    if (rows == 0)
        return;
    fprintf(out, "%zu of %zu row%s passed the numerical check", passed, rows, rows == 1 ? "" : "s");
    if (passed < ok)
        fprintf(out, "; %zu %s not checked%s%s%s", ok - passed, ok - passed == 1 ? "was" : "were",
                reason ? " (" : "", reason ? reason : "", reason ? ")" : "");
    if (ok < rows)
        fprintf(out, "; %zu %s not ok", rows - ok, rows - ok == 1 ? "is" : "are");
    fputs(".\n", out);
    if (noisy > 0)
        fprintf(out, "%zu row%s a noisy time; no finding gives the median of one.\n", noisy,
                noisy == 1 ? " has" : "s have");
}
