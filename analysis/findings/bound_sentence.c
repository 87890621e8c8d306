/*
 * What bounds the program with the most work, and the op to work on: the one that loses the most time to its
 * roofline, by a profile or, of ops timed alone, by the fastest kernel of each.
 */
#include "analysis/findings/sentences.h"

#include "analysis/record/profile.h"
#include "analysis/record/slices.h"
#include "analysis/statistics/disturbance.h"
#include "analysis/tables/units.h"

/* An op, its time, and the least time that the ceilings allow (0: not known). */
struct op {
    char name[2 * AXES_TEXT];
    struct range time;
    double least;
};

/* A profile has no ranges: of two ops whose times differ by less than this factor either may be longer. */
static const double distinct = 1.1;

/* What is known of the time on a quiet machine: that it is no longer than this, if turns were disturbed. */
static const char *quiet(const struct range *r, double *seconds)
{
    bool disturbed = r->lost > DISTURBANCE_HEAVY;
    *seconds = disturbed ? r->low : r->median;
    return disturbed ? "at most " : "";
}

static double lost_by(const struct op *op, double seconds)
{
    return seconds - op->least;
}

/* Writes which of ops[n] loses the most time, or which two; false, with nothing written, if it may be one of
 * more. total: of which times are told as shares, or 0. */
static bool say_op(FILE *out, struct op *ops, size_t n, double total)
{
    size_t best = 0, rival = n, rivals = 0;
    for (size_t i = 1; i < n; i++)
        best = lost_by(&ops[i], ops[i].time.median) > lost_by(&ops[best], ops[best].time.median) ? i : best;
    for (size_t i = 0; i < n; i++)
        if (i != best && (!ranges_suffice(&ops[i].time, &ops[best].time) ||
                          lost_by(&ops[i], ops[i].time.high) >=
                              lost_by(&ops[best], range_floor_within(&ops[best].time)))) {
            rival = i;
            rivals++;
        }
    if (n < 2 || rivals > 1)
        return false;
    for (size_t i = best; i < n; i = i == best ? rival : n) {
        char time[UNITS_TEXT];
        double seconds;
        const char *bound = quiet(&ops[i].time, &seconds);
        units_format(time, seconds, UNITS_SI, "s");
        fprintf(out, "%s%s (", i == best ? "" : " or ", ops[i].name);
        if (total > 0)
            fprintf(out, "%.0f %% of the time", 100 * seconds / total);
        else
            fprintf(out, "%s%s", bound, time);
        if (ops[i].least > 0 && ops[i].least <= seconds)
            fprintf(out, ", at %.0f %% of its roofline", 100 * ops[i].least / seconds);
        fputs(")", out);
    }
    return true;
}

