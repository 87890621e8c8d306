/* A program with libgtmark: a linear layer of known numbers, and what it gives. */
#include <stdio.h>

#include "models/layers/layers.h"

int main(void)
{
    float ones[] = {1, 1, 1, 1}, halves[] = {0.5, 0.5, 0.5, 0.5}, three = 3;
    struct tape_config config = {.backend = backend_cpu(), .dtype = F32, .threads = 1};
    struct tape *t = tape_new(&config);
    struct mat y = linear(t, "layer", input_reals(t, "x", 1, 4, ones), 1, ACT_NONE);
    tape_keep(t, y);
    tape_plan(t);
    if (!tape_layout(t))
        return 1;
    tape_init(t);
    tape_write(t, tape_parameter(t, 0, NULL), (struct mat){halves, 1, 4, 4, .dtype = F32});
    tape_write(t, tape_parameter(t, 1, NULL), (struct mat){&three, 1, 1, 1, .dtype = F32});
    tape_run(t);
    printf("%g\n", mat_get(tape_view(t, y), 0, 0));
    tape_free(t);
    return 0;
}
