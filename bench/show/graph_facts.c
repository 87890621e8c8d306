#include "bench/show/graph_facts.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#include "analysis/tables/units.h"
#include "graphs/components.h"
#include "graphs/degrees.h"
#include "kernels/arithmetic.h"

__attribute__((format(printf, 3, 4))) static void put_fact(FILE *out, const char *name, const char *format,
                                                           ...)
{
    va_list arguments;
    fprintf(out, "%-18s ", name);
    va_start(arguments, format);
    vfprintf(out, format, arguments);
    va_end(arguments);
    putc('\n', out);
}

struct components {
    int64_t count, largest; /* nodes of the largest */
};

static bool count_components(const struct batch *b, struct components *c)
{
    int64_t n = b->adj.nodes;
    int64_t *start = reallocarray(NULL, (size_t)n + 1, sizeof *start);
    int32_t *node = reallocarray(NULL, (size_t)n, sizeof *node);
    bool *seen = reallocarray(NULL, (size_t)n, sizeof *seen), room = start && node && seen;
    *c = (struct components){0};
    if (room)
        c->count = components_find(&b->adj, b->symmetric ? NULL : &b->out, start, node, seen);
    for (int64_t i = 0; i < c->count; i++)
        c->largest = max_of(c->largest, start[i + 1] - start[i]);
    free(start);
    free(node);
    free(seen);
    return room;
}

/* Nodes without any edge, loops included. */
static int64_t count_isolated(const struct batch *b)
{
    int64_t count = 0;
    for (int64_t i = 0; i < b->adj.nodes; i++)
        count += b->adj.row_ptr[i] == b->adj.row_ptr[i + 1] && b->out.row_ptr[i] == b->out.row_ptr[i + 1];
    return count;
}

static void put_degrees(FILE *out, const char *name, const struct degrees *d)
{
    put_fact(out, name,
             "mean %.4g, standard deviation %.4g; minimum %" PRId64 ", median %" PRId64
             ", 99th percentile %" PRId64 ", maximum %" PRId64,
             d->mean, d->std, d->min, d->median, d->p99, d->max);
}

static void put_sizes(FILE *out, const struct batch *b)
{
    int64_t least = b->adj.nodes, most = 0;
    for (int64_t g = 0; g < b->graphs; g++) {
        least = min_of(least, b->offset[g + 1] - b->offset[g]);
        most = max_of(most, b->offset[g + 1] - b->offset[g]);
    }
    if (b->graphs > 1)
        put_fact(out, "graphs", "%" PRId64 ", of %" PRId64 " to %" PRId64 " nodes, %.4g on average",
                 b->graphs, least, most, (double)b->adj.nodes / (double)b->graphs);
    else
        put_fact(out, "graphs", "1");
    put_fact(out, "nodes", "%" PRId64 ", %" PRId64 " of them isolated", b->adj.nodes, count_isolated(b));
}

static void put_memory(FILE *out, const struct batch *b)
{
    char rows[UNITS_TEXT], peak[UNITS_TEXT];
    units_format(rows, (double)csr_bytes(&b->adj) * (b->symmetric ? 1 : 2), UNITS_BINARY, "B");
    units_format(peak, (double)b->peak, UNITS_BINARY, "B");
    put_fact(out, "memory", "%s as rows%s, %s while it was made", rows,
             b->symmetric ? "" : " of both directions", peak);
}

bool graph_facts_print(FILE *out, const struct batch *b, struct message *error)
{
    struct components parts;
    if (!count_components(b, &parts))
        return complain(error, "no memory for the components of %" PRId64 " nodes", b->adj.nodes);
    struct degrees in = csr_degrees(&b->adj);
    put_sizes(out, b);
    if (b->entries > 0 && b->entries != b->adj.edges)
        put_fact(out, "edges", "%" PRId64 " directed, from %" PRId64 " in the file", b->adj.edges,
                 b->entries);
    else
        put_fact(out, "edges", "%" PRId64 " directed", b->adj.edges);
    put_fact(out, "symmetric", b->symmetric ? "yes" : "no: some edges are in one direction only");
    put_fact(out, "loops", "%" PRId64, in.self_loops);
    put_fact(out, "duplicates", "%" PRId64, in.duplicates);
    put_degrees(out, b->symmetric ? "degrees" : "in-degrees", &in);
    if (!b->symmetric) {
        struct degrees sent = csr_degrees(&b->out);
        put_degrees(out, "out-degrees", &sent);
    }
    put_fact(out, b->symmetric ? "components" : "weak components",
             "%" PRId64 ", the largest of %" PRId64 " nodes", parts.count, parts.largest);
    put_memory(out, b);
    return true;
}

void graph_facts_table(FILE *out, const char *name, const struct number_table *t)
{
    char range[64] = "none finite", missing[48] = "";
    if (t->least <= t->most)
        snprintf(range, sizeof range, "from %.6g to %.6g", t->least, t->most);
    if (t->missing > 0)
        snprintf(missing, sizeof missing, ", %" PRId64 " missing", t->missing);
    put_fact(out, name, "%" PRId64 " x %" PRId64 ", %s, %s%s", t->rows, t->cols, t->type, range, missing);
}
