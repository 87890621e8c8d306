/* Two linear layers with an activation in between, on CBLAS: the steps that kernels/mlp_steps.h lists. */
#if HAVE_CBLAS
#include "kernels/mlp_steps.h"
#include "kernels/oracle/oracle.h"

static const struct mlp_steps steps = {ORACLE(linear), ORACLE(linear_backward), NULL,
                                       ORACLE(linear_backward_scratch)};

void ORACLE(mlp)(const void *args)
{
    mlp_in_steps(args, &steps);
}

int64_t ORACLE(mlp_scratch)(const void *args)
{
    return mlp_in_steps_scratch(args, &steps);
}

void ORACLE(mlp_backward)(const void *args)
{
    mlp_backward_in_steps(args, &steps);
}

int64_t ORACLE(mlp_backward_scratch)(const void *args)
{
    return mlp_backward_in_steps_scratch(args, &steps);
}
#endif
