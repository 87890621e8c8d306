/*
 * Neighbouring points of the plane, as between the superpixels of an image. The nodes are n uniform points of
 * a square. A pair of nodes has rank j if one is the j-th nearest of the other, the smaller j of both ways;
 * pairs are joined in the order of their ranks until the graph has as many edges as er. So it is simple, and
 * each node is joined to its nearest ones.
 */
#ifndef GTMARK_GRAPHS_SUPERPIXEL_H
#define GTMARK_GRAPHS_SUPERPIXEL_H

#include "graphs/spec.h"

/* The number of directed edges, as in er. */
int64_t superpixel_edges(const struct graph_spec *g);

/* As er_draw. Time grows with nodes degree log(degree). */
bool superpixel_draw(uint64_t *edge, const struct graph_spec *g);

/* Bytes that superpixel_draw needs beside the edges. */
int64_t superpixel_scratch(const struct graph_spec *g);

#endif
