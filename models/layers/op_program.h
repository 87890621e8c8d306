/*
 * A program of a single op, for timing kernels. Plan, costs, listing, check and count work as for any
 * program.
 */
#ifndef GTMARK_MODELS_OP_PROGRAM_H
#define GTMARK_MODELS_OP_PROGRAM_H

#include "models/layers/model.h"

/* Why no program of this op alone can be made, in one line; null if it can. */
const char *op_program_refuses(enum op op);

/* Whether the op needs the numbers of the edges (batch_number_edges). */
bool op_program_numbers_edges(struct form form);

/*
 * Records the op as a training step runs it, with these options: every other operand is given, values needed
 * by the backward pass are saved, nothing is accumulated. Sizes are those of the batch and the configuration:
 * N nodes, E edges, B graphs, P pairs, D = hidden, H = heads; M = ffn for a linear layer, CLASSES for a
 * cross-entropy, otherwise hidden; linear attention has D = 64 H and M = 266, and features of the softmax;
 * adamw has the model's parameters in one row.
 *
 * Inputs are uniform on [-1, 1). Results of a forward op that its backward op reads are computed by the
 * forward op in tape_init. The batch must live until then.
 */
struct recording op_program_record(struct form form, const struct model_config *c, const struct batch *batch,
                                   struct tape_config tape);

#endif
