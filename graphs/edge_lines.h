/*
 * Edge lists, as SNAP has them (Leskovec, Krevl, https://snap.stanford.edu/data).
 *
 * A line has two node ids separated by blanks, tabs or a comma, and optionally a weight and a time (as in
 * KONECT: Kunegis, "KONECT - The Koblenz Network Collection", 2013), or attributes in braces, which are
 * ignored. Ids are any whole numbers below 2^64; the nodes are numbered from 0 in ascending order of their
 * ids. Nodes with names, any words, are numbered in the order of their appearance. Empty lines, and what
 * follows # or %, are comments; a first line of words, before any id, is skipped with a note.
 *
 * A file may contain a batch: a line "graph N" begins a graph of N nodes, and the edges that follow use its
 * node numbers 0 to N - 1. Nodes and whole graphs may be without edges.
 */
#ifndef GTMARK_GRAPHS_EDGE_LINES_H
#define GTMARK_GRAPHS_EDGE_LINES_H

#include "graphs/edge_list.h"

/*
 * Reads the file, in which a line "a b" is the edge from a to b; repeated lines are repeated edges. As
 * graph_file_read (graphs/graph_file.h); an edge before the first graph line is an error, too.
 */
bool edge_lines_read(struct edge_list *list, const struct graph_source *s);

#endif
