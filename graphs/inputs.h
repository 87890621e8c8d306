/*
 * Features and labels that a data set's folder has beside its graphs (graphs/dataset.h), as models take them:
 * node features or attributes, edge features or attributes, node labels of OGB as classes, and graph labels
 * or attributes as targets. Node labels of several columns, those of TUDataset, and labels and targets of
 * which some are missing, as of molecules that were not measured for every task, are not taken.
 */
#ifndef GTMARK_GRAPHS_INPUTS_H
#define GTMARK_GRAPHS_INPUTS_H

#include "graphs/batch.h"

enum { CLASSES_MOST = 65536 };

/*
 * Sets b->inputs of a batch from a folder, which was made with this configuration; of a shape, without
 * values; nothing for other graphs and for padded batches. False with an error, after which the batch is
 * freed, if a table cannot be read, has another number of rows than there are nodes, edges or graphs, if
 * features are missing, if a class is no whole number from 0 to CLASSES_MOST - 1, or without memory.
 */
bool batch_read_inputs(struct batch *b, const struct graph_config *c, char *error, size_t error_size);

#endif
