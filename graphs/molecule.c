/*
 * A graph grows piece by piece, with a bond between each piece and what is there. Which of the pieces left is
 * a ring is decided by selection sampling (Knuth, The Art of Computer Programming 2, 3.4.2, algorithm S),
 * which places exactly r rings, every order equally likely.
 *
 * molecule: a piece is a ring or a single atom. Three of four pieces are joined to the end of the piece
 * before, which makes chains; the others to a random one of the last 12 atoms, if it has fewer than 4 bonds,
 * which makes branches. The end of a ring is the atom opposite to that of its first bond.
 *
 * peptide: a piece is a residue. Atom 0 is the nitrogen, 1 the alpha carbon, 2 the carbon that the next
 * residue is joined to, 3 its oxygen, and the side chain begins at 1. A residue with a ring has 11 atoms, of
 * which the last six are the ring, others 4 to 11; the last of these has what is left.
 */
#include "graphs/molecule.h"

#include <math.h>

#include "graphs/pairs.h"
#include "kernels/arithmetic.h"
#include "kernels/rng.h"

enum { RING_MOST = 6, BONDS_MOST = 4, REACH = 12, WINDOW = 32 /* at least REACH + RING_MOST */ };
enum { RESIDUE_LEAST = 4, RESIDUE_MOST = 11, RESIDUE_CARBON = 2 };

/* Rings in the graph, which has one for `least` atoms at most. */
static int64_t rings_of(const struct graph_spec *g, int64_t least)
{
    return min_of((int64_t)floor(g->value[MOLECULE_RINGS] * (double)g->nodes + 0.5), g->nodes / least);
}

int64_t molecule_edges(const struct graph_spec *g)
{
    return 2 * (g->nodes - 1 + rings_of(g, RING_MOST));
}

int64_t peptide_edges(const struct graph_spec *g)
{
    return 2 * (g->nodes - 1 + rings_of(g, RESIDUE_MOST));
}

/* The graph so far. */
struct growth {
    uint64_t *edge;
    int64_t first, atoms, end; /* end: the atom that the next piece continues */
    int bonds[WINDOW];         /* of the last atoms, each at its number modulo WINDOW */
    uint64_t sizes, choices;   /* random streams */
    uint64_t draws;            /* from choices */
};

static uint64_t draw(struct growth *g)
{
    return rng_bits(g->choices, g->draws++);
}

static void bond(struct growth *g, int64_t a, int64_t b)
{
    g->edge = pair_write(g->edge, g->first + a, g->first + b);
    g->bonds[a % WINDOW]++;
    g->bonds[b % WINDOW]++;
}

/* A new atom, without bonds. */
static int64_t add_atom(struct growth *g)
{
    g->bonds[g->atoms % WINDOW] = 0;
    return g->atoms++;
}

/* Whether the next of the pieces left is one of the rings left. */
static bool is_ring(struct growth *g, int64_t pieces, int64_t rings)
{
    return (int64_t)(draw(g) % (uint64_t)pieces) < rings;
}

/* The size of the i-th ring of a molecule: 6, or in one of four 5. */
static int64_t ring_size(const struct growth *g, int64_t i)
{
    return RING_MOST - (rng_bits(g->sizes, (uint64_t)i) % 4 == 0);
}

/* The atom that the next piece of a molecule is joined to. */
static int64_t anchor_of(struct growth *g)
{
    uint64_t bits = draw(g);
    int64_t atom = g->atoms - 1 - (int64_t)((bits >> 2) % (uint64_t)min_of(g->atoms, REACH));
    return bits % 4 == 0 && g->bonds[atom % WINDOW] < BONDS_MOST ? atom : g->end;
}

/* A chain of atoms, closed to a ring if it has more than one. */
static void add_piece(struct growth *g, int64_t size)
{
    int64_t anchor = g->atoms > 0 ? anchor_of(g) : -1, start = add_atom(g);
    if (anchor >= 0)
        bond(g, anchor, start);
    for (int64_t i = 1; i < size; i++)
        bond(g, start + i - 1, add_atom(g));
    if (size > 1)
        bond(g, start + size - 1, start);
    g->end = start + size / 2;
}

static struct growth growth_of(uint64_t *edge, const struct graph_spec *g)
{
    return (struct growth){
        .edge = edge, .first = g->first, .sizes = rng_bits(g->key, 0), .choices = rng_bits(g->key, 1)};
}

bool molecule_draw(uint64_t *edge, const struct graph_spec *g)
{
    struct growth m = growth_of(edge, g);
    int64_t rings = rings_of(g, RING_MOST), pieces = g->nodes;
    for (int64_t i = 0; i < rings; i++)
        pieces -= ring_size(&m, i) - 1;
    bool going = true;
    for (; pieces > 0 && going; pieces--) {
        going = !is_cancelled(g->cancel);
        add_piece(&m, is_ring(&m, pieces, rings) ? ring_size(&m, --rings) : 1);
    }
    return going;
}

/* The size of the i-th residue without a ring, unless fewer atoms are left. */
static int64_t residue_size(const struct growth *g, int64_t i)
{
    enum { SIZES = RESIDUE_MOST - RESIDUE_LEAST + 1 };
    return RESIDUE_LEAST + (int64_t)(rng_bits(g->sizes, (uint64_t)i) % SIZES);
}

static void add_residue(struct growth *g, int64_t size, bool ring)
{
    static const int joined_to[RESIDUE_MOST] = {0, 0, 1, 2, 1, 4, 5, 6, 7, 8, 9};
    int64_t start = g->atoms;
    for (int64_t i = 0; i < size; i++) {
        int64_t atom = add_atom(g);
        if (atom > 0)
            bond(g, i > 0 ? start + joined_to[i] : g->end, atom);
    }
    if (ring)
        bond(g, start + size - RING_MOST, start + size - 1);
    g->end = start + min_of(RESIDUE_CARBON, size - 1);
}

bool peptide_draw(uint64_t *edge, const struct graph_spec *g)
{
    struct growth p = growth_of(edge, g);
    int64_t rings = rings_of(g, RESIDUE_MOST), left = g->nodes - rings * RESIDUE_MOST, plain = 0;
    for (int64_t atoms = 0; atoms < left; plain++)
        atoms += residue_size(&p, plain);
    bool going = true;
    for (int64_t i = 0; rings + plain - i > 0 && going;) {
        going = !is_cancelled(g->cancel);
        bool ring = is_ring(&p, rings + plain - i, rings);
        int64_t size = ring ? RESIDUE_MOST : min_of(left, residue_size(&p, i));
        add_residue(&p, size, ring);
        rings -= ring;
        i += !ring;
        left -= ring ? 0 : size;
    }
    return going;
}
