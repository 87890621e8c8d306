#include "graphs/inputs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphs/graph.h"
#include "graphs/graph_file.h"
#include "graphs/table.h"

static bool is_label(const struct dataset_table *t)
{
    return t->of == TABLE_OF_GRAPHS || strstr(t->name, "labels");
}

/* Where the values of a table go; null if it is not taken. */
static struct batch_table *place_of(struct batch_inputs *in, const struct dataset_table *t)
{
    if (t->of == TABLE_OF_GRAPHS)
        return &in->targets;
    if (is_label(t))
        return NULL;
    return t->of == TABLE_OF_NODES ? &in->features : &in->edge_features;
}

static bool takes_classes(const struct dataset *d, const struct dataset_table *t)
{
    return d->kind == DATASET_OGB && t->of == TABLE_OF_NODES && strstr(t->name, "labels");
}

static bool refuse(const struct graph_source *s, const char *path, const char *what)
{
    snprintf(s->error, s->error_size, "%.200s: %s", path, what);
    return false;
}

/* Reads all values; none of labels of which some are missing. */
static bool take_values(struct batch_table *to, const struct dataset_table *t, int64_t rows,
                        const struct graph_source *s)
{
    static const char *const whose[] = {"nodes", "edges", "graphs"};
    struct number_table seen;
    char text[120];
    if (!table_read(&seen, t->path, s->limits.cancel, s->error, s->error_size))
        return false;
    if (seen.rows != rows) {
        snprintf(text, sizeof text, "has %" PRId64 " rows, for %" PRId64 " %s", seen.rows, rows,
                 whose[t->of]);
        return refuse(s, t->path, text);
    }
    if (seen.missing > 0 && is_label(t))
        return true;
    if (seen.missing > 0) {
        snprintf(text, sizeof text, "has %" PRId64 " missing values, which models do not take", seen.missing);
        return refuse(s, t->path, text);
    }
    free(to->value);
    *to = (struct batch_table){.value = reallocarray(NULL, (size_t)(rows * seen.cols), sizeof(float)),
                               .cols = seen.cols};
    return to->value
               ? table_values(t->path, to->value, rows * seen.cols, s->limits.cancel, s->error, s->error_size)
               : refuse(s, t->path, "no memory for its values");
}

/* Labels of a single column, as classes. */
static bool take_classes(struct batch_inputs *in, const struct dataset_table *t, int64_t nodes,
                         const struct graph_source *s)
{
    struct batch_table labels = {0};
    bool good = take_values(&labels, t, nodes, s);
    if (good && labels.cols == 1) {
        free(in->label);
        in->label = reallocarray(NULL, (size_t)nodes, sizeof *in->label);
        good = in->label || refuse(s, t->path, "no memory for its values");
        for (int64_t i = 0; i < nodes && good; i++) {
            float x = labels.value[i];
            good = (x >= 0 && x < CLASSES_MOST && x == floorf(x)) ||
                   refuse(s, t->path, "has a label that is no whole number from 0 to 65535");
            in->label[i] = good ? (int64_t)x : 0;
            in->classes = in->label[i] >= in->classes ? in->label[i] + 1 : in->classes;
        }
    }
    free(labels.value);
    return good;
}

/* The first edge from `from` or a later node in row `to`. */
static int64_t first_from(const struct csr *g, int64_t from, int64_t to)
{
    int64_t low = g->row_ptr[to], high = g->row_ptr[to + 1];
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (g->col[middle] < from)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/*
 * From a row for each edge of the file to one for each edge of the batch: both directions of an edge that was
 * mirrored have the same; parallel edges come in the order of the file.
 */
static bool order_edges(struct batch_table *t, const struct batch *b, const struct edge_list *list)
{
    const uint64_t *edge = list->edge;
    int64_t row = 0, edges = b->adj.edges;
    bool back = false;
    int32_t *taken = calloc((size_t)edges + 1, sizeof *taken);
    float *value = reallocarray(NULL, (size_t)(edges * t->cols) + 1, sizeof *value);
    for (int64_t e = 0; e < edges && taken && value; e++) {
        int64_t from = csr_edge_from(edge[e]), to = csr_edge_to(edge[e]),
                first = first_from(&b->adj, from, to);
        memcpy(value + (first + taken[first]++) * t->cols, t->value + row * t->cols,
               (size_t)t->cols * sizeof *value);
        back = list->mirrored && from != to && !back; /* the next one is this one's other direction */
        row += !back;
    }
    free(t->value);
    free(taken);
    t->value = value;
    return taken && value;
}

/* The edges of the file in its order, and their rows. */
static bool place_edges(struct batch *b, const struct graph_source *s)
{
    struct edge_list list;
    if (!graph_file_read(&list, s))
        return false;
    bool good = list.edges == b->adj.edges && order_edges(&b->inputs.edge_features, b, &list);
    edge_list_free(&list);
    return good || refuse(s, s->path, "no memory for the rows of its edges");
}

static bool read_tables(struct batch *b, const struct dataset *d, const struct graph_source *s)
{
    const int64_t rows[] = {b->adj.nodes, b->entries, b->graphs};
    struct batch_inputs *in = &b->inputs;
    bool good = true;
    for (int i = 0; i < d->tables && good; i++) {
        const struct dataset_table *t = &d->table[i];
        struct batch_table *to = place_of(in, t);
        if (takes_classes(d, t))
            good = take_classes(in, t, rows[t->of], s);
        else if (to)
            good = take_values(to, t, rows[t->of], s);
    }
    return good && (!b->adj.row_ptr || in->edge_features.cols == 0 || place_edges(b, s));
}

bool batch_read_inputs(struct batch *b, const struct graph_config *c, char *error, size_t error_size)
{
    struct dataset d;
    enum graph_format format;
    if (!graph_is_file(c->family) || b->nodes)
        return true;
    const struct graph_source s = {strchr(c->family, ':') + 1, *c->family == 'u', c->limits, error,
                                   error_size};
    if (!graph_format_find(s.path, &format, error, error_size))
        return false;
    bool good = format < GRAPH_TU || (dataset_find(&d, s.path, error, error_size) && read_tables(b, &d, &s));
    if (!b->adj.row_ptr)
        batch_drop_inputs(b);
    if (!good)
        batch_free(b);
    return good;
}
