/*
 * Sparse matrices in Matrix Market's format (Boisvert, Pozo, Remington, "The Matrix Market exchange formats:
 * initial design", NISTIR 5935, 1996), as adjacency matrices.
 *
 * The entry in row i and column j is the edge from node i - 1 to node j - 1; of a symmetric, skew-symmetric
 * or hermitian matrix, of which files have the lower triangle, also the one back. Values are checked to be
 * numbers, and ignored: an entry of 0 is an edge, too. Nodes may be without edges.
 */
#ifndef GTMARK_GRAPHS_MATRIX_MARKET_H
#define GTMARK_GRAPHS_MATRIX_MARKET_H

#include "graphs/edge_list.h"

/* The first word of such a file; also read are one %, blanks after it, and any case. */
#define MATRIX_MARKET_BANNER "%%MatrixMarket"

/* Skips the first word, if it is next. */
bool matrix_market_begins(struct words *w);

/*
 * Reads the file, as graph_file_read (graphs/graph_file.h). The matrix must be square and not dense
 * ("array"); entries above the diagonal of a symmetric matrix are refused, as are more or fewer entries than
 * the file announces.
 */
bool matrix_market_read(struct edge_list *list, const struct graph_source *s);

#endif
