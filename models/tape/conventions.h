/*
 * The FLOPs of a program as other counters count them, which leave things out or count them differently. Each
 * convention is that of one PyTorch program, for a batch of one graph (tests/golden/flop_conventions.py).
 *
 *     full         op_flops: the mathematics' own count
 *     simple       the simple count by hand: as full, but softmax and layer norm 5 an entry, GELU 4, ReLU 1
 *     torch        torch.utils.flop_counter.FlopCounterMode, with scaled_dot_product_attention
 *     fvcore       fvcore.nn.FlopCountAnalysis, with attention as explicit products
 *     deepspeed    DeepSpeed's FlopsProfiler, with attention as explicit products and torch.add for sums
 */
#ifndef GTMARK_MODELS_CONVENTIONS_H
#define GTMARK_MODELS_CONVENTIONS_H

#include "models/tape/tape.h"

enum convention {
    CONVENTION_FULL,
    CONVENTION_SIMPLE,
    CONVENTION_TORCH,
    CONVENTION_FVCORE,
    CONVENTION_DEEPSPEED,
    CONVENTIONS
};

const char *convention_name(enum convention c);

/* What it counts, in a few words. */
const char *convention_doc(enum convention c);

/* The FLOPs of an entry; exact, or -1 beyond 63 bits. */
int64_t convention_flops(enum convention c, const struct entry *e);

/* The sum over the program's entries of this op, or with OPS over all; -1 beyond 63 bits. */
int64_t convention_total(enum convention c, const struct tape *t, enum op op);

/* Why the conventions differ for an op; null if its count is only missing from torch, fvcore and deepspeed.
 */
const char *convention_reason(enum op op);

#endif
