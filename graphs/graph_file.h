/*
 * Graphs from files and folders in several formats, plain or compressed with gzip. What is read is found by
 * the file's first word, by its name, or by the files of a folder.
 */
#ifndef GTMARK_GRAPHS_GRAPH_FILE_H
#define GTMARK_GRAPHS_GRAPH_FILE_H

#include <limits.h>

#include "graphs/dataset.h"
#include "graphs/edge_list.h"

enum graph_format {
    GRAPH_EDGE_LIST,     /* graphs/edge_lines.h: any other file */
    GRAPH_MATRIX_MARKET, /* graphs/matrix_market.h: begins with its banner, or is named *.mtx */
    GRAPH_METIS,         /* graphs/metis.h: named *.graph or *.metis */
    GRAPH_ARRAYS,        /* graphs/edge_arrays.h: begins as a .npy file or a .npz archive */
    GRAPH_TU,            /* graphs/tu.h: a folder with its files */
    GRAPH_OGB            /* graphs/ogb.h: likewise */
};

/* "Matrix Market". */
const char *graph_format_name(enum graph_format f);

/* Which of the first three formats a file with this name has, whether .gz follows or not. */
enum graph_format graph_format_named(const char *path);

/* Which format a file or folder has. False with an error if a folder has none of them. */
bool graph_format_find(const char *path, enum graph_format *f, char *error, size_t error_size);

/*
 * Reads a file or folder; `undirected` adds to each edge that is no loop the one back, unless the format
 * itself has both. Repeated edges stay. False, a line in error that begins with
 * the path of a file and, if one line is wrong, its number, and nothing to free if a file cannot be read or
 * has no graph, is not as its format demands, or has more than CSR_MAX_EDGES or CSR_MAX_NODES; also if
 * reading is cancelled, or would take more than the limit with the rows of its nodes: then list->peak is what
 * it needs, above the limit.
 */
bool graph_file_read(struct edge_list *list, const struct graph_source *s);

/*
 * Says why a table has more rows than an edge list has nodes: ": node 3 has no edge; ..."; nothing if the
 * source is none, has graph lines, or such a node is not among as many.
 */
void graph_file_say_gap(const struct graph_source *s, int64_t rows, char *text, size_t size);

/*
 * The files whose bytes determine the graphs and their features and labels: one, or some of the folder.
 * Returns how many; 0 if there are none.
 */
enum { GRAPH_PARTS = DATASET_PARTS + DATASET_TABLES };
int graph_file_parts(const char *path, char part[GRAPH_PARTS][PATH_MAX]);

#endif
