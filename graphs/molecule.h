/*
 * Graphs like those of molecules, which ignore the requested degree: connected, with few rings and bounded
 * degrees. A connected graph of n atoms with r independent rings has n - 1 + r bonds; r is a share of n.
 */
#ifndef GTMARK_GRAPHS_MOLECULE_H
#define GTMARK_GRAPHS_MOLECULE_H

#include "graphs/spec.h"

enum { MOLECULE_RINGS }; /* parameter: rings per atom */

/*
 * Small organic molecules: rings of five or six atoms and chains with branches; at most 4 bonds an atom. The
 * number of directed edges: 2 (n - 1 + r), r = floor(rings n + 1/2), at most n / 6.
 */
int64_t molecule_edges(const struct graph_spec *g);

/* As er_draw; single-threaded. */
bool molecule_draw(uint64_t *edge, const struct graph_spec *g);

/*
 * Chains of amino acids without hydrogen: a backbone of three atoms a residue, its oxygen, and a side chain,
 * which in r of the residues ends in a ring of six; at most 3 bonds an atom. As molecule_edges, with at most
 * n / 11 rings.
 */
int64_t peptide_edges(const struct graph_spec *g);

/* As er_draw; single-threaded. */
bool peptide_draw(uint64_t *edge, const struct graph_spec *g);

#endif
