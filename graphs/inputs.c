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

/* Where the values of a table go. */
static struct batch_table *place_of(struct batch_inputs *in, const struct dataset_table *t)
{
    if (t->of == TABLE_OF_GRAPHS)
        return &in->targets;
    return t->of == TABLE_OF_NODES ? &in->features : &in->edge_features;
}

static bool takes_classes(const struct dataset *d, const struct dataset_table *t)
{
    return (d->kind == DATASET_OGB || t->given) && t->of == TABLE_OF_NODES && strstr(t->name, "labels");
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
    char text[256];
    if (!table_read(&seen, t->path, s->limits.cancel, s->error, s->error_size))
        return false;
    if (seen.rows != rows) {
        int used = snprintf(text, sizeof text, "has %" PRId64 " rows, for %" PRId64 " %s", seen.rows, rows,
                            whose[t->of]);
        if (t->of == TABLE_OF_NODES)
            graph_file_say_gap(s, seen.rows, text + used, sizeof text - (size_t)used);
        return refuse(s, t->path, text);
    }
    if (seen.missing > 0 && is_label(t) && !t->given)
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

/* Whether values are whole numbers of a range of at most CLASSES_MOST; then they count from 0. */
static bool count_types(struct batch_table *t, int64_t rows)
{
    float least = INFINITY, most = -INFINITY;
    for (int64_t i = 0; i < rows; i++) {
        if (t->value[i] != floorf(t->value[i]))
            return false;
        least = fminf(least, t->value[i]);
        most = fmaxf(most, t->value[i]);
    }
    if (!(fabsf(least) < CLASSES_MOST && most - least < CLASSES_MOST))
        return false;
    for (int64_t i = 0; i < rows; i++)
        t->value[i] -= least;
    t->types = (int64_t)(most - least) + 1;
    return true;
}

/* Labels of a single column, as types. */
static bool take_types(struct batch_table *to, const struct dataset_table *t, int64_t rows,
                       const struct graph_source *s)
{
    if (!take_values(to, t, rows, s))
        return false;
    if (to->cols != 1 || !count_types(to, rows)) {
        free(to->value);
        *to = (struct batch_table){0};
    }
    return true;
}

/* Labels of a single column, as classes. */
static bool take_classes(struct batch_inputs *in, const struct dataset_table *t, int64_t nodes,
                         const struct graph_source *s)
{
    struct batch_table labels = {0};
    bool good = take_values(&labels, t, nodes, s);
    if (good && t->given && labels.cols != 1)
        good = refuse(s, t->path, "has several columns; labels of nodes have one");
    if (good && labels.cols == 1) {
        free(in->label);
        in->classes = 0;
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
 * mirrored have the same; parallel edges come in the order of the file, and of those the batch has once the
 * first counts.
 */
static bool order_edges(struct batch_table *t, const struct batch *b, const struct edge_list *list)
{
    const uint64_t *edge = list->edge;
    int64_t row = 0, edges = b->adj.edges;
    bool back = false, once = list->edges > edges;
    int32_t *taken = calloc((size_t)edges + 1, sizeof *taken);
    float *value = reallocarray(NULL, (size_t)(edges * t->cols) + 1, sizeof *value);
    for (int64_t e = 0; e < list->edges && taken && value; e++) {
        int64_t from = csr_edge_from(edge[e]), to = csr_edge_to(edge[e]),
                first = first_from(&b->adj, from, to);
        if (!once || !taken[first])
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
    bool good = list.edges >= b->adj.edges && order_edges(&b->inputs.edge_features, b, &list);
    edge_list_free(&list);
    return good || refuse(s, s->path, "no memory for the rows of its edges");
}

/* The rows of the nodes of a padded batch, where they are in it. */
static bool pad_rows(struct batch_table *t, const struct batch *b)
{
    const float *from = t->value;
    float *value = calloc((size_t)(b->adj.nodes * t->cols), sizeof *value);
    for (int64_t g = 0; g < b->graphs && value; from += b->nodes[g++] * t->cols)
        memcpy(value + b->offset[g] * t->cols, from, (size_t)(b->nodes[g] * t->cols) * sizeof *value);
    free(t->value);
    t->value = value;
    return value;
}

static int64_t own_nodes(const struct batch *b)
{
    int64_t nodes = b->nodes ? 0 : b->adj.nodes;
    for (int64_t g = 0; g < b->graphs && b->nodes; g++)
        nodes += b->nodes[g];
    return nodes;
}

/* The flag whose table comes in place of a folder's. */
enum role { FEATURES, EDGE_FEATURES, LABELS };

static enum role role_of(const struct dataset *d, const struct dataset_table *t)
{
    if (t->of == TABLE_OF_GRAPHS || takes_classes(d, t))
        return LABELS;
    return t->of == TABLE_OF_NODES ? FEATURES : EDGE_FEATURES;
}

const char *graph_table_given(const struct graph_tables *given, const struct dataset *d,
                              const struct dataset_table *t)
{
    const char *const tables[] = {given->features, given->edge_features, given->labels};
    return tables[role_of(d, t)];
}

/* False; a table of the folder need not be read. */
static bool say_none(const struct dataset *d, const struct dataset_table *t, const struct graph_source *s)
{
    static const char *const kinds[] = {"features", "edge-features", "labels"};
    size_t used = strlen(s->error);
    if (!t->given && used < s->error_size)
        snprintf(s->error + used, s->error_size - used, "; --data %s=none leaves it out",
                 kinds[role_of(d, t)]);
    return false;
}

/* Whether a table of the folder is not read, since another comes in its place, or none. Given labels are the
 * last table. */
static bool is_left_out(const struct dataset *d, const struct dataset_table *t,
                        const struct graph_tables *given)
{
    const char *other = graph_table_given(given, d, t);
    bool labels = role_of(d, t) == LABELS && !graph_table_none(other);
    return !t->given && other && (!labels || d->table[d->tables - 1].of == t->of);
}

static bool read_tables(struct batch *b, const struct dataset *d, const struct graph_tables *given,
                        const struct graph_source *s)
{
    const int64_t rows[] = {own_nodes(b), b->entries, b->graphs};
    struct batch_inputs *in = &b->inputs;
    bool good = true, padded = b->nodes;
    for (int i = 0; i < d->tables && good; i++) {
        const struct dataset_table *t = &d->table[i];
        struct batch_table *to = place_of(in, t);
        bool classes = takes_classes(d, t);
        if (is_left_out(d, t, given) || (padded && (classes || t->of == TABLE_OF_EDGES)))
            continue;
        if (classes)
            good = take_classes(in, t, rows[t->of], s);
        else
            good = (is_label(t) && to != &in->targets ? take_types : take_values)(to, t, rows[t->of], s);
        good = good || say_none(d, t, s);
    }
    if (good && padded && b->adj.row_ptr && in->features.cols > 0 && !pad_rows(&in->features, b))
        return refuse(s, s->path, "no memory for the rows of its nodes");
    return good && (!b->adj.row_ptr || in->edge_features.cols == 0 || place_edges(b, s));
}

/* Adds a table given by name, if one is. */
static struct dataset_table *add_given(struct dataset *d, const char *path, const char *name,
                                       enum table_of of)
{
    if (!path || graph_table_none(path))
        return NULL;
    struct dataset_table *t = &d->table[d->tables++];
    *t = (struct dataset_table){.name = name, .of = of, .given = true};
    snprintf(t->path, sizeof t->path, "%s", path);
    return t;
}

/* Adds what is given; labels are of graphs if they have a row for each, and not one for each node. */
static bool find_given(struct dataset *d, const struct batch *b, const struct graph_tables *given,
                       const struct graph_source *s)
{
    struct number_table seen;
    add_given(d, given->features, "node features", TABLE_OF_NODES);
    add_given(d, given->edge_features, "edge features", TABLE_OF_EDGES);
    struct dataset_table *labels = add_given(d, given->labels, "labels", TABLE_OF_NODES);
    if (!labels)
        return true;
    if (!table_read(&seen, labels->path, s->limits.cancel, s->error, s->error_size))
        return false;
    if (seen.rows == b->graphs && seen.rows != own_nodes(b))
        labels->of = TABLE_OF_GRAPHS;
    return true;
}

bool batch_read_inputs(struct batch *b, const struct graph_config *c, const struct graph_tables *given,
                       char *error, size_t error_size)
{
    struct dataset d = {.tables = 0};
    enum graph_format format;
    struct graph_file_name name;
    if (!graph_file_name(c->family, &name))
        return true;
    const struct graph_source s = {name.path, name.undirected, c->limits, error, error_size, name.names};
    if (!graph_format_find(s.path, &format, error, error_size))
        return false;
    bool good = (format < GRAPH_TU || dataset_find(&d, s.path, error, error_size)) &&
                find_given(&d, b, given, &s) && read_tables(b, &d, given, &s);
    if (!b->adj.row_ptr)
        batch_drop_inputs(b);
    if (!good)
        batch_free(b);
    return good;
}
