#include "bench/row/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/machine/machine.h"

/* Approximate speed of the oracle on one core: BLAS in double; exp and erf from libm. */
static const double oracle_flops_per_second = 15e9;

static void append_program(char *text, size_t size, const char *program, const char *what)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s: %s", used ? "; " : "", program, what);
}

/* The program recorded in double and laid out; its tape is null where it would take too long or too much
 * memory. */
static struct recording affordable_oracle(const struct workload *w, enum program_kind kind)
{
    struct recording oracle = workload_record_oracle(w, kind);
    double flops = (double)tape_total(oracle.tape).flops;
    double most = w->options->check.budget * oracle_flops_per_second * w->config.threads;
    bool fits = tape_plan(oracle.tape)->arena <= machine_memory_free();
    if (fits && flops <= most && tape_layout(oracle.tape))
        return oracle;
    tape_free(oracle.tape);
    return (struct recording){0};
}

/* Whether some products are computed in TF32. */
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
    return !mat_present(r->loss) || is_finite(r->tape, r->loss) || complain(error, "loss is not finite");
}

void verify(struct checked *v, const struct workload *w, enum program_kind kind, struct recording *r)
{
    if (!w->options->check.wanted) {
        snprintf(v->missing, sizeof v->missing, "--no-check");
        return;
    }
    /*
     * Batch norm with the batch's own statistics: the gradient of anything it subtracts is exactly zero, and
     * with one graph even the pooled output does not depend on the input, so only rounding errors could be
     * compared. The same holds for small differences of values rounded to TF32.
     */
    bool whole = kind == PROGRAM_FORWARD || (kind == PROGRAM_STEP && w->config.parts.norm != NORM_BATCH);
    whole = whole && !in_tf32(r->tape);
    tape_init(r->tape);
    struct recording oracle = whole ? affordable_oracle(w, kind) : (struct recording){0};
    if (oracle.tape) {
        tape_init(oracle.tape);
        check_whole(&v->check, r, &oracle);
        append_program(v->how, sizeof v->how, program_name(kind),
                       kind == PROGRAM_STEP ? "output, loss and all gradients in double"
                                            : "output in double");
        tape_free(oracle.tape);
    } else if (check_rows(&v->check, r->tape, w->options->seed)) {
        v->by_rows = true;
        append_program(v->how, sizeof v->how, program_name(kind),
                       "up to 66 rows of every op's outputs in double");
    } else {
        append_program(v->missing, sizeof v->missing, program_name(kind), "no memory for the check");
    }
    tape_init(r->tape);
}
