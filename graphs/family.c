#include "graphs/family.h"

#include <string.h>

#include "graphs/ba.h"
#include "graphs/er.h"
#include "graphs/grid.h"
#include "graphs/rmat.h"

const struct graph_family graph_families[] = {
    {"er", er_edges, er_draw, true, true, 0,
     "uniform random simple graph G(n, m), m = floor(nodes * degree / 2 + 1/2)"},
    {"grid", grid_edges, grid_draw, false, true, 0,
     "two-dimensional grid of 4 neighbours in rows of ceil(sqrt(nodes)); the degree is ignored"},
    {"ba", ba_edges, ba_draw, true, true, BA_NODE_BYTES,
     "simple graph grown by preferential attachment (Barabasi-Albert), degree / 2 edges a node"},
    {"rmat", rmat_edges, rmat_draw, true, false, 0,
     "R-MAT multigraph with the probabilities of Graph500 (.57, .19, .19, .05), edges as in er"},
    {0},
};

bool graph_is_giant(const char *name)
{
    const char *colon = strchr(name, ':');
    return colon && strcmp(colon, ":giant") == 0;
}

const struct graph_family *graph_family_named(const char *name)
{
    const struct graph_family *f = graph_families;
    size_t length = graph_is_giant(name) ? strcspn(name, ":") : strlen(name);
    while (f->name && (strlen(f->name) != length || memcmp(f->name, name, length) != 0))
        f++;
    return f->name ? f : NULL;
}

bool graph_family_clamps(const struct graph_family *f, int64_t nodes, double degree)
{
    double most = (double)(nodes - 1);
    return f->uses_degree && degree > most && (f->simple || most == 0);
}

bool graph_is_file(const char *family)
{
    return strncmp(family, "file:", 5) == 0 || strncmp(family, "undirected:", 11) == 0;
}

bool graph_family_known(const char *name)
{
    return graph_family_named(name) || (graph_is_file(name) && strchr(name, ':')[1]);
}
