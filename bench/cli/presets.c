/*
 * The table of presets. Sizes, encoders, heads and batches are those of the configurations named as sources
 * (GraphGPS: github.com/rampasek/GraphGPS, configs/GPS); the parameters are those of the papers where they
 * give them, and else the sum over these sizes. tests/test_presets.c asserts each part of each sum.
 */
#include "bench/cli/presets.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LAYERS(local, global, depth, attention_heads, width, activation, q)                                  \
    .mpnn = MPNN_##local, .attention = ATTENTION_##global, .layers = depth, .heads = attention_heads,        \
    .hidden = width, .act = ACT_##activation, .norm = NORM_BATCH, .attention_dropout = q
#define LAP(count, columns) .pe = {.kind = ENCODING_LAP, .k = count, .width = columns, .solver = SOLVER_AUTO}
#define RWSE(count, columns)                                                                                 \
    .pe = {.kind = ENCODING_RWSE, .k = count, .width = columns, .solver = SOLVER_AUTO}

#define ESLAP(count, ...) .pe = {.kind = ENCODING_ESLAP, .k = count, .solver = SOLVER_AUTO, __VA_ARGS__}
#define EXPANDER(r, v)    .expander = r, .globals = v

/* Raw features: of nodes and of edges. */
#define NODE(...)  .features = {__VA_ARGS__}
#define EDGE(...)  .edge_features = {__VA_ARGS__}
#define NUMBERS(n) .numbers = n
#define TYPES(n)   .tables = 1, .types = {n}
#define SAME       TYPES(1)
#define ATOMS      .tables = 9, .types = {119, 4, 12, 12, 10, 6, 6, 2, 2}
#define BONDS      .tables = 3, .types = {5, 6, 2}

/* Heads: MLP with this many layers. */
#define HEAD(of, reduced, k, deep, count, by)                                                                \
    .task = TASK_##of, .pool = POOL_##reduced, .head = {HEAD_##k, deep, count, LOSS_##by}

/* Graphormer, and the tables of its bias: distances, hops, products of hops. */
#define GRAPHORMER(depth, attention_heads, width, q)                                                         \
    .layer = LAYER_GRAPHORMER, .attention = ATTENTION_DENSE, .layers = depth, .heads = attention_heads,      \
    .hidden = width, .act = ACT_GELU, .norm = NORM_LAYER, .dropout = q, .attention_dropout = q
#define SPD(distances, edges) .pe = {.buckets = distances, .hops = edges}

/* A shape, its mean nodes and directed edges, for other families too, and how many graphs run. */
#define GRAPHS(shape, size, edges, count)                                                                    \
    {                                                                                                        \
        .family = shape, .nodes = (int64_t)(size), .degree = (edges) / (size), .graphs = count               \
    }

#define PEPTIDES LAYERS(GATEDGCN, DENSE, 4, 4, 96, RELU, 0.5), LAP(10, 16), NODE(ATOMS), EDGE(BONDS)
#define PCQM4M   RWSE(16, 20), NODE(ATOMS), EDGE(BONDS), HEAD(GRAPH, MEAN, HALVING, 0, 1, ABSOLUTE)

#define GPS         "GraphGPS configs/GPS/"
#define GRAPHGPS    "GraphGPS README.md"
#define GRAPHORMERS "Graphormer v1.0, examples/"
#define EXPHORMER   "Exphormer, arXiv 2303.06147, table "
#define EXPHORMERS  "github.com/hamed1375/Exphormer configs/Exphormer/"

/* What is left out. */
#define TRAINED  "learning rates and decay, clipping of gradients"
#define SIGNS    TRAINED ", signs of eigenvectors flipped at random"
#define FAR      TRAINED ", pairs 20 edges apart hidden, rows of padding at zero"
#define WEIGHTED SIGNS ", weights of the classes in the loss"
#define DRAWN    SIGNS ", negative pairs redrawn in every step"

