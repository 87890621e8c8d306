/*
 * Which rank has which nodes of a batch that ranks divide, where these are not consecutive: METIS (Karypis
 * and Kumar, "A fast and high quality multilevel scheme for partitioning irregular graphs", SIAM J. Sci.
 * Comput. 20, 1998) divides the nodes evenly, up to 3 %, with few edges between parts.
 *
 * Nodes get new numbers, those of a part consecutive ones, in their old order.
 */
#ifndef GTMARK_GRAPHS_PARTITION_H
#define GTMARK_GRAPHS_PARTITION_H

#include <stddef.h>

#include "graphs/batch.h"

struct partition {
    int parts;
    int64_t nodes;
    int64_t *first;  /* parts + 1: part p has the new numbers first[p] .. first[p + 1] - 1 */
    int32_t *number; /* nodes: their new numbers */
};

/* Whether this build has METIS. */
bool partition_possible(void);

/*
 * By METIS, with c->seed: the same for the same library. b is symmetric, with arrays. Errors as of
 * batch_generate; beyond the limit b->peak is what it needs.
 */
bool partition_make(struct partition *p, struct batch *b, const struct graph_config *c, int parts,
                    char *error, size_t error_size);

/* From the part of each node. False without memory. */
bool partition_number(struct partition *p, const int32_t *part, int64_t nodes, int parts);

/* Arrays to be filled. False without memory. */
bool partition_allocate(struct partition *p, int64_t nodes, int parts);

/* The nodes by their new numbers, for batch_relabel; null without memory. The caller frees it. */
int32_t *partition_list(const struct partition *p);

void partition_free(struct partition *p);

#endif
