/*
 * Features and labels that a data set's folder has beside its graphs (graphs/dataset.h), as models take them:
 * node features or attributes, edge features or attributes, node labels of OGB as classes, and graph labels
 * or attributes as targets. Labels of nodes or edges of TUDataset are their types, counted from the smallest,
 * unless they have attributes. Labels of several columns, types that are not whole numbers or more than
 * CLASSES_MOST, and labels and targets of which some are missing, as of molecules that were not measured for
 * every task, are not taken.
 *
 * Tables that are given by name (struct graph_tables), for a file or a folder, come in place of the folder's,
 * which are not read; the name "none" gives none.
 * Labels that have a row for each node are classes, otherwise one for each graph, targets.
 */
#ifndef GTMARK_GRAPHS_INPUTS_H
#define GTMARK_GRAPHS_INPUTS_H

#include <string.h>

#include "graphs/batch.h"
#include "graphs/dataset.h"

enum { CLASSES_MOST = 65536 };

/* Files of features and labels beside the graph of a file; null: those of its folder. */
struct graph_tables {
    const char *features, *edge_features, *labels;
};

static inline bool graph_table_none(const char *path)
{
    return path && strcmp(path, "none") == 0;
}

/* What is given for this table of a folder; null: nothing. */
const char *graph_table_given(const struct graph_tables *given, const struct dataset *d,
                              const struct dataset_table *t);

/*
 * Sets b->inputs of a batch from a file or folder, which was made with this configuration; of a shape,
 * without values; nothing for other graphs. Padded batches have no features of edges and no classes, and
 * zeros in the rows that are no node's. False with an error, after which the batch is freed, if a table
 * cannot be read, has another number of rows than there are nodes, edges or graphs, if features are missing,
 * if a class is no whole number from 0 to CLASSES_MOST - 1, or without memory; of given labels also if any
 * are missing or classes have several columns.
 */
bool batch_read_inputs(struct batch *b, const struct graph_config *c, const struct graph_tables *given,
                       char *error, size_t error_size);

#endif
