/*
 * What bounds the program with the most work, and the op to work on: the one that loses the most time to its
 * roofline, by a profile or, of ops timed alone, by the fastest kernel of each.
 */
#include "analysis/findings/sentences.h"

#include "analysis/record/axes.h"
#include "analysis/record/profile.h"
#include "analysis/tables/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An op, the interval of its time, and the least time that the ceilings allow (0: not known). */
struct op {
    char name[2 * AXES_TEXT];
    double seconds, low, high, least;
};

/* A profile has no intervals: of two ops whose times differ by less than this factor either may be longer. */
static const double distinct = 1.1;

/* Writes which of ops[n] loses the most time, or which two; false, with nothing written, if it may be one of
 * more. total: of which times are told as shares, or 0. */
static bool say_op(FILE *out, struct op *ops, size_t n, double total)
{
    size_t best = 0, rival = n, rivals = 0;
    for (size_t i = 1; i < n; i++)
        best = ops[i].seconds - ops[i].least > ops[best].seconds - ops[best].least ? i : best;
    for (size_t i = 0; i < n; i++)
        if (i != best && ops[i].high - ops[i].least >= ops[best].low - ops[best].least) {
            rival = i;
            rivals++;
        }
    if (n < 2 || rivals > 1)
        return false;
    for (size_t i = best; i < n; i = i == best ? rival : n) {
        char time[UNITS_TEXT];
        units_format(time, ops[i].seconds, UNITS_SI, "s");
        fprintf(out, "%s%s (", i == best ? "" : " or ", ops[i].name);
        if (total > 0)
            fprintf(out, "%.0f %% of the time", 100 * ops[i].seconds / total);
        else
            fputs(time, out);
        if (ops[i].least > 0 && ops[i].least <= ops[i].seconds)
            fprintf(out, ", at %.0f %% of its roofline", 100 * ops[i].least / ops[i].seconds);
        fputs(")", out);
    }
    return true;
}

/* covered: the profiled time over the measured one, which ops can be wrong by; NAN: not known. */
static struct op *ops_of_profile(const struct profile *p, double covered, size_t *n)
{
    double apart = fmax(distinct, 1 + fabs(covered - 1)); /* fmax ignores NAN */
    struct profile_group *groups = profile_groups(p, PROFILE_OP, PROFILE_LONGEST, n);
    struct op *ops = calloc(*n + 1, sizeof *ops);
    if (!ops)
        abort();
    for (size_t i = 0; i < *n; i++) {
        double seconds = groups[i].seconds, least = isfinite(groups[i].least) ? groups[i].least : 0;
        double lost = seconds - least;
        ops[i] = (struct op){"", seconds, seconds, least + apart * lost, least};
        snprintf(ops[i].name, sizeof ops[i].name, "%s", groups[i].key);
    }
    free(groups);
    return ops;
}

/* "; the op to work on is linear_backward (43 % of the time, ...)", of the largest program with a profile. */
static bool say_op_of_profile(FILE *out, const struct rows *rows, size_t kind, const struct row *told)
{
    struct profile p;
    char name[AXES_TEXT], *text;
    size_t n, size;
    const struct row *row = profile_of_largest(rows, kind, &p);
    struct op *ops = ops_of_profile(&p, row ? row_program(row, kind)->profile.covered : NAN, &n);
    FILE *memory = open_text(&text, &size);
    bool named = say_op(memory, ops, n, profile_total(&p).seconds);
    fclose(memory);
    describe_row(rows, row ? row : told, name);
    if (named)
        fprintf(out, "; the op to work on%s%s is %s", row == told ? "" : ", with ", row == told ? "" : name,
                text);
    else if (!row)
        fputs("; --profile names the op to work on", out);
    free(text);
    free(ops);
    profile_free(&p);
    return named;
}

/* Whether its share of the roofline can be told. */
static bool has_share(const struct row *row, size_t kind)
{
    const struct row_program *p = row_program(row, kind);
    return is_settled(row, kind) && !has_text(p->roofline.fault) && p->roofline.percent >= 0;
}

static double say_program(FILE *out, const struct rows *rows)
{
    size_t kind;
    char name[AXES_TEXT], time[UNITS_TEXT];
    double work;
    const struct row *row = row_of_most_work(rows, has_share, &kind, &work);
    if (!row)
        return 0;
    const struct row_program *p = row_program(row, kind);
    const char *bound = p->roofline.bound ? p->roofline.bound : "",
               *level = p->roofline.level ? p->roofline.level : "";
    bool memory = strcmp(bound, "memory") == 0;
    describe_row(rows, row, name);
    units_format_interval(time, p->time.median, p->time.range_low, p->time.range_high, "s");
    fprintf(out, "With %s, %s takes %s, at %.0f %% of its roofline, bound by %s%s%s%s", name,
            subject_of(kind), time, p->roofline.percent, bound, memory ? " (" : "", memory ? level : "",
            memory ? ")" : "");
    bool named = say_op_of_profile(out, rows, kind, row);
    fputs(".", out);
    return named ? 1e30 + work : work; /* an op to work on before any other */
}

/* The fastest kernel of each op, of those whose share of the roofline can be told. */
static struct op *fastest_kernels(const struct rows *rows, size_t *n)
{
    const struct field *axes[AXES_MAX];
    size_t count = rows_count(rows), all = axes_varying(rows, axes), kept = 0;
    size_t *group = malloc((count + 1) * sizeof *group), *place = calloc(count + 1, sizeof *place);
    struct op *ops = calloc(count + 1, sizeof *ops);
    if (!group || !place || !ops)
        abort();
    for (size_t i = 0; i < all; i++)
        if (strcmp(axes[i]->path, "variant") != 0)
            axes[kept++] = axes[i];
    axes_group(rows, axes, kept, group);
    *n = 0;
    for (size_t i = 0; i < count; i++) {
        const struct row *row = rows_at(rows, i);
        const struct row_times *time = &row->kernel.time;
        char where[AXES_TEXT], op[AXES_TEXT], variant[AXES_TEXT];
        if (!has_share(row, TIMED_KERNEL))
            continue;
        size_t at = place[group[i]] ? place[group[i]] - 1 : (*n)++;
        place[group[i]] = at + 1;
        if (ops[at].seconds > 0 && ops[at].seconds <= time->median)
            continue;
        axes_text(row, schema_find("op"), op);
        axes_text(row, schema_find("variant"), variant);
        describe_row(rows, row, where);
        ops[at] = (struct op){"", time->median, time->range_low, time->range_high,
                              time->median * row->kernel.roofline.percent / 100};
        snprintf(ops[at].name, sizeof ops[at].name, "%.100s %.100s with %s", op, variant, where);
    }
    free(group);
    free(place);
    return ops;
}

static double say_kernel(FILE *out, const struct rows *rows)
{
    char *text;
    size_t n, size;
    struct op *ops = fastest_kernels(rows, &n);
    FILE *memory = open_text(&text, &size);
    bool named = say_op(memory, ops, n, 0);
    fclose(memory);
    if (named)
        fprintf(out, "Of the fastest kernel of each op, %s loses the most time to its roofline.", text);
    free(text);
    free(ops);
    return named;
}

double sentence_bound(FILE *out, const struct facts *facts)
{
    double weight = say_program(out, facts->rows);
    return weight > 0 ? weight : say_kernel(out, facts->rows);
}
