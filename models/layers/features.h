/*
 * Raw features of nodes or edges as inputs, and the layers that embed them (struct feature_config).
 *
 *     numbers    Linear(k, D); normalised: l2_norm(ReLU(BatchNorm(D)(x W'))) of k columns x
 *     types      sum over T tables of the row of each table that the type of its kind names
 *
 * Both are those of the graph's files; otherwise numbers are uniform on [-1, 1), and types on the rows of
 * their table.
 */
#ifndef GTMARK_MODELS_FEATURES_H
#define GTMARK_MODELS_FEATURES_H

#include "models/layers/layers.h"

/*
 * Declares the raw features of `rows` nodes or edges as an input with this name: numbers, or types as indices
 * of the rows of all tables, stacked (I64). `standard`: columns of numbers if c has none. Those of `table`,
 * if it is given and its columns are those of c, otherwise at random.
 */
struct mat raw_features(struct tape *t, const char *name, const struct feature_config *c,
                        struct row_range rows, int64_t standard, const struct batch_table *table);

/* The types that raw_features declares, on the host: rows of all tables, stacked. Null of a shape. */
const int64_t *host_types(struct tape *t, const char *name, const struct feature_config *c,
                          struct row_range rows, const struct batch_table *table);

/* For each node the sum of the rows of its in- and its out-degree, below `degrees`, of two tables: N x width.
 */
struct mat degree_rows(struct tape *t, const char *name, const struct batch *b, int degrees, int64_t width);

/*
 * Gives the model the inputs of the batch, where it has none of its own: the columns of its features of nodes
 * and edges; for node labels as classes or graph targets, the outputs.
 */
void model_take_inputs(struct model_config *c, const struct batch_inputs *in);

/* Whether such features of nodes, the features of edges, labels or targets of such a model, are those of the
 * batch. */
bool takes_table(const struct feature_config *c, const struct batch_table *table);
bool takes_edge_table(const struct model_config *c, const struct batch_inputs *in);
bool takes_labels(const struct model_config *c, const struct batch_inputs *in);
bool takes_targets(const struct model_config *c, const struct batch_inputs *in);

/* Embeds raw features in y, whose rows they have, in a span `name`. */
void embed_to(struct tape *t, const char *name, struct mat y, struct mat raw, const struct feature_config *c);

/* Declares the parameters of embed_to for no rows to embed. */
void embed_unused(struct tape *t, const char *name, const struct feature_config *c, int64_t width,
                  int64_t standard);

#endif
