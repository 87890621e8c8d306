#include "bench/row/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/clock.h"
#include "bench/machine/machine.h"

/* Approximate speed of the FP64 reference on one core (BLAS in double; exp and erf from libm). */
static const double reference_flops_per_second = 15e9;

static void append_program(char *text, size_t size, const char *program, const char *what)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s: %s", used ? "; " : "", program, what);
}

/* Lays out a recorded program; frees it, and returns none, without the memory or the BLAS for it. */
static struct recording laid_out(const struct workload *w, struct recording r)
{
    struct outcome ignored;
    if (tape_plan(r.tape)->arena <= machine_memory_free() && workload_open_blas(w, r.tape, &ignored) &&
        tape_layout(r.tape))
        return r;
    tape_free(r.tape);
    return (struct recording){0};
}

static double reference_seconds(double flops, int threads)
{
    return flops / reference_flops_per_second / threads;
}

double verify_seconds(const struct check_options *o, const struct config *c, double flops)
{
    return !o->wanted                            ? 0
           : c->parts.precision != PRECISION_F32 ? o->budget
                                                 : fmin(o->budget, reference_seconds(flops, c->threads));
}

/* The FP64 reference; none if it would take too long, or without memory. */
static struct recording affordable_reference(const struct workload *w, enum program_kind kind)
{
    struct recording r = workload_record_reference(w, kind, F64);
    double seconds = reference_seconds((double)tape_total(r.tape).flops, w->config.threads);
    if (seconds <= w->options->check.budget)
        return laid_out(w, r);
    tape_free(r.tape);
    return (struct recording){0};
}

/* Whether a library rounds the factors of some products, to TF32, in its own way. */
static bool in_tf32(const struct tape *t)
{
    int e = 0;
    while (e < tape_entry_count(t) && kernel_allowance(tape_entry(t, e)->kernel) == 1)
        e++;
    return e < tape_entry_count(t);
}

static bool is_finite(const struct tape *t, struct mat m)
{
    void *copy;
    bool finite = true;
    m = tape_read(t, m, &copy);
    for (int64_t i = 0; i < m.rows && finite; i++)
        for (int64_t k = 0; k < m.cols && finite; k++)
            finite = isfinite(mat_get(m, i, k));
    free(copy);
    return finite;
}

/* The same of what the last entry writes. */
static bool results_are_finite(const struct tape *t, struct message *error)
{
    const struct entry *e = tape_entry(t, tape_entry_count(t) - 1);
    const struct op_info *info = op_info(e->op);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        const struct mat *m = operand_is_mat(o) && operand_writes(o) ? operand_mat(o, e->args) : NULL;
        if (m && mat_present(*m) && dtype_is_real(m->dtype) && !is_finite(t, *m))
            return complain(error, "%s %s is not finite", info->name, o->name);
    }
    return true;
}

bool still_finite(const struct recording *r, bool whole, struct message *error)
{
    const char *name;
    for (int p = 0; p < tape_parameter_count(r->tape); p++)
        if (!is_finite(r->tape, tape_parameter(r->tape, p, &name)))
            return complain(error, "%s is not finite", name);
    if (!whole)
        return true;
    if (!mat_present(r->output))
        return results_are_finite(r->tape, error);
    if (!is_finite(r->tape, r->output))
        return complain(error, "output is not finite");
    if (mat_present(r->loss) && !is_finite(r->tape, r->loss))
        return complain(error, "loss is not finite");
    return !tape_config(r->tape)->part.ranks || tape_replicas_agree(r->tape) ||
           complain(error, "the ranks have different parameters");
}

/*
 * Batch norm with the batch's own statistics: the gradient of anything it subtracts is exactly zero, and with
 * one graph even the pooled output does not depend on the input, so only rounding errors could be compared.
 * The same holds for small differences of values that a library rounded to TF32. Of several ranks nothing
 * else can be compared; of two nodes, which become 1 and -1, there is no gradient at all.
 */
static bool is_comparable(const struct workload *w, enum program_kind kind, const struct recording *r)
{
    bool ranks = tape_config(r->tape)->part.ranks;
    bool conditioned = w->config.parts.norm != NORM_BATCH || (ranks && w->batch.adj.nodes >= 4);
    bool whole = kind == PROGRAM_FORWARD || (kind == PROGRAM_STEP && conditioned);
    return whole && !in_tf32(r->tape);
}

/* In what is left of the time since a point of the clock. */
static bool compare_rows(struct checked *v, const struct workload *w, struct recording *r,
                         struct rows_limit *limit, double since)
{
    double seconds = w->options->check.budget;
    *limit = (struct rows_limit){.seconds = seconds > 0 ? since + seconds - clock_now() : INFINITY};
    return check_rows(&v->check, r->tape, w->options->seed, limit);
}

/* "up to 66 rows of every op's outputs", or how far the time went; empty if there were none. */
static void rows_text(const struct rows_limit *limit, double budget, char *text, size_t size)
{
    enum { ALL = 66 };
    *text = '\0';
    if (limit->entries == 0)
        return;
    if (limit->left_out == 0 && limit->fewest >= ALL)
        snprintf(text, size, "up to %d rows of every op's outputs", ALL);
    else
        snprintf(text, size, "at least %d rows of the outputs of %d of %d entries within --check-budget %g",
                 limit->fewest, limit->entries - limit->left_out, limit->entries, budget);
}

