/* narrow   y = x, rounded */
#include "kernels/converted.h"
#include "kernels/cpu/cpu.h"

void CPU(narrow)(const void *args)
{
    const struct narrow_args *a = args;
    mat_narrow(a->y, a->x, a->call.threads);
}
