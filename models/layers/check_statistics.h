/*
 * Inference with batch norm. The running statistics begin as 0 and 1, with which nothing is normed: features
 * grow from layer to layer, and the scores of attention with them, until the last bit of a float decides
 * which key counts. So a program is compared with those that one step of training would leave.
 */
#ifndef GTMARK_MODELS_CHECK_STATISTICS_H
#define GTMARK_MODELS_CHECK_STATISTICS_H

#include "models/tape/tape.h"

/* Gathers what the entry after this one reads; called with the oracle's tape after each entry. */
void gather_for_next(const struct tape *t, int entry);

/* Gives the program the statistics of the oracle, which has the same norms. */
void hand_back_statistics(const struct tape *oracle, const struct tape *program);

#endif
