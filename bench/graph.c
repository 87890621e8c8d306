/* graph describe|convert|generate: says what is in a graph file, converts it, or writes a generated one. */
#include <math.h>
#include <string.h>

#include "analysis/record/file.h"
#include "analysis/record/plain.h"
#include "bench/base/interrupt.h"
#include "bench/base/quantity.h"
#include "bench/base/suggest.h"
#include "bench/cli/readers.h"
#include "bench/cli/tool.h"
#include "bench/machine/machine.h"
#include "bench/show/graph_facts.h"
#include "graphs/graph.h"
#include "graphs/graph_write.h"

enum { TABLES = 3, FAMILY_TEXT = PATH_MAX + 16 };

struct asked {
    struct tool_options tool;
    bool undirected;
    struct graph_tables given;
    double nodes, degree, graphs, seed; /* NAN: not given */
    double mem_limit;
};

/* A number in the flag's range; the degree alone need not be whole. */
static bool read_amount(const struct argument *a, struct message *error)
{
    const struct flag *f = a->flag;
    double *field = (double *)((char *)a->options + f->field);
    bool whole = f->field != offsetof(struct asked, degree);
    return parse_number(a->value, whole, f->min, f->max, field) ||
           complain(error, "--%s %.200s: %s from %.10g to %.16g", f->name, a->value,
                    whole ? "a whole number" : "a number", f->min, f->max);
}

#define FIELD(name)  offsetof(struct asked, name)
#define AMOUNT(name) FLAG_OTHER, .field = FIELD(name), .read = read_amount

enum { READING, DESCRIBE, GENERATE, OTHERS };
static const char *const headings[] = {
    "Reading (describe, convert):", "describe:", "generate:", "Others:", NULL};

static const struct flag flags[] = {
    {READING, "undirected", NULL, "add to each edge the one back, unless the format has both", FLAG_ON,
     .field = FIELD(undirected)},
    {DESCRIBE, "data", "KIND=FILE",
     "features, edge-features or labels, as .npy or text; none: not those of the folder", FLAG_OTHER,
     .repeats = true, .field = FIELD(given), .read = data_read},
    {GENERATE, "nodes", "N", "nodes of a graph, in a batch on average; stand-ins have their own",
     AMOUNT(nodes), .min = 1, .max = (double)CSR_MAX_NODES},
    {GENERATE, "degree", "X", "mean degree (default 5)", AMOUNT(degree), .min = 0, .max = 1e9},
    {GENERATE, "batch", "B", "graphs in the file (default 1)", AMOUNT(graphs), .min = 1,
     .max = (double)CSR_MAX_NODES},
    {GENERATE, "seed", "N", "seed of the random numbers (default 42)", AMOUNT(seed), .min = 0,
     .max = 0x1p53 - 1},
    {OTHERS, "mem-limit", "SIZE", "refuse what needs more, as 2GiB (default: the free memory)", FLAG_SIZE,
     .field = FIELD(mem_limit)},
    {OTHERS, .name = "version", .help = "version and how this was built", .kind = FLAG_ON,
     .field = offsetof(struct tool_options, version)},
    {OTHERS, .name = "help", .help = "print this help", .kind = FLAG_ON,
     .field = offsetof(struct tool_options, help)},
    {.name = NULL},
};

static const char *const examples[] = {"describe roads.mtx.gz",
                                       "describe MUTAG --undirected",
                                       "describe edges.txt --data features=x.npy --data labels=y.csv",
                                       "convert roads.mtx.gz roads.graph",
                                       "generate rmat --nodes 1M --degree 16 edges.txt.gz",
                                       NULL};

static const struct syntax syntax = {
    .doc = "describes, converts and generates graph files",
    .operands = "describe FILE | convert FILE OUT | generate FAMILY OUT",
    .needs = "a command: describe, convert or generate",
    .limit = "more than a command and two names",
    .fewest = 1,
    .most = 3,
    .headings = headings,
    .flags = flags,
    .notes = "\n"
             "FILE may be an edge list (names:FILE where nodes have names), arrays of NumPy (.npy, .npz), a\n"
             "Matrix Market file (*.mtx), a METIS file (*.graph, *.metis), each also as .gz, or a folder of\n"
             "TUDataset or OGB, whose tables are described, too. OUT is what its name says: *.mtx, *.graph,\n"
             "*.metis or, with any other name, an edge list; .gz compresses it. It is complete, or not\n"
             "written. Families are those of --graph of the benchmarks. docs/models.md says what is read of\n"
             "each format.\n"
             "\n",
    .examples = examples,
    .status = "0; 1 OUT was not written; 2 the command line or FILE is wrong.\n",
};

static bool is_stopped(const void *context)
{
    (void)context;
    return interrupt_signal() != 0;
}

