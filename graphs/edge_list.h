/*
 * A batch of graphs as a list of edges, and how the readers of files collect it (graphs/graph_file.h).
 */
#ifndef GTMARK_GRAPHS_EDGE_LIST_H
#define GTMARK_GRAPHS_EDGE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "graphs/batch.h"
#include "graphs/lines.h"

struct edge_list {
    int64_t nodes, edges;
    uint64_t *edge;   /* packed (csr_edge), in the order of the file */
    int64_t entries;  /* edges as the file has them, of which one may stand for both directions */
    bool mirrored;    /* every edge that is no loop is here in both directions, since the reader added one */
    bool both_listed; /* the format demands that the file itself has both directions, once each */
    int64_t graphs;   /* 1 unless the file has a batch */
    int64_t *offset;  /* graphs + 1: graph g owns nodes offset[g] .. offset[g + 1] - 1 */
    int64_t gap;      /* of an edge list without graph lines: the first id above the least that has no edge */
    struct file_notes notes;
    int64_t peak; /* peak memory of reading in bytes, including this list */
};

/* Frees the arrays and leaves an empty list; freeing it again does nothing. */
void edge_list_free(struct edge_list *list);

/* What a reader reads. */
struct graph_source {
    const char *path;
    bool undirected; /* add the other direction of every edge that is no loop */
    struct graph_limits limits;
    char *error;
    size_t error_size;
    bool names; /* an edge list whose nodes have names */
};

/* The lines of one of its files, to be opened; errors go where those of the source go. */
static inline struct text_lines source_lines(const struct graph_source *s, const char *path)
{
    return (struct text_lines){
        .path = path, .cancel = s->limits.cancel, .error = s->error, .error_size = s->error_size};
}

/* The state of a reader: a list that grows, and stays within the limit of memory. */
struct collector {
    const struct graph_source *source;
    struct edge_list *list;
    int64_t held; /* bytes that the reader holds beside the list, at most */
    int64_t room; /* capacity of the list in edges */
    int64_t offsets_room;
};

/* Leaves an empty list. `mirrored`: add each edge in both directions, as for an undirected source. */
void collect_begin(struct collector *c, struct edge_list *list, const struct graph_source *s, bool mirrored);

/*
 * Appends an edge between nodes, and the other direction if it is asked for; a graph of nodes. False with an
 * error if the list cannot have more, without memory, or beyond the limit: then the list's `peak` is what
 * reading needs, above the limit.
 */
bool collect_edge(struct collector *c, int64_t from, int64_t to);
bool collect_graph(struct collector *c, int64_t nodes);

/* Whether `more` bytes may be taken beside those of the reader and of the rows of its nodes; errors as above.
 */
bool collect_can_alloc(struct collector *c, int64_t more);

/* False with the error "PATH: ...". */
bool collect_fail(struct collector *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Ends reading: sets the list's peak; or, if it is not `done`, frees it, but keeps what reading needs.
 * Returns `done`. */
bool collect_end(struct collector *c, bool done);

#endif