/*
 * Compares a whole program; if it is beyond its limits, once more with how far its results move, if there is
 * memory. What passes then, or is wrong, is compared by rows too, and so is what passes in a lower precision:
 * limits of results that move much would hide a fault of an op, and those of its own results do not; and of
 * what is wrong they say where. False without memory for that.
 */
static bool compare_whole(struct checked *v, const struct workload *w, enum program_kind kind,
                          struct recording *r, struct recording *reference, struct rows_limit *limit)
{
    double since = clock_now();
    struct check once = {.tell = v->check.tell, .told = v->check.told}, again = once;
    check_whole(&once, r, reference);
    bool beyond = once.excess > 1, done = true;
    struct recording moved = {0};
    if (beyond)
        moved = laid_out(w, workload_record_reference(w, kind, tape_config(r->tape)->dtype));
    bool measured = moved.tape && check_whole_again(&again, r, reference, &moved);
    tape_free(moved.tape);
    if (!tape_config(r->tape)->part.ranks && (beyond || w->config.parts.precision != PRECISION_F32)) {
        tape_init(r->tape);
        done = compare_rows(v, w, r, limit, since);
    }
    check_add(&v->check, measured ? &again : &once);
    return done;
}

/* Compares the results with double precision, of several ranks with one's. False without the memory. */
static bool compare(struct checked *v, const struct workload *w, enum program_kind kind, struct recording *r)
{
    const char *name = program_name(kind);
    bool trains = kind == PROGRAM_STEP;
    struct recording reference = {0};
    if (is_comparable(w, kind, r))
        reference = affordable_reference(w, kind);
    struct rows_limit limit = {0};
    char how[128], all[256];
    bool whole = reference.tape;
    if (!whole && tape_config(r->tape)->part.ranks) /* whose parts cannot be compared one by one */
        return false;
    if (whole)
        tape_init(reference.tape);
    bool done =
        whole ? compare_whole(v, w, kind, r, &reference, &limit) : compare_rows(v, w, r, &limit, clock_now());
    tape_free(reference.tape);
    if (!done)
        return false;
    v->by_rows |= !whole;
    rows_text(&limit, w->options->check.budget, how, sizeof how);
    snprintf(all, sizeof all, "%s%s%s%s in double",
             !whole   ? ""
             : trains ? "output, loss, all gradients"
                      : "output",
             whole && *how ? ", " : "", how, trains ? " and all of AdamW" : "");
    append_program(v->how, sizeof v->how, name, all);
    return true;
}

/* Several ranks are compared with one, which has the whole batch. */
static bool compare_alone(struct checked *v, const struct workload *w, enum program_kind kind,
                          struct recording *r)
{
    struct workload alone;
    if (!w->group.ranks)
        return compare(v, w, kind, r);
    bool done = workload_alone(&alone, w);
    done = done && compare(v, &alone, kind, r);
    workload_close(&alone);
    return done;
}

void verify(struct checked *v, const struct workload *w, enum program_kind kind, struct recording *r)
{
    if (!w->options->check.wanted) {
        snprintf(v->unchecked, sizeof v->unchecked, "--no-check");
        return;
    }
    if (kind == PROGRAM_KERNEL && w->config.timed.form.op == OP_function) {
        snprintf(v->unchecked, sizeof v->unchecked, "a function of others has no reference");
        return;
    }
    tape_init(r->tape);
    if (kind != PROGRAM_KERNEL)
        check_initial(&v->check, r->tape);
    if (!compare_alone(v, w, kind, r) || !check_adamw(&v->check, r->tape))
        append_program(v->unchecked, sizeof v->unchecked, program_name(kind),
                       w->group.ranks
                           ? "no memory or time for one rank alone, or batch norm of less than 4 nodes"
                           : "no memory for the check");
    tape_init(r->tape);
}

void verify_write(struct row *row, const struct checked *v, const struct encoded *encoded)
{
    char exceptions[CHECK_EXCEPTIONS_TEXT], how[768];
    bool unencoded = encoded && encoded->is_checked && !*encoded->checked.text;
    const char *unchecked = *v->unchecked || !unencoded ? v->unchecked : encoded->check.unchecked;
    row->checked = row_keep(row, *unchecked || v->check.tensors == 0 ? "none"
                                 : v->by_rows                        ? "rows"
                                                                     : "whole");
    if (*unchecked)
        row_explain(row, "checked", unchecked);
    if (v->check.tensors == 0)
        return;
    snprintf(how, sizeof how, "%s%s%s", v->how, *v->unchecked ? "; " : "", v->unchecked);
    check_exceptions(&v->check, exceptions);
    row_put_real(row, &row->error.norm, v->check.norm);
    row_put_real(row, &row->error.worst_row, v->check.worst_row);
    row->error.checked = row_keep(row, how);
    row->error.tensor = row_keep(row, v->check.tensor);
    row->error.exceptions = row_keep(row, exceptions);
}
