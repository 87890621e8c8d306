#include "analysis/tables/spare.h"

#include <stdbool.h>
#include <string.h>

/* In the order in which they give way; P is any program. */
static const char *const spare[] = {"graph.padding_waste",
                                    "kernel.cold.median",
                                    "kernel.bound.ratio",
                                    "encoding.residual",
                                    "P.intensity",
                                    "P.bytes",
                                    "P.memory.planned",
                                    "P.gflops",
                                    "P.roofline.percent",
                                    "ranks.imbalance",
                                    "step.communication.exposed",
                                    "step.communication.predicted_run",
                                    "step.communication.predicted",
                                    "step.communication.time",
                                    "P.throughput",
                                    "encoding.peak",
                                    "encoding.break_even_step",
                                    "P.flops",
                                    "forward",
                                    "encoding.method",
                                    "kernel.rate"};

/* Whether a name with or without P is that of a column. */
static bool is_name_of(const char *name, const char *column)
{
    const char *rest = strchr(column, '.');
    return strncmp(name, "P.", 2) == 0 ? rest && strcmp(rest, name + 1) == 0 : strcmp(name, column) == 0;
}

size_t spare_columns(const char *const *columns, size_t count, size_t *spares)
{
    size_t n = 0;
    for (size_t s = 0; s < sizeof spare / sizeof *spare; s++)
        for (size_t i = 0; i < count; i++)
            if (is_name_of(spare[s], columns[i]))
                spares[n++] = i;
    return n;
}
