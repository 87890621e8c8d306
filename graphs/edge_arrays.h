/*
 * Edges in arrays of NumPy, as edge_index of PyTorch Geometric (2 x E, or E x 2: nodes from, nodes to) in a
 * .npy file, or in a .npz archive: edge_index, or a sparse matrix of scipy.sparse.save_npz (csr, csc, coo),
 * whose entry (i, j) is the edge from i to j.
 *
 * Numbers of nodes begin with 0. There are as many nodes as the matrix has rows or num_nodes says, otherwise
 * one more than the largest number. Values are ignored, a stored 0 is an edge.
 */
#ifndef GTMARK_GRAPHS_EDGE_ARRAYS_H
#define GTMARK_GRAPHS_EDGE_ARRAYS_H

#include "graphs/edge_list.h"

/* Reads the file, as graph_file_read (graphs/graph_file.h). */
bool edge_arrays_read(struct edge_list *list, const struct graph_source *s);

#endif
