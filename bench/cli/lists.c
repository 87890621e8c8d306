#include "bench/cli/lists.h"

#include <stdio.h>

#include "graphs/family.h"
#include "models/layers/model.h"

void list_models(void)
{
    for (const struct model *m = models; m->name; m++)
        printf("%-20s %s\n", m->name, m->doc);
}

void list_graphs(void)
{
    for (const struct graph_family *f = graph_families; f->name; f++)
        printf("%-20s %s\n", f->name, f->doc);
    printf("%-20s the largest component of one of these\n", "NAME:giant");
    printf("%-20s read from a file of directed edges, one per line\n", "file:PATH");
    printf("%-20s the same, each edge in both directions\n", "undirected:PATH");
}

void list_ops(const struct backend *b)
{
    for (enum op op = 0; op < OPS; op++) {
        const struct op_info *info = op_info(op);
        printf("%s: %s\n    FLOPs: %s\n    variants:", info->name, info->doc, info->flops_formula);
        for (const struct backend *from = b; from; from = from->base)
            for (int i = 0; i < from->count; i++)
                if (from->kernels[i].op == op && from->kernels[i].dtype == MODEL_DTYPE)
                    printf(" %s", from->kernels[i].variant);
        putchar('\n');
    }
}
