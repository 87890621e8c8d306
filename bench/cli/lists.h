/* Output of --list models, --list presets, --list graphs and --list ops. */
#ifndef GTMARK_BENCH_LISTS_H
#define GTMARK_BENCH_LISTS_H

#include "kernels/backend.h"

struct model;

/* `others`: those of a plug-in. */
void list_models(const struct model *others);
void list_presets(void);
void list_graphs(void);

/* Ops with their mathematics, FLOPs and the variants on the backend. */
void list_ops(const struct backend *b);

#endif
