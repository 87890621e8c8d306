/*
 * The text files of TUDataset (Morris et al., "TUDataset: a collection of benchmark datasets for learning
 * with graphs", 2020, https://chrsmrrs.github.io/datasets/docs/format): a batch of graphs whose nodes are
 * numbered from 1 through the whole dataset.
 *
 *     NAME_graph_indicator.txt    line i: the graph of node i; graphs are numbered from 1, and ascend
 *     NAME_A.txt                  a line "i, j": the edge from node i to node j
 *
 * Lines without a word are skipped.
 */
#ifndef GTMARK_GRAPHS_TU_H
#define GTMARK_GRAPHS_TU_H

#include "graphs/edge_list.h"

/* Reads the two files of a source, as graph_file_read (graphs/graph_file.h). Every graph has a node. */
bool tu_read(struct edge_list *list, const struct graph_source *s, const char *edges, const char *indicator);

#endif