static struct graph_limits limits_of(const struct asked *o)
{
    double memory = o->mem_limit > 0 ? o->mem_limit : (double)machine_memory_free();
    return (struct graph_limits){(int64_t)memory, {is_stopped, NULL}};
}

/* The status of what failed with this one, or was interrupted. */
static int failed(int status)
{
    return interrupt_signal() ? 128 + interrupt_signal() : status;
}

/* Reads a file or folder, and says how --graph names it. */
static bool read_graph(const struct asked *o, const char *path, char family[FAMILY_TEXT], struct batch *b,
                       struct message *error)
{
    struct graph_config c = {.family = family, .nodes = 1, .graphs = 1, .limits = limits_of(o)};
    if (snprintf(family, FAMILY_TEXT, "%s:%s", o->undirected ? "undirected" : "file", path) >= FAMILY_TEXT)
        return complain(error, "%.200s: the path is too long", path);
    if (!batch_generate(b, &c, error->text, sizeof error->text))
        return false;
    if (b->notes.header)
        fprintf(stderr, "note: %s\n", b->notes.header);
    if (b->notes.columns)
        fprintf(stderr, "note: %s\n", b->notes.columns);
    return true;
}

struct described {
    const char *name, *path;
    bool node, edge, graph; /* what it may have a row for */
    struct number_table table;
};

/* Reads a table, which must have a row for each node, edge or graph. */
static bool read_table(struct described *d, const struct batch *b, const struct graph_source *s,
                       struct message *error)
{
    char wanted[160] = "", gap[160] = "";
    const struct {
        bool allowed;
        int64_t rows;
        const char *what;
    } owners[] = {
        {d->node, b->adj.nodes, "node"}, {d->edge, b->entries, "edge"}, {d->graph, b->graphs, "graph"}};
    if (!table_read(&d->table, d->path, (struct cancel){is_stopped, NULL}, error->text, sizeof error->text))
        return false;
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
        size_t used = strlen(wanted);
        if (owners[i].allowed && owners[i].rows == d->table.rows)
            return true;
        if (owners[i].allowed)
            snprintf(wanted + used, sizeof wanted - used, "%s%lld %s%s", used ? " or " : "",
                     (long long)owners[i].rows, owners[i].what, owners[i].rows == 1 ? "" : "s");
    }
    if (d->node)
        graph_file_say_gap(s, d->table.rows, gap, sizeof gap);
    return complain(error, "%.200s: %lld rows for %s%s", d->path, (long long)d->table.rows, wanted, gap);
}

/* The tables of the flags and of a folder; returns how many. */
static int find_tables(const struct asked *o, const struct dataset *d,
                       struct described all[TABLES + DATASET_TABLES])
{
    static const char *const names[TABLES] = {"node features", "edge features", "labels"};
    const char *const files[TABLES] = {o->given.features, o->given.edge_features, o->given.labels};
    int count = 0;
    for (int i = 0; i < d->tables; i++) {
        const struct dataset_table *t = &d->table[i];
        if (!graph_table_none(graph_table_given(&o->given, d, t)))
            all[count++] = (struct described){.name = t->name,
                                              .path = t->path,
                                              .node = t->of == TABLE_OF_NODES,
                                              .edge = t->of == TABLE_OF_EDGES,
                                              .graph = t->of == TABLE_OF_GRAPHS};
    }
    for (int i = 0; i < TABLES; i++)
        if (files[i] && !graph_table_none(files[i]))
            all[count++] = (struct described){
                .name = names[i], .path = files[i], .node = i != 1, .edge = i != 0, .graph = i == 2};
    return count;
}

static bool describe_batch(const struct asked *o, const char *family, const struct batch *b,
                           struct message *error)
{
    struct dataset d = {.tables = 0};
    struct described all[TABLES + DATASET_TABLES];
    char unused[MESSAGE_SIZE];
    enum graph_format format;
    struct graph_file_name name;
    graph_file_name(family, &name);
    if (!graph_format_find(name.path, &format, error->text, sizeof error->text))
        return false;
    if (format == GRAPH_TU || format == GRAPH_OGB)
        dataset_find(&d, name.path, unused, sizeof unused);
    const struct graph_source s = {name.path, o->undirected, limits_of(o), unused, sizeof unused, name.names};
    int count = find_tables(o, &d, all);
    for (int i = 0; i < count; i++)
        if (!read_table(&all[i], b, &s, error))
            return false;
    plain_put(stdout, name.path);
    printf(": %s\n\n", graph_format_name(format));
    if (!graph_facts_print(stdout, b, error))
        return false;
    for (int i = 0; i < count; i++)
        graph_facts_table(stdout, all[i].name, &all[i].table);
    return true;
}

static int describe_file(const struct asked *o, char **names, struct message *error)
{
    char family[FAMILY_TEXT];
    struct batch b;
    if (!read_graph(o, names[0], family, &b, error))
        return failed(EXIT_USAGE);
    bool done = describe_batch(o, family, &b, error);
    batch_free(&b);
    return done ? EXIT_GOOD : failed(EXIT_USAGE);
}

