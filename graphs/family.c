#include "graphs/family.h"

#include <string.h>

#include "graphs/ba.h"
#include "graphs/classic.h"
#include "graphs/er.h"
#include "graphs/grid.h"
#include "graphs/molecule.h"
#include "graphs/regular.h"
#include "graphs/rmat.h"
#include "graphs/sbm.h"
#include "graphs/superpixel.h"
#include "graphs/ws.h"

const struct graph_family graph_families[] = {
    {"er", er_edges, er_draw, true, true,
     .doc = "uniform random simple graph G(n, m), m = floor(nodes * degree / 2 + 1/2)", .ranged = true},
    {"grid", grid_edges, grid_draw, false, true,
     .doc = "two-dimensional grid of 4 neighbours in rows of ceil(sqrt(nodes)); the degree is ignored",
     .ranged = true},
    {"ba", ba_edges, ba_draw, true, true,
     .doc = "simple graph grown by preferential attachment (Barabasi-Albert), degree / 2 edges a node",
     .scratch = ba_scratch},
    {"rmat", rmat_edges, rmat_draw, true, false,
     .doc = "R-MAT multigraph with the probabilities of Graph500 (.57, .19, .19, .05), edges as in er",
     .ranged = true},
    {"ws", ws_edges, ws_draw, true, true,
     .doc = "small world (Watts-Strogatz): a ring lattice with edges as in er, some of them rewired",
     .ranged = true, .parameter = {{"beta", 0.1, 0, 1, false, "probability that an edge is rewired"}}},
    {"sbm", sbm_edges, sbm_draw, false, true,
     .doc = "stochastic blocks of equal sizes, with shares of the pairs of nodes as edges; the degree is "
            "ignored",
     .ranged = true,
     .parameter = {{"blocks", 4, 1, 1e6, true, "number of blocks"},
                   {"p_in", 0.1, 0, 1, false, "share of the pairs within blocks"},
                   {"p_out", 0.01, 0, 1, false, "share of the pairs between blocks"}}},
    {"regular", regular_edges, regular_draw, true, true,
     .doc = "random simple graph in which all nodes have the degree, rounded", .scratch = regular_scratch},
    {"superpixel", superpixel_edges, superpixel_draw, true, true,
     .doc = "nearest neighbours among random points of a square, edges as in er",
     .scratch = superpixel_scratch},
    {"molecule", molecule_edges, molecule_draw, false, true,
     .doc = "rings, chains and branches with at most 4 bonds an atom; the degree is ignored",
     .parameter = {{"rings", 0.11, 0, 0.16, false, "rings per atom"}}},
    {"peptide", peptide_edges, peptide_draw, false, true,
     .doc = "backbone with side chains, some of which end in a ring; the degree is ignored",
     .parameter = {{"rings", 0.025, 0, 0.09, false, "rings per atom"}}},
    {"path", tree_edges, path_draw, false, true, .doc = "each node joined to the next; the degree is ignored",
     .ranged = true},
    {"cycle", cycle_edges, cycle_draw, false, true, .doc = "a closed path; the degree is ignored",
     .ranged = true},
    {"star", tree_edges, star_draw, false, true, .doc = "node 0 joined to all others; the degree is ignored",
     .ranged = true},
    {"complete", complete_edges, complete_draw, false, true,
     .doc = "all pairs of nodes; the degree is ignored", .ranged = true},
    {"tree", tree_edges, tree_draw, false, true, .doc = "tree filled level by level; the degree is ignored",
     .ranged = true, .parameter = {{"children", 2, 1, 1e6, true, "children of a node"}}},
    {"grid3d", grid3d_edges, grid3d_draw, false, true,
     .doc = "three-dimensional grid of 6 neighbours, ceil(cbrt(nodes)) wide; the degree is ignored",
     .ranged = true},
    {0},
};

const struct graph_family *graph_family_named(const char *name)
{
    const struct graph_family *f = graph_families;
    while (f->name && strcmp(f->name, name) != 0)
        f++;
    return f->name ? f : NULL;
}

int graph_family_parameters(const struct graph_family *f)
{
    int count = 0;
    while (count < GRAPH_PARAMETERS && f->parameter[count].name)
        count++;
    return count;
}

bool graph_family_clamps(const struct graph_family *f, int64_t nodes, double degree)
{
    double most = (double)(nodes - 1);
    return f->uses_degree && degree > most && (f->simple || most == 0);
}

/*
 * The averages are those of the documentation of PyTorch Geometric's data sets. From a connected graph's
 * means, rings = edges / 2 - nodes + 1. With blocks, p_in is that of the data set (Dwivedi et al.,
 * "Benchmarking graph neural networks", JMLR 2023), and p_out meets the mean number of edges for sizes that
 * are uniform on [nodes / 2, 3 nodes / 2].
 */
const struct graph_shape graph_shapes[] = {
    {"zinc", "molecule:rings=0.1164", 23.2, 49.8, "molecules of ZINC"},
    {"pcqm4m", "molecule:rings=0.1064", 14.1, 29.2, "molecules of PCQM4Mv2"},
    {"hiv", "molecule:rings=0.1157", 25.5, 54.9, "molecules of ogbg-molhiv"},
    {"pcba", "molecule:rings=0.1192", 26.0, 56.2, "molecules of ogbg-molpcba"},
    {"pcqm-contact", "molecule:rings=0.0466", 30.14, 61.09, "molecules of PCQM-Contact"},
    {"peptides", "peptide:rings=0.0246", 150.94, 307.30, "peptides of Peptides-func and Peptides-struct"},
    {"mnist", "superpixel", 70.6, 564.5, "superpixels of MNIST"},
    {"cifar10", "superpixel", 117.6, 941.2, "superpixels of CIFAR10"},
    {"voc", "superpixel", 479.40, 2710.48, "superpixels of PascalVOC-SP"},
    {"pattern", "sbm:blocks=5,p_in=0.5,p_out=0.3776", 118.9, 6098.9, "stochastic blocks of PATTERN"},
    {"cluster", "sbm:blocks=6,p_in=0.55,p_out=0.2424", 117.2, 4303.9, "stochastic blocks of CLUSTER"},
    {0},
};

double graph_shape_degree(const struct graph_shape *s)
{
    return s->edges / s->nodes;
}
