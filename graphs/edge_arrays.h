/*
 * Edges in arrays of NumPy: edge_index of PyTorch Geometric, 2 x E, nodes from and nodes to, as a .npy file
 * or in a .npz archive; or an archive of scipy.sparse.save_npz, a csr matrix whose entry (i, j) is the edge
 * from i to j.
 *
 * Numbers of nodes begin with 0. There are as many nodes as the matrix has rows, otherwise one more than the
 * largest number. Values are ignored, a stored 0 is an edge.
 */
#ifndef GTMARK_GRAPHS_EDGE_ARRAYS_H
#define GTMARK_GRAPHS_EDGE_ARRAYS_H

#include "graphs/edge_list.h"

/* Reads the file, as graph_file_read (graphs/graph_file.h). */
bool edge_arrays_read(struct edge_list *list, const struct graph_source *s);

#endif
