/* Output of --list models, --list presets, --list graphs and --list ops. */
#ifndef GTMARK_BENCH_LISTS_H
#define GTMARK_BENCH_LISTS_H

#include <stdio.h>

#include "kernels/backend.h"

struct model;

/* `others`: those of a plug-in. */
void list_models(FILE *out, const struct model *others);
void list_presets(FILE *out);
void list_graphs(FILE *out);

/* Ops with their mathematics, FLOPs and the variants on the backend. */
void list_ops(FILE *to, const struct backend *b);

#endif
