/* What a family of graphs is asked to draw: one graph. */
#ifndef GTMARK_GRAPHS_SPEC_H
#define GTMARK_GRAPHS_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/cancel.h"

enum { GRAPH_PARAMETERS = 3 }; /* that a family has at most */

struct graph_spec {
    int64_t first, nodes;           /* nodes first .. first + nodes - 1; nodes is 1 to 2^31 - 1 */
    double degree;                  /* requested mean degree, at least 0 */
    double value[GRAPH_PARAMETERS]; /* of the family's parameters, in the order of its row */
    uint64_t key;                   /* of the random streams */
    int64_t begin, end; /* of its undirected edges, in an order of its own, draw only begin .. end - 1, if the
                           family is `ranged`; end 0: all */
    struct cancel cancel;
};

#endif
