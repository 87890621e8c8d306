/*
 * RWSE: every walk reaches every node. Heat kernel: degrees are not known, and no two neighbours have more
 * edges than there are; LAPACK is as for LapPE. LapPE: the components of a graph are not known, but the cost
 * of a dense solver grows faster than linearly with the nodes, and that of an iterative one linearly, so one
 * component as large as the solver allows is the worst case. An iterative solver may take LAPPE_PRODUCTS
 * products on every level of coarsening, a hundred to a thousand times what it takes: a bound that says
 * nothing, so its FLOPs and bytes have none.
 *
 * What is likely is the same of each graph by itself, with products and degrees that are usual: random graphs
 * and grids took 65 to 180 products at 300 to 3000 nodes, those with hubs up to 850.
 *
 * Sums are in double, where no product overflows, and rounded up.
 */
#include "models/encodings/bound.h"

#include <math.h>

#include "kernels/arithmetic.h"
#include "models/encodings/eigen_block.h"
#include "models/encodings/heat.h"
#include "models/encodings/lappe_internal.h"

struct work {
    double flops, bytes, peak;
};

/* What the shape of a batch does not tell. */
struct assumed {
    bool worst;
    double degrees; /* largest sum of those of two neighbours */
};

/* What is likely of an iterative solver. */
enum { PRODUCTS = 50 /* with the Laplacian */ };
static const double projections = 0.1; /* Rayleigh-Ritz, for each product */

static int64_t whole(double x)
{
    return x < 0x1p62 ? (int64_t)ceil(x * (1 + 1e-12)) : -1;
}

static int64_t op_scratch(enum op op, const void *args)
{
    const struct kernel *k = backend_kernel(backend_cpu(), op, op_dtype(op, args), NULL);
    return k && k->scratch ? k->scratch(args) : 0;
}

static struct mat shape(enum dtype dtype, int64_t rows, int64_t cols)
{
    return (struct mat){.rows = rows, .cols = cols, .ld = cols, .dtype = dtype};
}

static struct edges edge_shapes(const struct csr *in, const struct csr *out)
{
    return (struct edges){.row = shape(I64, in->nodes + 1, 1),
                          .col = shape(I32, in->edges, 1),
                          .out_row = shape(I64, out->nodes + 1, 1),
                          .out_col = shape(I32, out->edges, 1)};
}

static struct encoding_bound walks_bound(int64_t k, const struct batch *b, int threads)
{
    int64_t n = b->adj.nodes;
    struct mat p = shape(F32, n, k), work = shape(I64, n, 1);
    struct edges adj = edge_shapes(&b->adj, &b->out);
    struct edges once = {.row = adj.row, .col = adj.col}; /* both ways are the same arrays */
    struct walk_returns_args full = {.call = {.threads = threads}, .p = p, .work = work, .adj = adj};
    struct walk_returns_half_args half = {.call = {.threads = threads}, .p = p, .work = work, .adj = once};
    enum op op = b->symmetric ? OP_walk_returns_half : OP_walk_returns;
    const void *args = b->symmetric ? (const void *)&half : &full;
    return (struct encoding_bound){op_flops(op, args), op_bytes(op, args),
                                   mat_bytes(p) + mat_bytes(work) + op_scratch(op, args),
                                   "every walk reaches every node", false};
}

/* Components of n nodes in all, of at most m nodes each, by LAPACK. */
static struct work dense_work_of(double n, int64_t m, double pairs, int threads)
{
    double size = (double)m;
    double each = size * size + pairs * size + (double)max_of(dense_work(m), dense_work(min_of(m, 40)));
    return (struct work){n * (4 * size * size / 3 + 2 * size * pairs), 8 * n * (size + pairs),
                         8 * threads * each};
}

static struct work lanczos_work(double n, double edges, double pairs)
{
    double vectors = 2 * pairs + 21;
    return (struct work){PRODUCTS * (4 * edges + 4 * n * vectors),
                         PRODUCTS * (4 * edges + 8 * n * (vectors + 4)),
                         8 * (5 * n + n * vectors + vectors * (vectors + 8) + n * pairs + pairs)};
}

/* Scratch of the ops of a block. */
static double block_scratch(int64_t n, int64_t edges, int64_t w, int threads)
{
    struct mat x = shape(F32, n, w), square = shape(F64, w, w), row = shape(F32, 1, w);
    struct edges adj = {.row = shape(I64, n + 1, 1), .col = shape(I32, edges, 1)};
    struct call call = {.threads = threads};
    struct gram_args gram = {.call = call, .g = square, .x = x, .y = x, .m = shape(F32, n, 1)};
    struct linear_args linear = {.call = call, .y = x, .x = x, .w = shape(F32, w, w), .b = row};
    struct chebyshev_args filter = {.call = call, .y = x, .x = x, .q = shape(F32, n, 1), .adj = adj};
    return (double)max_of(op_scratch(OP_gram, &gram),
                          max_of(op_scratch(OP_linear, &linear), op_scratch(OP_chebyshev, &filter)));
}

