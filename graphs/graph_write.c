#include "graphs/graph_write.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "graphs/matrix_market.h"

enum { BLOCK = 1 << 18 };

struct output {
    gzFile file;
    char *block;
    int used;
    bool failed;
    struct cancel cancel;
};

static void flush(struct output *o)
{
    if (!o->failed && is_cancelled(o->cancel)) {
        errno = EINTR;
        o->failed = true;
    }
    if (!o->failed && o->used > 0)
        o->failed = gzwrite(o->file, o->block, (unsigned)o->used) != o->used;
    o->used = 0;
}

static void put(struct output *o, const char *text)
{
    size_t length = strlen(text);
    if (o->used + (int)length > BLOCK)
        flush(o);
    memcpy(o->block + o->used, text, length);
    o->used += (int)length;
}

/* A number and the character that ends it. */
static void put_number(struct output *o, int64_t number, char end)
{
    char digits[24];
    int count = 0;
    if (o->used + (int)sizeof digits > BLOCK)
        flush(o);
    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (count > 0)
        o->block[o->used++] = digits[--count];
    o->block[o->used++] = end;
}

static bool is_isolated(const struct batch *b, int64_t i)
{
    return b->adj.row_ptr[i] == b->adj.row_ptr[i + 1] && b->out.row_ptr[i] == b->out.row_ptr[i + 1];
}

static bool has_isolated(const struct batch *b)
{
    for (int64_t i = 0; i < b->adj.nodes; i++)
        if (is_isolated(b, i))
            return true;
    return false;
}

static void write_edge_list(struct output *o, const struct batch *b)
{
    bool lines = b->graphs > 1 || has_isolated(b);
    for (int64_t g = 0; g < b->graphs && !o->failed; g++) {
        int64_t first = b->offset[g];
        if (lines) {
            put(o, "graph ");
            put_number(o, b->offset[g + 1] - first, '\n');
        }
        for (int64_t i = first; i < b->offset[g + 1] && !o->failed; i++)
            for (int64_t e = b->adj.row_ptr[i]; e < b->adj.row_ptr[i + 1]; e++) {
                put_number(o, b->adj.col[e] - first, ' ');
                put_number(o, i - first, '\n');
            }
    }
}

static int64_t loops_of(const struct csr *g)
{
    int64_t loops = 0;
    for (int64_t i = 0; i < g->nodes; i++)
        for (int64_t e = g->row_ptr[i]; e < g->row_ptr[i + 1]; e++)
            loops += g->col[e] == i;
    return loops;
}

/* The lower triangle of a symmetric matrix, whose row is the sender. */
static void write_matrix_market(struct output *o, const struct batch *b)
{
    const struct csr *g = &b->adj;
    put(o, MATRIX_MARKET_BANNER " matrix coordinate pattern ");
    put(o, b->symmetric ? "symmetric\n" : "general\n");
    put_number(o, g->nodes, ' ');
    put_number(o, g->nodes, ' ');
    put_number(o, b->symmetric ? (g->edges + loops_of(g)) / 2 : g->edges, '\n');
    for (int64_t i = 0; i < g->nodes && !o->failed; i++)
        for (int64_t e = g->row_ptr[i]; e < g->row_ptr[i + 1]; e++)
            if (!b->symmetric || g->col[e] >= i) {
                put_number(o, (int64_t)g->col[e] + 1, ' ');
                put_number(o, i + 1, '\n');
            }
}

static void write_metis(struct output *o, const struct batch *b)
{
    const struct csr *g = &b->adj;
    put_number(o, g->nodes, ' ');
    put_number(o, g->edges / 2, '\n');
    for (int64_t i = 0; i < g->nodes && !o->failed; i++) {
        for (int64_t e = g->row_ptr[i]; e < g->row_ptr[i + 1]; e++)
            put_number(o, (int64_t)g->col[e] + 1, e + 1 < g->row_ptr[i + 1] ? ' ' : '\n');
        if (g->row_ptr[i] == g->row_ptr[i + 1])
            put(o, "\n");
    }
}

const char *graph_unwritable(const struct batch *b, enum graph_format f)
{
    if (f == GRAPH_EDGE_LIST)
        return NULL;
    return b->graphs > 1           ? "has one graph, and this is a batch"
           : f != GRAPH_METIS      ? NULL
           : !b->symmetric         ? "has every edge in both directions (--undirected)"
           : loops_of(&b->adj) > 0 ? "has no loops, as this graph has"
                                   : NULL;
}

bool graph_write(const struct batch *b, enum graph_format f, bool gzip, FILE *out, struct cancel cancel)
{
    struct output o = {.block = malloc(BLOCK), .cancel = cancel};
    int copy = dup(fileno(out));
    errno = ENOMEM; /* the meaning if zlib does not set errno */
    o.file = o.block && copy >= 0 ? gzdopen(copy, gzip ? "wb1" : "wbT") : NULL;
    if (!o.file) {
        free(o.block);
        if (copy >= 0)
            close(copy);
        return false;
    }
    gzbuffer(o.file, BLOCK);
    (f == GRAPH_EDGE_LIST       ? write_edge_list
     : f == GRAPH_MATRIX_MARKET ? write_matrix_market
                                : write_metis)(&o, b);
    flush(&o);
    free(o.block);
    int reason = errno;
    bool closed = gzclose_w(o.file) == Z_OK;
    if (o.failed)
        errno = reason;
    return closed && !o.failed;
}
