/*
 * Computes the encoding of a generated graph, and writes both for programs that check or compare them:
 *
 *     dump_encoding GRAPH NODES DEGREE GRAPHS SEED ENCODING SOLVER THREADS RUNS DIRECTORY
 *
 * row.npy, col.npy: the graph as compressed sparse rows; offset.npy: its graphs; values.npy, eigenvalues.npy:
 * the encoding (models/encodings/encoding.h). Prints a line of JSON: the results and the seconds of each run.
 * The process keeps the memory that it frees, as the programs that it is compared with do
 * (tests/golden/keep_memory.py).
 */
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/clock.h"
#include "bench/show/dump.h"
#include "models/encodings/compute.h"
#include "models/encodings/encoding.h"

static _Noreturn void fail(const char *message)
{
    fprintf(stderr, "dump_encoding: %s\n", message);
    exit(2);
}

static void write_array(const char *directory, const char *name, struct npy a)
{
    char path[4096];
    struct message error;
    snprintf(path, sizeof path, "%s/%s.npy", directory, name);
    if (!npy_write(path, &a, &error))
        fail(error.text);
}

static enum eigensolver solver_named(const char *name)
{
    int s = 0;
    while (eigensolver_name(s) && strcmp(eigensolver_name(s), name) != 0)
        s++;
    return eigensolver_name(s) ? (enum eigensolver)s : (fail("no such solver"), SOLVER_AUTO);
}

static void write_all(const char *directory, const struct batch *b, const struct encoding *e)
{
    write_array(directory, "row", npy_indices64(b->adj.row_ptr, b->adj.nodes + 1));
    write_array(directory, "col", npy_indices32(b->adj.col, b->adj.edges));
    write_array(directory, "offset", npy_indices64(b->offset, b->graphs + 1));
    write_array(directory, "values", npy_matrix(e->values));
    if (mat_present(e->eigenvalues))
        write_array(directory, "eigenvalues", npy_matrix(e->eigenvalues));
}

int main(int argc, char **argv)
{
    if (argc != 11)
        fail("GRAPH NODES DEGREE GRAPHS SEED ENCODING SOLVER THREADS RUNS DIRECTORY");
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
    struct graph_config g = {.family = argv[1],
                             .nodes = atoll(argv[2]),
                             .degree = atof(argv[3]),
                             .graphs = atoll(argv[4]),
                             .seed = strtoull(argv[5], NULL, 10)};
    struct encoding_config c;
    struct batch b;
    struct encoding e = {0};
    char error[512];
    if (!encoding_parse(argv[6], &c) || c.kind == ENCODING_NONE)
        fail("no such encoding");
    c.solver = solver_named(argv[7]);
    if (!batch_generate(&b, &g, error, sizeof error))
        fail(error);
    struct value *seconds = value_new_array();
    for (int run = 0; run < atoi(argv[9]); run++) {
        encoding_free(&e);
        double start = clock_now();
        if (!encoding_compute(&c, &b, &(struct encoding_options){.threads = atoi(argv[8])}, &e, error,
                              sizeof error))
            fail(error);
        value_append(seconds, value_new_real(clock_now() - start));
    }
    write_all(argv[10], &b, &e);
    struct value *line = value_new_object();
    value_set_count(line, "nodes", b.adj.nodes);
    value_set_count(line, "edges", b.adj.edges);
    value_set(line, "seconds", seconds);
    value_set_text(line, "method", e.method);
    value_set_real(line, "residual", e.residual);
    value_set_real(line, "excess", e.excess);
    value_set_count(line, "nullity", e.nullity);
    value_set_count(line, "iterated", e.iterated);
    value_set_count(line, "iterations", e.iterations);
    value_set_count(line, "flops", e.cost.flops);
    value_set_count(line, "bytes", e.cost.bytes);
    value_set_count(line, "peak", e.peak);
    value_write(line, stdout);
    putchar('\n');
    value_free(line);
    encoding_free(&e);
    batch_free(&b);
    return 0;
}