struct output {
    const struct batch *batch;
    enum graph_format format;
    bool gzip;
};

static bool write_output(const void *document, FILE *out)
{
    const struct output *w = document;
    return graph_write(w->batch, w->format, w->gzip, out, (struct cancel){is_stopped, NULL});
}

static int save_batch(const struct batch *b, const char *path, struct message *error)
{
    size_t length = strlen(path);
    struct output w = {b, graph_format_named(path), length > 3 && strcmp(path + length - 3, ".gz") == 0};
    const char *reason = graph_unwritable(b, w.format);
    if (reason)
        return refuse(error, "%.300s: a %s file %s", path, graph_format_name(w.format), reason);
    if (!file_can_save(path, error->text) || !file_save(path, write_output, &w, error->text))
        return failed(EXIT_MISSED);
    plain_put(stdout, path);
    printf(": %s, %lld %s, %lld nodes, %lld directed edges\n", graph_format_name(w.format),
           (long long)b->graphs, b->graphs == 1 ? "graph" : "graphs", (long long)b->adj.nodes,
           (long long)b->adj.edges);
    return EXIT_GOOD;
}

static int convert_file(const struct asked *o, char **names, struct message *error)
{
    char family[FAMILY_TEXT];
    struct batch b;
    if (!read_graph(o, names[0], family, &b, error))
        return failed(EXIT_USAGE);
    int status = save_batch(&b, names[1], error);
    batch_free(&b);
    return status;
}

static double or_default(double value, double standard)
{
    return isnan(value) ? standard : value;
}

static int generate_file(const struct asked *o, char **names, struct message *error)
{
    struct graph_config c = {.family = names[0],
                             .nodes = (int64_t)or_default(o->nodes, 0),
                             .degree = or_default(o->degree, 5),
                             .graphs = (int64_t)or_default(o->graphs, 1),
                             .seed = (uint64_t)or_default(o->seed, 42),
                             .limits = limits_of(o)};
    struct batch b;
    if (graph_is_file(c.family))
        return refuse(error, "generate %.200s: a family of graphs; convert reads files", c.family);
    const struct graph_shape *shape = graph_shape_of(c.family);
    if (shape && !(isnan(o->nodes) && isnan(o->degree)))
        return refuse(error, "generate %.200s --%s: the stand-in determines it", c.family,
                      isnan(o->nodes) ? "degree" : "nodes");
    if (!shape && isnan(o->nodes))
        return refuse(error, "generate: needs --nodes N");
    if (!batch_generate(&b, &c, error->text, sizeof error->text))
        return failed(EXIT_USAGE);
    int status = save_batch(&b, names[1], error);
    batch_free(&b);
    return status;
}

static const struct command {
    const char *name, *operands;
    int count; /* of operands */
    bool reads, describes, generates;
    int (*run)(const struct asked *o, char **names, struct message *error);
} commands[] = {
    {"describe", "FILE", 1, true, true, false, describe_file},
    {"convert", "FILE OUT", 2, true, false, false, convert_file},
    {"generate", "FAMILY OUT", 2, false, false, true, generate_file},
    {.name = NULL},
};

static bool check_flags(const struct asked *o, const struct command *c, struct message *error)
{
    bool tables = o->given.features || o->given.edge_features || o->given.labels;
    bool amounts = !isnan(o->nodes) || !isnan(o->degree) || !isnan(o->graphs) || !isnan(o->seed);
    if (o->undirected && !c->reads)
        return complain(error, "--undirected: not with %s, whose graphs are undirected", c->name);
    if (tables && !c->describes)
        return complain(error, "--data: with describe only");
    if (amounts && !c->generates)
        return complain(error, "--nodes, --degree, --batch, --seed: with generate only");
    return true;
}

static int graph_run(void *options, int count, char **words, struct message *error)
{
    struct suggestion s = {.wanted = words[0], .length = strlen(words[0])};
    char nearest[SUGGESTION_TEXT];
    interrupt_watch();
    for (const struct command *c = commands; c->name; c++) {
        suggest_offer(&s, c->name);
        if (strcmp(words[0], c->name) != 0)
            continue;
        if (count - 1 != c->count)
            return refuse(error, "%s: needs %s; see --help", c->name, c->operands);
        return check_flags(options, c, error) ? c->run(options, words + 1, error) : EXIT_USAGE;
    }
    return refuse(error, "%.200s: describe, convert or generate%s", words[0], suggest_text(&s, "", nearest));
}

int main(int argc, char **argv)
{
    struct asked o = {.nodes = NAN, .degree = NAN, .graphs = NAN, .seed = NAN};
    return tool_main(&syntax, &o.tool, graph_run, argc, argv);
}
