/* A row is sorted by words of the new sender and the old position of the edge. */
#include "graphs/relabel.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/arithmetic.h"

static int by_word(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Writes the rows of the new graph, whose row_ptr is set, and for each edge its word. */
static void fill_rows(struct csr *to, const struct csr *from, const int32_t *list, const int32_t *number,
                      uint64_t *word, struct cancel cancel)
{
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t i = 0; i < to->nodes; i++) {
        if (is_cancelled(cancel))
            continue;
        int64_t at = to->row_ptr[i], end = to->row_ptr[i + 1], old = from->row_ptr[list[i]];
        for (int64_t e = at; e < end; e++, old++)
            word[e] = (uint64_t)number[from->col[old]] << 32 | (uint64_t)old;
        qsort(word + at, (size_t)(end - at), sizeof *word, by_word);
        for (int64_t e = at; e < end; e++)
            to->col[e] = (int32_t)(word[e] >> 32);
    }
}

/* Replaces g. False without memory or cancelled. */
static bool relabel_rows(struct csr *g, const int32_t *list, const int32_t *number, uint64_t *word,
                         struct cancel cancel)
{
    struct csr to = {g->nodes, g->edges, reallocarray(NULL, (size_t)g->nodes + 1, sizeof *to.row_ptr),
                     reallocarray(NULL, (size_t)g->edges, sizeof *to.col)};
    bool done = to.row_ptr && to.col;
    if (done) {
        to.row_ptr[0] = 0;
        for (int64_t i = 0; i < g->nodes; i++)
            to.row_ptr[i + 1] = to.row_ptr[i] + g->row_ptr[list[i] + 1] - g->row_ptr[list[i]];
        fill_rows(&to, g, list, number, word, cancel);
    }
    csr_free(done ? g : &to);
    if (done)
        *g = to;
    return done && !is_cancelled(cancel);
}

/* Row i becomes what row from[i] was. */
static bool move_rows(struct batch_table *t, const int32_t *from, int64_t rows)
{
    if (!t->value)
        return true;
    float *value = reallocarray(NULL, (size_t)(rows * t->cols), sizeof *value);
    for (int64_t i = 0; i < rows && value; i++)
        memcpy(value + i * t->cols, t->value + from[i] * t->cols, (size_t)t->cols * sizeof *value);
    free(t->value);
    t->value = value;
    return value;
}

static bool move_labels(struct batch_inputs *in, const int32_t *from, int64_t rows)
{
    if (!in->label)
        return true;
    int64_t *label = reallocarray(NULL, (size_t)rows, sizeof *label);
    for (int64_t i = 0; i < rows && label; i++)
        label[i] = in->label[from[i]];
    free(in->label);
    in->label = label;
    return label;
}

/* The values of edges, by their words. */
static bool move_edges(struct batch_table *t, const uint64_t *word, int64_t edges)
{
    if (!t->value)
        return true;
    int32_t *from = reallocarray(NULL, (size_t)edges, sizeof *from);
    for (int64_t e = 0; e < edges && from; e++)
        from[e] = (int32_t)(word[e] & UINT32_MAX);
    bool moved = from && move_rows(t, from, edges);
    free(from);
    return moved;
}

bool batch_relabel(struct batch *b, const int32_t *list, struct cancel cancel)
{
    int64_t n = b->adj.nodes, edges = b->adj.edges;
    bool two = b->out.row_ptr != b->adj.row_ptr;
    int32_t *number = reallocarray(NULL, (size_t)n, sizeof *number);
    uint64_t *word = reallocarray(NULL, (size_t)edges, sizeof *word);
    for (int64_t i = 0; i < n && number; i++)
        number[list[i]] = (int32_t)i;
    bool done = number && word && (!two || relabel_rows(&b->out, list, number, word, cancel)) &&
                relabel_rows(&b->adj, list, number, word, cancel);
    if (!two)
        b->out = b->adj;
    done = done && move_edges(&b->inputs.edge_features, word, edges);
    free(word);
    free(number);
    return done && move_rows(&b->inputs.features, list, n) && move_labels(&b->inputs, list, n);
}

int64_t relabel_bytes(const struct batch *b)
{
    const struct batch_inputs *in = &b->inputs;
    int64_t n = b->adj.nodes, edges = b->adj.edges, cols = in->edge_features.cols;
    int64_t rows = 4 * n + 8 * edges + max_of(csr_bytes(&b->adj), cols > 0 ? 4 * (cols + 1) * edges : 0);
    return max_of(rows, max_of(4 * in->features.cols, 8) * n);
}