/* Ops can be wrong by as much as the profile's time and the measured one differ, and the load. */
static struct op *ops_of_profile(const struct profile *p, const struct row *row, size_t kind, size_t *n)
{
    enum { ENOUGH = 1000 }; /* turns */
    double covered = row ? row_program(row, kind)->profile.covered : NAN;
    struct range one = {.low = 1, .lost = row ? row_range(row, kind).lost : 0};
    double apart = fmax(fmax(distinct, 1 + fabs(covered - 1)), 1 / range_floor_within(&one)); /* ignore NAN */
    struct profile_group *groups = profile_groups(p, PROFILE_OP, PROFILE_LONGEST, n);
    struct op *ops = allocate(*n + 1, sizeof *ops);
    for (size_t i = 0; i < *n; i++) {
        double seconds = groups[i].seconds, least = isfinite(groups[i].least) ? groups[i].least : 0;
        double lost = seconds - least;
        ops[i] = (struct op){"", {seconds, seconds, least + apart * lost, .turns = ENOUGH}, least};
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
    struct op *ops = ops_of_profile(&p, row, kind, &n);
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

/* "takes 5.28 ± 0.01 ms, at 40 % of its roofline". */
static void say_time(FILE *out, const struct row *row, size_t kind)
{
    struct range r = row_range(row, kind);
    double seconds, percent = row_program(row, kind)->roofline.percent;
    const char *bound = quiet(&r, &seconds);
    char time[UNITS_TEXT];
    units_format_interval(time, r.median, r.low, r.high, "s");
    if (*bound)
        units_format(time, seconds, UNITS_SI, "s");
    fprintf(out, "takes %s%s, at %.0f %% of its roofline%s", bound, time, percent * r.median / seconds,
            *bound ? " or more" : "");
}

static double say_program(FILE *out, const struct rows *rows)
{
    size_t kind;
    char name[AXES_TEXT];
    double work;
    const struct row *row = row_of_most_work(rows, has_share, &kind, &work);
    if (!row)
        return 0;
    const struct row_program *p = row_program(row, kind);
    const char *bound = p->roofline.bound ? p->roofline.bound : "",
               *level = p->roofline.level ? p->roofline.level : "";
    bool memory = strcmp(bound, "memory") == 0;
    describe_row(rows, row, name);
    fprintf(out, "With %s, %s ", name, subject_of(kind));
    say_time(out, row, kind);
    fprintf(out, ", bound by %s%s%s%s", bound, memory ? " (" : "", memory ? level : "", memory ? ")" : "");
    bool named = say_op_of_profile(out, rows, kind, row);
    fputs(".", out);
    return named ? 1e30 + work : work; /* an op to work on before any other */
}

/* Takes a kernel into account: the fastest takes no longer than any. */
static void add_kernel(struct op *op, const struct rows *rows, const struct row *row)
{
    struct range *fastest = &op->time, time = row_range(row, TIMED_KERNEL);
    char name[AXES_TEXT], where[AXES_TEXT];
    if (fastest->turns == 0 || time.median < fastest->median)
        op->least = time.median * row->kernel.roofline.percent / 100;
    if (fastest->turns == 0)
        *fastest = time;
    fastest->median = fmin(fastest->median, time.median);
    fastest->low = fmin(fastest->low, time.low);
    fastest->high = fmin(fastest->high, time.high);
    fastest->lost = fmax(fastest->lost, time.lost);
    fastest->turns = time.turns < fastest->turns ? time.turns : fastest->turns;
    axes_text(row, schema_find("op"), name);
    describe_row(rows, row, where);
    snprintf(op->name, sizeof op->name, "%.100s with %s", name, where);
}

/* The fastest kernel of each op; none if the roofline's share of one is not known. */
static struct op *fastest_kernels(const struct rows *rows, size_t *n, size_t *used)
{
    static const char *const any[] = {"variant", NULL};
    struct slices works = slices_of(rows, NULL, any);
    struct op *ops = allocate(works.count, sizeof *ops);
    size_t timed = 0;
    *n = *used = 0;
    for (const struct slice *s = works.list; s < works.list + works.count; s++) {
        size_t before = *used;
        for (size_t i = 0; i < s->count; i++) {
            const struct row *row = s->rows[i].row;
            timed += row_is_ok(row) && row->kernel.time.median > 0;
            if (!has_share(row, TIMED_KERNEL))
                continue;
            add_kernel(&ops[*n], rows, row);
            ++*used;
        }
        *n += *used > before;
    }
    *n = *used == timed ? *n : 0;
    slices_free(&works);
    return ops;
}

static double say_kernel(FILE *out, const struct rows *rows, struct basis *basis)
{
    char *text;
    size_t n, size;
    struct op *ops = fastest_kernels(rows, &n, &basis->rows);
    FILE *memory = open_text(&text, &size);
    bool named = say_op(memory, ops, n, 0);
    fclose(memory);
    if (named)
        fprintf(out, "Of the fastest kernel of each op, %s loses the most time to its roofline.", text);
    free(text);
    free(ops);
    return named;
}

double sentence_bound(FILE *out, const struct facts *facts, struct basis *basis)
{
    double weight = say_program(out, facts->rows);
    basis->rows = 1;
    return weight > 0 ? weight : say_kernel(out, facts->rows, basis);
}
