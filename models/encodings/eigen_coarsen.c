/*
 * Coarsening of a pencil (L, M) by pairwise aggregation (Notay, "An aggregation-based algebraic multigrid
 * method", 2010): with P the indicators of the aggregates, P' L P is the Laplacian of the graph of
 * aggregates, whose weights are sums, and P' M P holds their masses.
 *
 * Nodes are visited in order, which is breadth first but for short windows. Each free node is paired with the
 * free neighbour of least m_i m_j / (m_i + m_j) / w: averaging a vector v over the pairs moves it by at most
 * the largest of these times its energy v' L v, so a smooth vector is nearly constant on each pair.
 */
#include "models/encodings/eigen_coarsen.h"

#include <math.h>
#include <string.h>

static double weight_of(const struct pencil *p, int64_t e)
{
    return p->weight.data ? ((const float *)p->weight.data)[e] : 1;
}

static double mass_of(const struct pencil *p, int64_t i)
{
    return ((const float *)p->mass.data)[i];
}

/* The best free neighbour of node i, or -1. */
static int32_t partner(const struct pencil *p, const int32_t *parent, int64_t i)
{
    const int64_t *row = p->adj.row.data;
    const int32_t *col = p->adj.col.data;
    int32_t found = -1;
    double best = 0;
    for (int64_t e = row[i]; e < row[i + 1]; e++) {
        double fit = weight_of(p, e) * (1 / mass_of(p, i) + 1 / mass_of(p, col[e]));
        if (parent[col[e]] < 0 && fit > best) {
            best = fit;
            found = col[e];
        }
    }
    return found;
}

/*
 * Fills parent, and the first and second node of each aggregate (-1: none). Returns the number of aggregates.
 */
static int32_t pair_nodes(const struct pencil *p, int32_t *parent, int32_t *child)
{
    int32_t count = 0;
    memset(parent, 0xff, (size_t)p->n * sizeof *parent);
    for (int64_t i = 0; i < p->n; i++) {
        if (parent[i] >= 0)
            continue;
        parent[i] = count;
        int32_t other = partner(p, parent, i);
        if (other >= 0)
            parent[other] = count;
        child[2 * count] = (int32_t)i;
        child[2 * count + 1] = other;
        count++;
    }
    return count;
}

/* Write position in the coarse matrix, and each aggregate's position in the current row. */
struct writer {
    int32_t *col, *place; /* place: of each aggregate, valid if in begin .. end - 1 */
    float *weight;
    int64_t begin, end;
};

static void add_edges(struct writer *w, const struct pencil *fine, const int32_t *parent, int32_t own,
                      int32_t i)
{
    const int64_t *row = fine->adj.row.data;
    const int32_t *col = fine->adj.col.data;
    for (int64_t e = row[i]; e < row[i + 1]; e++) {
        int32_t to = parent[col[e]];
        if (to == own)
            continue;
        int64_t at = w->place[to];
        if (at < w->begin || at >= w->end || w->col[at] != to) {
            at = w->end++;
            w->place[to] = (int32_t)at;
            w->col[at] = to;
            w->weight[at] = 0;
        }
        w->weight[at] += (float)weight_of(fine, e);
    }
}

static void fill_coarse(struct coarse *c, const struct pencil *fine, const int32_t *child, int32_t *place)
{
    struct writer w = {.col = c->p.adj.col.data, .place = place, .weight = c->p.weight.data};
    int64_t *row = c->p.adj.row.data;
    float *mass = c->p.mass.data, *q = c->p.q.data;
    memset(place, 0, (size_t)c->p.n * sizeof *place);
    row[0] = 0;
    for (int64_t a = 0; a < c->p.n; a++) {
        w.begin = w.end;
        mass[a] = 0;
        for (int k = 0; k < 2; k++)
            if (child[2 * a + k] >= 0) {
                add_edges(&w, fine, c->parent.data, (int32_t)a, child[2 * a + k]);
                mass[a] += (float)mass_of(fine, child[2 * a + k]);
            }
        q[a] = 1 / mass[a];
        row[a + 1] = w.end;
    }
    c->p.adj.col.rows = c->p.weight.rows = w.end;
}

/* The largest sum of d_i / m_i over both ends of an edge, an upper bound on the eigenvalues. */
static double bound_of(const struct pencil *p, float *degree)
{
    const int64_t *row = p->adj.row.data;
    const int32_t *col = p->adj.col.data;
    double bound = 0;
    for (int64_t i = 0; i < p->n; i++) {
        double sum = 0;
        for (int64_t e = row[i]; e < row[i + 1]; e++)
            sum += weight_of(p, e);
        degree[i] = (float)(sum / mass_of(p, i));
    }
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t e = row[i]; e < row[i + 1]; e++)
            bound = fmax(bound, (double)degree[i] + degree[col[e]]);
    return 1.000001 * bound;
}

bool eigen_coarsen(struct eager *e, const struct pencil *fine, struct coarse *to)
{
    *to = (struct coarse){.parent = eager_matrix(e, I32, fine->n, 1), .edge_capacity = fine->adj.col.rows};
    int64_t pair_bytes = 2 * fine->n * 4, place_bytes = 0;
    int32_t *child = eager_alloc(e, pair_bytes), *place = NULL;
    if (eager_good(e)) {
        struct pencil *p = &to->p;
        p->n = pair_nodes(fine, to->parent.data, child);
        p->mass = eager_matrix(e, F32, p->n, 1);
        p->q = eager_matrix(e, F32, p->n, 1);
        p->adj.row = eager_matrix(e, I64, p->n + 1, 1);
        p->adj.col = eager_matrix(e, I32, to->edge_capacity, 1);
        p->weight = eager_matrix(e, F32, to->edge_capacity, 1);
        place_bytes = p->n * 4;
        place = eager_alloc(e, place_bytes);
    }
    if (eager_good(e)) {
        fill_coarse(to, fine, child, place);
        to->p.bound = to->p.norm = bound_of(&to->p, (float *)(void *)place);
        eager_charge(e, 2 * fine->adj.col.rows, 16 * fine->adj.col.rows);
    }
    eager_free(e, place, place_bytes);
    eager_free(e, child, pair_bytes);
    if (!eager_good(e))
        eigen_coarse_free(e, to);
    return eager_good(e);
}

void eigen_prolong(struct eager *e, const struct coarse *c, struct mat fine, struct mat coarse)
{
    const int32_t *parent = c->parent.data;
#pragma omp parallel for schedule(static) num_threads(e->threads) if (fine.rows > 4096)
    for (int64_t i = 0; i < fine.rows; i++)
        memcpy((float *)fine.data + i * fine.ld, (const float *)coarse.data + parent[i] * coarse.ld,
               (size_t)fine.cols * sizeof(float));
    eager_charge(e, 0, 8 * mat_size(fine));
}

void eigen_coarse_free(struct eager *e, struct coarse *c)
{
    c->p.adj.col.rows = c->p.weight.rows = c->edge_capacity;
    struct mat *all[] = {&c->parent, &c->p.mass, &c->p.q, &c->p.adj.row, &c->p.adj.col, &c->p.weight};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        eager_release(e, all[i]);
}
