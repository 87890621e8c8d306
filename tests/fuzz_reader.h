/* Shared by the fuzzers of the readers of graph files: files in memory, and what every reader owes. */
#ifndef GTMARK_TESTS_FUZZ_READER_H
#define GTMARK_TESTS_FUZZ_READER_H

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "graphs/csr.h"
#include "graphs/edge_list.h"
#include "tests/fuzz.h"

enum { FUZZ_ERROR = 512, FUZZ_LIMIT = 32 << 20 };

struct fuzz_file {
    int descriptor;
    char path[64];
};

/* A file with these bytes. Close its descriptor. */
static inline struct fuzz_file fuzz_file(const uint8_t *bytes, size_t size)
{
    struct fuzz_file f = {.descriptor = memfd_create("graph", MFD_CLOEXEC)};
    require(f.descriptor >= 0 && write(f.descriptor, bytes, size) == (ssize_t)size, "memory");
    snprintf(f.path, sizeof f.path, "/proc/self/fd/%d", f.descriptor);
    return f;
}

/* The errors of a reader that was `done`, or not, are one line, or none. */
static inline void fuzz_error(bool done, const char *error)
{
    require(done == !*error, "what is wrong is said, and nothing else");
    require(!strpbrk(error, "\n\r\033"), "the reason is one line");
}

/* Requires that a list is valid, if reading it was done, and frees it. */
static inline void fuzz_list(bool done, struct edge_list *list, const char *error)
{
    fuzz_error(done, error);
    if (!done) {
        require(!list->edge && !list->offset, "what failed leaves nothing");
        return;
    }
    require(list->peak <= FUZZ_LIMIT, "the limit of memory holds");
    require(list->graphs >= 1 && list->offset[0] == 0 && list->offset[list->graphs] == list->nodes,
            "graphs have all nodes");
    for (int64_t g = 0; g < list->graphs; g++)
        require(list->offset[g] < list->offset[g + 1], "graphs have nodes");
    require(list->entries <= list->edges && list->edges <= 2 * list->entries,
            "an edge in a file is one or two");
    for (int64_t e = 0; e < list->edges; e++)
        require(csr_edge_from(list->edge[e]) < list->nodes && csr_edge_to(list->edge[e]) < list->nodes,
                "edges are between nodes");
    edge_list_free(list);
}

/* The source of a fuzzer: within the limit of memory. */
static inline struct graph_source fuzz_source(const char *path, bool undirected, char error[FUZZ_ERROR])
{
    *error = '\0';
    return (struct graph_source){path, undirected, {FUZZ_LIMIT, {0}}, error, FUZZ_ERROR, false};
}

#endif
