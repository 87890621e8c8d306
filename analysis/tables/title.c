#include "analysis/tables/table.h"

#include "analysis/statistics/allocate.h"
#include "analysis/tables/wrap.h"

struct title {
    const struct table *table;
    const struct table_line *lines;
    size_t n;
    FILE *out;
    const char *separator; /* before the next part */
};

/* The value of an axis that is not a column and the same in all rows; false: there is none, or it is "none".
 */
static bool fixed(const struct title *t, const char *path, char text[AXES_TEXT])
{
    const struct field *axis = schema_find(path);
    const struct row *row = t->lines[0].row;
    if (table_has_axis(t->table, path))
        return false;
    for (size_t i = 1; i < t->n; i++)
        if (row_order(row, t->lines[i].row, axis) != 0)
            return false;
    axes_text(row, axis, text);
    return *text && strcmp(text, "none") != 0;
}

__attribute__((format(printf, 2, 3))) static void add_part(struct title *t, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    fputs(t->separator, t->out);
    vfprintf(t->out, format, values);
    va_end(values);
    t->separator = ", ";
}

static const char *plural_of(const char *count)
{
    return strcmp(count, "1") == 0 ? "" : "s";
}

static void add_layers(struct title *t)
{
    char layers[AXES_TEXT], width[AXES_TEXT];
    bool has_layers = !t->lines[0].row->op && fixed(t, "layers", layers),
         has_width = fixed(t, "hidden", width);
    if (has_layers && has_width)
        add_part(t, "%s layer%s, hidden size %s", layers, plural_of(layers), width);
    else if (has_layers)
        add_part(t, "%s layer%s", layers, plural_of(layers));
    else if (has_width)
        add_part(t, "hidden size %s", width);
}

/* "gps, 6 layers, hidden size 256, dense attention + gin" */
static void add_model(struct title *t)
{
    char preset[AXES_TEXT], model[AXES_TEXT] = "", attention[AXES_TEXT], mpnn[AXES_TEXT];
    if (fixed(t, "preset", preset))
        add_part(t, "%s", preset);
    if (fixed(t, "model", model))
        add_part(t, "%s", model);
    add_layers(t);
    bool attends = fixed(t, "attention", attention);
    bool passes = fixed(t, "mpnn", mpnn) && strcmp(mpnn, model) != 0;
    if (attends)
        add_part(t, "%s attention%s%s", attention, passes ? " + " : "", passes ? mpnn : "");
    else if (passes)
        add_part(t, "%s", mpnn);
}

/* "32 graphs of 500 nodes, er degree 5"; "graphs of 32 nodes" where the batch is a column. */
static void add_graph(struct title *t)
{
    char nodes[AXES_TEXT], graphs[AXES_TEXT], family[AXES_TEXT], degree[AXES_TEXT];
    bool several = fixed(t, "batch", graphs) && strcmp(graphs, "1") != 0,
         has_nodes = fixed(t, "nodes", nodes);
    bool has_family = fixed(t, "graph.family", family), has_degree = fixed(t, "degree", degree);
    if (several)
        add_part(t, "%s graphs%s%s%s", graphs, has_nodes ? " of " : "", has_nodes ? nodes : "",
                 has_nodes ? " nodes" : "");
    else if (has_nodes)
        add_part(t, "%s%s nodes", table_has_axis(t->table, "batch") ? "graphs of " : "", nodes);
    if (has_family || has_degree)
        add_part(t, "%s%s%s%s", has_family ? family : "", has_family && has_degree ? " " : "",
                 has_degree ? "degree " : "", has_degree ? degree : "");
}

/* Whether other parts of the title say the axis: where its default is not a value of its own, or decided by
 * others. */
static bool is_said(const char *path)
{
    static const char *const said[] = {"preset",  "model",  "attention", "mpnn",   "nodes",
                                       "degree",  "batch",  "layers",    "hidden", "graph.family",
                                       "threads", "solver", NULL};
    return has_name(said, path);
}

/* Other axes that are not at their default: "dropout 0.1". */
static void add_others(struct title *t)
{
    static const struct {
        const char *path, *standard;
    } axes[] = {
#define AXIS(id, flag, group, name, kind, place, standard, ...) {SCHEMA_PATH_OF(group, name), standard},
#include "analysis/record/axes.def"
    };
    const struct row *row = t->lines[0].row;
    for (size_t i = 0; i < sizeof axes / sizeof *axes; i++) {
        char text[AXES_TEXT];
        bool ffn = strcmp(axes[i].path, "ffn") == 0; /* by default twice the width */
        if (is_said(axes[i].path) || !fixed(t, axes[i].path, text) || strcmp(text, axes[i].standard) == 0 ||
            (ffn && row->ffn == 2 * row->hidden))
            continue;
        axes_describe(row, schema_find(axes[i].path), text);
        add_part(t, "%s", text);
    }
}

/* "2 threads, avx512" */
static void add_place(struct title *t, const struct value *head)
{
    static const char compiled[] = "compiled for ";
    char threads[AXES_TEXT], device[AXES_TEXT];
    const char *isa = NULL, *last;
    t->separator = "; ";
    if (fixed(t, "threads", threads))
        add_part(t, "%s thread%s", threads, plural_of(threads));
    if (!fixed(t, "device", device))
        return;
    bool on_host = strcmp(device, "cpu") == 0 && value_get_text(head, "host.instruction_set", &isa);
    last = on_host ? strstr(isa, compiled) : NULL;
    add_part(t, "%s",
             strcmp(device, "meta") == 0        ? "planned for the CPU, not run"
             : strcmp(device, "meta:cuda") == 0 ? "planned for a GPU, not run"
             : last                             ? last + strlen(compiled)
             : on_host                          ? isa
                                                : device);
}

static void add_benchmark(struct title *t, const struct value *head)
{
    static const char prefix[] = "bench_";
    const char *name = value_text_or(head, "benchmark", "");
    name += strncmp(name, prefix, strlen(prefix)) == 0 ? strlen(prefix) : 0;
    for (; *name; name++)
        putc(*name == '_' ? ' ' : *name, t->out);
    t->separator = ": ";
}

void title_print(const struct table *t, const struct value *head, const struct table_line *lines, size_t n)
{
    char *text;
    size_t size;
    if (n == 0)
        return;
    struct title title = {.table = t, .lines = lines, .n = n, .out = open_text(&text, &size)};
    add_benchmark(&title, head);
    add_model(&title);
    add_graph(&title);
    add_others(&title);
    add_place(&title, head);
    fclose(title.out);
    wrap_within(t->out, text, table_width(t), 4);
    if (t->style == TABLE_MARKDOWN)
        putc('\n', t->out);
    free(text);
}
