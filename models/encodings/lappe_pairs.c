/*
 * Assembles the encoding from the pairs of the components: the smallest of each graph, indicators first.
 * Equal values are ordered by component.
 */
#include "kernels/arithmetic.h"
#include "models/encodings/lappe_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A pair of a graph: eigenvalue, component, and index within the component; -1: its indicator. */
struct candidate {
    double value;
    int64_t component, index;
};

static int by_value(const void *a, const void *b)
{
    const struct candidate *p = a, *q = b;
    if (p->value != q->value)
        return p->value < q->value ? -1 : 1;
    if (p->component != q->component)
        return p->component < q->component ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

/* All candidate pairs from a graph's components, known and solved. */
static int64_t collect(const struct lappe *l, int64_t first, int64_t end, struct candidate *to)
{
    int64_t count = 0;
    for (int64_t c = first; c < end; c++) {
        to[count++] = (struct candidate){lappe_null_vector(l, c) ? 0 : 1, c, -1};
        for (int64_t k = 0; k < l->s.wanted[c]; k++)
            to[count++] = (struct candidate){fmax(l->s.value[l->s.first[c] + k], 1e-300), c, k};
    }
    return count;
}

static void write_pair(const struct lappe *l, const struct candidate *p, int64_t column)
{
    const struct problems *s = &l->s;
    int64_t start = s->parts.start[p->component], k = l->c->k, wanted = s->wanted[p->component];
    const float *x = s->x + s->vector[p->component];
    float *v = l->out->values.data;
    for (int64_t i = 0; i < component_size(&s->parts, p->component); i++) {
        double own = p->index < 0 ? 1 : x[i * wanted + p->index];
        v[s->parts.node[start + i] * k + column] = (float)(sqrt(s->mass[start + i]) * own);
    }
}

/* Selects the pairs of a graph from components first .. end - 1. */
static void write_graph(struct lappe *l, int64_t g, int64_t first, int64_t end, struct candidate *pairs)
{
    struct encoding *out = l->out;
    int64_t k = l->c->k, n = l->b->offset[g + 1] - l->b->offset[g];
    int64_t count = collect(l, first, end, pairs), wanted = lappe_pairs(l, n);
    qsort(pairs, (size_t)count, sizeof *pairs, by_value);
    out->pairs[g] = wanted - l->normalised;
    for (int64_t c = l->normalised; c < wanted; c++) {
        int64_t column = c - l->normalised;
        write_pair(l, &pairs[c], column);
        ((float *)out->eigenvalues.data)[g * k + column] = (float)pairs[c].value;
        out->nullity += pairs[c].index < 0;
        out->iterated += pairs[c].index >= 0;
    }
}

bool lappe_write(struct lappe *l)
{
    int64_t most = 0, k = l->c->k;
    for (int64_t g = 0, first = 0, end; g < l->b->graphs; g++, first = end) {
        end = lappe_components_end(l, g, first);
        most = max_of(most, end - first + l->s.first[end] - l->s.first[first]);
    }
    struct candidate *pairs = eager_alloc(&l->e, most * (int64_t)sizeof *pairs);
    if (!pairs)
        return false;
    memset(l->out->values.data, 0, (size_t)(l->b->adj.nodes * k) * 4);
    memset(l->out->eigenvalues.data, 0, (size_t)(l->b->graphs * k) * 4);
    for (int64_t g = 0, first = 0, end; g < l->b->graphs; g++, first = end) {
        end = lappe_components_end(l, g, first);
        write_graph(l, g, first, end, pairs);
    }
    eager_free(&l->e, pairs, most * (int64_t)sizeof *pairs);
    return true;
}
