#include "tests/tapes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/tape/tape_internal.h"

struct tape *tape_new_in_double(void)
{
    struct tape_config config = {
        .backend = &backend_ref, .dtype = F64, .training = true, .threads = 1, .seed = 7};
    return tape_new(&config);
}

void tape_make_ready(struct tape *t, struct mat loss)
{
    tape_keep(t, loss);
    tape_backward(t, loss);
    if (!tape_layout(t)) {
        fprintf(stderr, "no memory for a test tape\n");
        exit(1);
    }
    tape_init(t);
}

struct tape *tape_in_double(recorder record, struct mat *loss)
{
    struct tape *t = tape_new_in_double();
    *loss = record(t);
    tape_make_ready(t, *loss);
    return t;
}

double tape_scalar(const struct tape *t, struct mat m)
{
    m = tape_view(t, m);
    return m.dtype == F64 ? *(double *)m.data : (double)*(float *)m.data;
}

/* After a forward pass with another value of a parameter's entry. */
static double loss_at(struct tape *t, struct mat loss, double *entry, double value)
{
    double before = *entry;
    int all = t->main.count, forward = 0;
    while (forward < all && t->main.entries[forward].phase == PHASE_FORWARD)
        forward++;
    *entry = value;
    t->main.count = forward;
    tape_run(t);
    t->main.count = all;
    *entry = before;
    return tape_scalar(t, loss);
}

double tape_gradient_error(struct tape *t, struct mat loss)
{
    tape_run(t);
    int64_t elements = tape_parameter_elements(t), at = 0;
    double *recorded = malloc((size_t)elements * sizeof *recorded), difference = 0, norm = 0;
    for (int p = 0; p < tape_parameter_count(t); p++) {
        struct mat m = tape_parameter(t, p, NULL), g = tape_gradient(t, m);
        for (int64_t i = 0; i < mat_size(m); i++)
            recorded[at++] = ((double *)g.data)[i];
    }
    at = 0;
    for (int p = 0; p < tape_parameter_count(t); p++) {
        struct mat m = tape_parameter(t, p, NULL);
        for (int64_t i = 0; i < mat_size(m); i++, at++) {
            double *entry = (double *)m.data + i, x = *entry, h = 1e-5;
            double numeric = (loss_at(t, loss, entry, x + h) - loss_at(t, loss, entry, x - h)) / (2 * h);
            difference += (numeric - recorded[at]) * (numeric - recorded[at]);
            norm += numeric * numeric;
        }
    }
    free(recorded);
    return norm > 0 ? sqrt(difference / norm) : INFINITY;
}

double gradient_error(recorder record)
{
    struct mat loss;
    struct tape *t = tape_in_double(record, &loss);
    double error = tape_gradient_error(t, loss);
    tape_free(t);
    return error;
}
