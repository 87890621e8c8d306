#include "bench/row/verify.h"

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

void verify(struct checked *v, const struct workload *w, enum program_kind kind, struct recording *r)
{
    if (!w->options->check.wanted)
        return append_program(v->missing, sizeof v->missing, program_name(kind), "switched off (--no-check)");
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
        append_program(v->how, sizeof v->how, program_name(kind),
                       "up to 66 rows of every op's outputs in double");
    } else {
        append_program(v->missing, sizeof v->missing, program_name(kind), "no memory for the check");
    }
    tape_init(r->tape);
}