/* A level of coarsening has at most 3/4 of the nodes of the one before. */
static struct work block_work(int64_t nodes, int64_t edges, int64_t pairs, bool worst, int threads)
{
    int64_t w = round_up(pairs + 8, 16), levels = 1;
    double n = (double)nodes, e = (double)edges, wide = (double)w;
    for (double left = n; worst && left >= 400; left *= 0.75)
        levels++;
    double product = 3 * e * wide + n * (1 + 4 * wide),
           ritz = n * wide * (14 * wide + 25) + 4 * wide * wide * wide;
    double moved = 12 * n * wide + 12 * e + 20 * n, passes = 100 * n * wide + 100 * wide * wide;
    double block = 12 * n * wide + 40 * n;
    double small = 80 * wide * wide + 64 * wide + 8 * (double)dense_work(w) + 8 * e + 64;
    return (struct work){PRODUCTS * (product + projections * ritz), PRODUCTS * (moved + projections * passes),
                         4 * block + (double)levels * small + block_scratch(nodes, edges, w, threads)};
}

/* What all solvers hold: the components, the pairs and the encoding. */
static double problems_bytes(double n, double edges, double graphs, double k, double pairs)
{
    return 4 * k * (n + graphs) + 8 * graphs + 100 * n + 4 * edges + 4 * n * pairs + 256;
}

static int64_t largest_graph(const struct batch *b)
{
    int64_t most = 0;
    for (int64_t g = 0; g < b->graphs; g++)
        most = max_of(most, b->offset[g + 1] - b->offset[g]);
    return most;
}

static struct encoding_bound pairs_bound(const struct encoding_config *c, const struct batch *b,
                                         const struct assumed *a, int threads)
{
    int64_t nodes = b->adj.nodes, edges = b->adj.edges, most = largest_graph(b);
    int64_t k = c->k + (c->kind == ENCODING_LAP_PYG);
    int64_t pairs = min_of(k, most), dense = c->solver == SOLVER_AUTO ? LAPPE_DENSE_AUTO : LAPPE_DENSE_ALWAYS;
    dense = c->solver == SOLVER_LAPACK ? most : min_of(most, max_of(dense, 2 * (pairs + 16)));
    struct work all = dense_work_of((double)nodes, dense, (double)pairs, threads);
    bool iterates = dense < most;
    if (iterates) {
        struct work more = c->solver == SOLVER_ARPACK
                               ? lanczos_work((double)nodes, (double)edges, (double)pairs)
                               : block_work(nodes, edges, pairs, a->worst, threads);
        all = (struct work){all.flops + more.flops, all.bytes + more.bytes, fmax(all.peak, more.peak)};
    }
    if (iterates && a->worst && c->solver == SOLVER_AUTO) {
        struct work again = dense_work_of((double)nodes, min_of(most, LAPPE_DENSE_AGAIN), (double)pairs, 1);
        all.peak = fmax(all.peak, again.peak);
    }
    all.peak += problems_bytes((double)nodes, (double)edges, (double)b->graphs, (double)c->k, (double)pairs);
    bool unbounded = iterates && a->worst;
    return (struct encoding_bound){
        unbounded ? -1 : whole(all.flops), unbounded ? -1 : whole(all.bytes), whole(all.peak),
        iterates ? "the solver iterates; how often is known only when it has run"
                 : "each graph is one component, solved by LAPACK; FLOPs are nominal",
        iterates};
}

