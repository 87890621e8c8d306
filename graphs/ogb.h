/*
 * The raw files of the Open Graph Benchmark (Hu et al. 2020; ogb/io/read_graph_raw.py of snap-stanford/ogb):
 * a batch of graphs whose nodes are numbered from 0 in each.
 *
 *     num-node-list.csv.gz    line g: the number of nodes of graph g
 *     num-edge-list.csv.gz    line g: the number of edges of graph g
 *     edge.csv.gz             a line "i,j": the edge from node i to node j, the edges of graph 0 first
 *
 * Lines without a word are skipped. OGB itself adds the other direction of each edge to some datasets
 * (add_inverse_edge): read these as undirected.
 */
#ifndef GTMARK_GRAPHS_OGB_H
#define GTMARK_GRAPHS_OGB_H

#include "graphs/edge_list.h"

/* Reads the files of a source, as graph_file_read (graphs/graph_file.h). Every graph has a node. */
bool ogb_read(struct edge_list *list, const struct graph_source *s, const char *edges,
              const char *node_counts, const char *edge_counts);

#endif
