/*
 * The ranks that follow rank 0: each makes its own part of the batch, records and lays out the same programs,
 * and follows rank 0's tapes (models/tape/follow.c).
 */
#ifndef GTMARK_BENCH_GROUP_H
#define GTMARK_BENCH_GROUP_H

#include "bench/row/orders.h"

/* On all ranks, with the same options, before anything else: forms the groups of the sweep. */
void group_form(const struct options *o);

/* On the other ranks: until rank 0 says that it is the end. */
void group_serve(const struct options *o);

#endif