/* What LAPACK takes grows faster than linearly. */
static struct encoding_bound heat_bound(int64_t k, const struct batch *b, const struct assumed *a,
                                        int threads)
{
    int64_t n = b->adj.nodes, steps = heat_steps(k, a->degrees);
    struct mat h = shape(F32, n, k), work = shape(I64, n, 1), terms = shape(F32, steps, k);
    struct heat_diagonal_args args = {
        .call = {.threads = threads},
        .h = h,
        .work = work,
        .odd = terms,
        .even = terms,
        .adj = {.row = shape(I64, n + 1, 1), .col = shape(I32, b->adj.edges, 1)}};
    int64_t flops = op_flops(OP_heat_diagonal, &args), bytes = op_bytes(OP_heat_diagonal, &args);
    double m = dense_available() ? (double)min_of(largest_graph(b), HEAT_DENSE_MOST) : 0, nodes = (double)n;
    double parts = m > 0 ? nodes / m : 0, held = 4 * nodes * (double)k + 17 * nodes + 64;
    double expanded = 8 * nodes + 8 * (double)(terms.rows + 1) * (double)(k + 2) +
                      (double)op_scratch(OP_heat_diagonal, &args);
    double dense = 8 * threads * (double)heat_dense_work((int64_t)m);
    double lapack = parts * heat_dense_flops(m, (double)k), both = fmax((double)flops, lapack);
    bool chosen = m > 0 && HEAT_FASTER * lapack < (double)flops;
    return (struct encoding_bound){flops < 0 ? flops
                                             : whole(a->worst ? both
                                                     : chosen ? lapack
                                                              : (double)flops),
                                   bytes < 0 ? bytes
                                             : whole(fmax((double)bytes, nodes * (16 * m + 4 * (double)k))),
                                   whole(held + fmax(expanded, dense)),
                                   "two neighbours may have all edges; each graph is one component", false};
}

static struct encoding_bound bound_for(const struct encoding_config *c, const struct batch *b,
                                       const struct assumed *a, int threads)
{
    return c->kind == ENCODING_HEAT   ? heat_bound(c->k, b, a, threads)
           : c->kind == ENCODING_RWSE ? walks_bound(c->k, b, threads)
                                      : pairs_bound(c, b, a, threads);
}

/* Adds the distances, which have no FLOPs. */
static void add_distances(struct encoding_bound *bound, const struct encoding_config *c,
                          const struct batch *b, int threads)
{
    struct hops_args args = {.call = {.threads = threads},
                             .bucket = shape(I64, b->pairs, 1),
                             .graphs = {shape(I64, b->graphs + 1, 1), b->pairs},
                             .adj = edge_shapes(&b->adj, &b->out)};
    int64_t bytes = op_bytes(OP_hops, &args);
    bound->bytes += bound->bytes < 0 ? 0 : bytes;
    bound->peak = max_of(bound->peak, encoding_storage(c, b) + op_scratch(OP_hops, &args));
    bound->label = bound->label ? bound->label : "a search from each node";
}

/* Adds expanders: how often they are drawn, and then solved, is not known. */
static void add_expanders(struct encoding_bound *bound, const struct encoding_config *c,
                          const struct batch *b, const struct assumed *a, int threads)
{
    const struct encoding_config two = {.kind = ENCODING_LAP, .k = 2, .solver = c->solver};
    struct batch drawn = *b;
    drawn.adj.edges = drawn.out.edges = max_of(2 * c->expander, 9) * b->adj.nodes;
    struct encoding_bound each = pairs_bound(&two, &drawn, a, threads);
    int64_t peak = csr_bytes(&drawn.adj) + max_of(16 * drawn.adj.edges, each.peak);
    *bound = (struct encoding_bound){-1, -1, max_of(bound->peak, encoding_storage(c, b) + peak),
                                     "how often permutations are drawn is known only when it has run", true};
}

struct encoding_bound encoding_bound(const struct encoding_config *c, const struct batch *b, int threads)
{
    struct assumed worst = {true, (double)max_of(1, b->adj.edges)};
    struct encoding_bound bound = {0};
    if (c->kind != ENCODING_NONE)
        bound = bound_for(c, b, &worst, threads);
    if (c->buckets)
        add_distances(&bound, c, b, threads);
    if (c->expander)
        add_expanders(&bound, c, b, &worst, threads);
    return bound;
}

double encoding_likely_flops(const struct encoding_config *c, const struct batch *b)
{
    double degree = (double)b->adj.edges / (double)b->adj.nodes, flops = 0;
    struct assumed usual = {false, fmax(1, 4 * degree)};
    const struct encoding_config two = {.kind = ENCODING_LAP, .k = 2, .solver = c->solver};
    for (int64_t g = 0; g < b->graphs && (c->kind != ENCODING_NONE || c->expander); g++) {
        int64_t n = b->offset[g + 1] - b->offset[g], offset[2] = {0, n};
        struct batch one = {.graphs = 1, .symmetric = b->symmetric, .offset = offset};
        one.adj.nodes = one.out.nodes = n;
        one.adj.edges = one.out.edges = (int64_t)(degree * (double)n);
        int64_t of_graph = c->kind == ENCODING_NONE ? 0 : bound_for(c, &one, &usual, 1).flops;
        flops += of_graph < 0 ? 0x1p63 : (double)of_graph;
        one.adj.edges = one.out.edges = 2 * c->expander * n;
        flops += c->expander ? (double)pairs_bound(&two, &one, &usual, 1).flops : 0;
    }
    return flops;
}
