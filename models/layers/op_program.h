/*
 * A program of one op: what a kernel is timed by. All other readings of a tape (plan, costs, listing, check,
 * count) are those of any program.
 */
#ifndef GTMARK_MODELS_OP_PROGRAM_H
#define GTMARK_MODELS_OP_PROGRAM_H

#include "models/layers/model.h"

/* Why no program can be made of the op alone, in one line; null: it can. */
const char *op_program_refuses(enum op op);

/*
 * Records the op as a training step would meet it: every operand is there, what a backward pass needs is
 * saved, nothing is added to. Sizes are those of the batch and the configuration: N nodes, E edges, B graphs,
 * P pairs, D = hidden, H = heads; M = ffn of a linear layer, CLASSES of a cross-entropy, else hidden; adamw
 * has the model's parameters in one row.
 *
 * Inputs are uniform on [-1, 1). What a backward op reads of its forward op's results is computed by that op
 * when the tape is initialised. The batch must live until then.
 */
struct recording op_program_record(enum op op, const struct model_config *c, const struct batch *batch,
                                   struct tape_config tape);

#endif