/* clang-format off */
const struct preset presets[] = {
    {"zinc",
     {LAYERS(GINE, DENSE, 10, 4, 64, RELU, 0.5), RWSE(20, 28), NODE(TYPES(28)), EDGE(TYPES(4)),
      HEAD(GRAPH, SUM, HALVING, 0, 1, ABSOLUTE)},
     GRAPHS("zinc", 23.2, 49.8, 32),
     32, 423717, PRESET_DERIVED, GPS "zinc-GPS+RWSE.yaml", TRAINED},
    {"zinc-lap",
     {LAYERS(GINE, DENSE, 10, 4, 64, RELU, 0.5), LAP(8, 8), NODE(TYPES(28)), EDGE(TYPES(4)),
      HEAD(GRAPH, SUM, HALVING, 0, 1, ABSOLUTE)},
     GRAPHS("zinc", 23.2, 49.8, 32),
     32, 423833, PRESET_DERIVED, GPS "zinc-GPS.yaml", SIGNS},
    {"pattern",
     {LAYERS(GATEDGCN, DENSE, 6, 4, 64, RELU, 0.5), LAP(16, 16), NODE(NUMBERS(3)), EDGE(SAME),
      HEAD(NODE, MEAN, MLP, 3, 1, BINARY)},
     GRAPHS("pattern", 118.9, 6098.9, 32),
     32, 337201, PRESET_EXACT, EXPHORMER "13", WEIGHTED},
    {"cluster",
     {LAYERS(GATEDGCN, DENSE, 16, 8, 48, RELU, 0.5), LAP(10, 16), NODE(NUMBERS(7)), EDGE(SAME),
      .dropout = 0.1, HEAD(NODE, MEAN, MLP, 3, 6, CROSS_ENTROPY)},
     GRAPHS("cluster", 117.2, 4303.9, 16),
     16, 502054, PRESET_EXACT, EXPHORMER "14", WEIGHTED},
    {"mnist",
     {LAYERS(GATEDGCN, DENSE, 3, 4, 52, RELU, 0.5), LAP(8, 8), NODE(NUMBERS(3)), EDGE(NUMBERS(1)),
      HEAD(GRAPH, MEAN, MLP, 3, 10, CROSS_ENTROPY)},
     GRAPHS("mnist", 70.6, 564.5, 16),
     16, 115394, PRESET_EXACT, EXPHORMER "11", SIGNS},
    {"cifar10",
     {LAYERS(GATEDGCN, DENSE, 3, 4, 52, RELU, 0.5), LAP(8, 8), NODE(NUMBERS(5)), EDGE(NUMBERS(1)),
      HEAD(GRAPH, MEAN, MLP, 2, 10, CROSS_ENTROPY)},
     GRAPHS("cifar10", 117.6, 941.2, 16),
     16, 112726, PRESET_EXACT, EXPHORMER "10", SIGNS},
    {"malnet", /* averages of MalNet-Tiny by table A.1 of Rampasek et al. 2022; edges between random nodes */
     {LAYERS(GATEDGCN, PERFORMER, 5, 4, 64, RELU, 0.5), NODE(NUMBERS(5), .normalised = true), EDGE(SAME),
      HEAD(GRAPH, MAX, MLP, 3, 5, CROSS_ENTROPY)},
     GRAPHS("er", 1410.3, 2859.9, 8),
     16, 527237, PRESET_EXACT, EXPHORMER "12", TRAINED},
    {"peptides-func",
     {PEPTIDES, HEAD(GRAPH, MEAN, LINEAR, 0, 10, BINARY)}, GRAPHS("peptides", 150.94, 307.30, 128),
     128, 504362, PRESET_DERIVED, GPS "peptides-func-GPS.yaml", SIGNS},
    {"peptides-struct",
     {PEPTIDES, HEAD(GRAPH, MEAN, LINEAR, 0, 11, ABSOLUTE)}, GRAPHS("peptides", 150.94, 307.30, 128),
     128, 504459, PRESET_DERIVED, GPS "peptides-struct-GPS.yaml", SIGNS},
    {"pcqm-contact",
     {PEPTIDES, HEAD(EDGE, MEAN, LINEAR, 0, 1, BINARY)}, GRAPHS("pcqm-contact", 30.14, 61.09, 256),
     256, 512704, PRESET_DERIVED, GPS "pcqm-contact-GPS.yaml", DRAWN},
    {"voc",
     {LAYERS(GATEDGCN, DENSE, 4, 8, 96, RELU, 0.5), LAP(10, 16), NODE(NUMBERS(14)), EDGE(NUMBERS(2)),
      HEAD(NODE, MEAN, MLP, 3, 21, CROSS_ENTROPY)},
     GRAPHS("voc", 479.40, 2710.48, 32),
     32, 510453, PRESET_DERIVED, GPS "vocsuperpixels-GPS.yaml", WEIGHTED},
    {"molhiv",
     {LAYERS(GATEDGCN, DENSE, 10, 4, 64, RELU, 0.5), RWSE(16, 16), NODE(ATOMS), EDGE(BONDS),
      .dropout = 0.05, HEAD(GRAPH, MEAN, HALVING, 0, 1, BINARY)},
     GRAPHS("hiv", 25.5, 54.9, 32),
     32, 558625, PRESET_DERIVED, GPS "ogbg-molhiv-GPS+RWSE.yaml", TRAINED},
    {"molpcba",
     {LAYERS(GATEDGCN, DENSE, 5, 4, 384, RELU, 0.5), RWSE(16, 20), NODE(ATOMS), EDGE(BONDS),
      .dropout = 0.2, HEAD(GRAPH, MEAN, LINEAR, 0, 128, BINARY)},
     GRAPHS("pcba", 26.0, 56.2, 128),
     512, 9744496, PRESET_DERIVED, GPS "ogbg-molpcba-GPS+RWSE.yaml", TRAINED},
    {"pcqm4m-small",
     {LAYERS(GATEDGCN, DENSE, 5, 4, 304, RELU, 0.5), PCQM4M}, GRAPHS("pcqm4m", 14.1, 29.2, 256),
     256, 6152001, PRESET_EXACT, GRAPHGPS, TRAINED},
    {"pcqm4m-medium",
     {LAYERS(GATEDGCN, DENSE, 10, 16, 384, RELU, 0.1), PCQM4M, .dropout = 0.1}, GRAPHS("pcqm4m", 14.1, 29.2, 128),
     256, 19414641, PRESET_EXACT, GRAPHGPS, TRAINED},
    {"pcqm4m-deep",
     {LAYERS(GATEDGCN, DENSE, 16, 8, 256, GELU, 0.1), PCQM4M, .dropout = 0.1}, GRAPHS("pcqm4m", 14.1, 29.2, 128),
     256, 13807345, PRESET_EXACT, GRAPHGPS, TRAINED},
    {"zinc-graphormer",
     {GRAPHORMER(12, 8, 80, 0.1), SPD(20, 20), NODE(TYPES(28), .degrees = 64), EDGE(TYPES(4)),
      HEAD(GRAPH, TOKEN, LINEAR, 0, 1, ABSOLUTE)},
     GRAPHS("zinc", 23.2, 49.8, 256),
     256, 484689, PRESET_DERIVED, "GraphGPS configs/Graphormer/zinc-Graphormer.yaml",
     TRAINED ", dropout within the FFN instead of after attention"},
    {"zinc-gps-graphormer",
     {LAYERS(GINE, DENSE, 10, 4, 64, RELU, 0.5),
      .pe = {.kind = ENCODING_RWSE, .k = 20, .width = 28, .solver = SOLVER_AUTO, .buckets = 20, .hops = 20},
      NODE(TYPES(28), .degrees = 64), EDGE(TYPES(4)), HEAD(GRAPH, SUM, HALVING, 0, 1, ABSOLUTE)},
     GRAPHS("zinc", 23.2, 49.8, 32),
     32, 428745, PRESET_DERIVED, GPS "zinc-GPSwGraphormer.yaml", TRAINED},
    {"graphormer-slim", /* published without the 160 parameters of the last norm */
     {GRAPHORMER(12, 8, 80, 0.1), SPD(39, 20), NODE(TYPES(64), .degrees = 64), EDGE(TYPES(64)), .hop_products = 40,
      HEAD(GRAPH, TOKEN, LINEAR, 0, 1, ABSOLUTE)},
     GRAPHS("zinc", 23.2, 49.8, 256),
     256, 489481, PRESET_DERIVED, GRAPHORMERS "zinc.sh", FAR},
    {"graphormer-base",
     {GRAPHORMER(12, 32, 768, 0.1), SPD(511, 5), .hop_products = 128,
      NODE(.tables = 9, .types = {513, 512, 512, 512, 512, 512, 512, 512, 512}, .degrees = 512),
      EDGE(.tables = 3, .types = {513, 512, 512}), HEAD(GRAPH, TOKEN, LINEAR, 0, 1, ABSOLUTE)},
     GRAPHS("pcqm4m", 14.1, 29.2, 256),
     256, 47085377, PRESET_DERIVED, GRAPHORMERS "pcqm4m.sh", FAR},
    {"exphormer-cifar10",
     {LAYERS(GATEDGCN, EXPHORMER, 5, 4, 40, RELU, 0), ESLAP(8, EXPANDER(5, 1)), NODE(NUMBERS(5)),
      EDGE(NUMBERS(1)), .dropout = 0.1, HEAD(GRAPH, MEAN, MLP, 2, 10, CROSS_ENTROPY)},
     GRAPHS("cifar10", 117.6, 941.2, 16),
     16, 111095, PRESET_DERIVED, EXPHORMERS "cifar10.yaml", TRAINED},
    {"exphormer-pattern", /* table 13 of the paper has 120 more: one global node more */
     {LAYERS(GATEDGCN, EXPHORMER, 4, 4, 40, RELU, 0), ESLAP(10, EXPANDER(7, 4)), NODE(NUMBERS(3)),
      EDGE(SAME), HEAD(NODE, MEAN, MLP, 3, 1, BINARY)},
     GRAPHS("pattern", 118.9, 6098.9, 32),
     32, 91045, PRESET_DERIVED, EXPHORMERS "pattern.yaml", TRAINED ", weights of the classes in the loss"},
    {"exphormer-arxiv", /* both directions of each edge; edges between random nodes */
     {LAYERS(GCN, EXPHORMER, 4, 2, 80, RELU, 0), .pe = {EXPANDER(3, 0)}, NODE(NUMBERS(128), .normalised = true),
      EDGE(SAME), .dropout = 0.3, HEAD(NODE, MEAN, LINEAR, 0, 40, CROSS_ENTROPY)},
     GRAPHS("er", 169343, 2 * 1166243.0, 1),
     1, 247400, PRESET_DERIVED, EXPHORMERS "arxiv.yaml", TRAINED},
    {0},
};
/* clang-format on */

const struct preset *preset_at(int64_t index)
{
    return index > 0 ? &presets[index - 1] : NULL;
}

const char *preset_choice(int index)
{
    return index == 0 ? "none" : presets[index - 1].name;
}

void preset_names(char text[PRESET_NAMES])
{
    size_t used = 0;
    for (const struct preset *p = presets; p->name && used < PRESET_NAMES; p++)
        used += p->parameters > PRESET_LARGE
                    ? 0
                    : (size_t)snprintf(text + used, PRESET_NAMES - used, "%s%s", used ? "," : "", p->name);
}

void preset_describe(const struct preset *p, char *text, size_t size)
{
    const struct model_config *c = &p->parts;
    char pe[64];
    encoding_format(&c->pe, pe, sizeof pe);
    snprintf(text, size,
             "%" PRId64 " layers of hidden size %" PRId64 ", %s and %s attention with %" PRId64
             " heads, %s, batches of %" PRId64 "; %" PRId64 " parameters, %s %s",
             c->layers, c->hidden, mpnn_name((int)c->mpnn), attention_name((int)c->attention), c->heads,
             c->pe.kind ? pe : "no encoding", p->batch, p->parameters,
             p->status == PRESET_EXACT ? "published in" : "the sum over", p->source);
}
