#include "bench/cli/command_line.h"

#include <stdio.h>

#include "analysis/tables/wrap.h"
#include "bench/cli/presets.h"
#include "graphs/family.h"
#include "kernels/converted.h"
#include "models/layers/model.h"

static void put_name(FILE *out, const char *name, const char *doc)
{
    int at = fprintf(out, "%-20s ", name);
    wrap_text(out, doc, at, at);
}

static void put_models(FILE *out, const struct model *m)
{
    for (; m && m->name; m++)
        put_name(out, m->name, m->doc);
}

void list_models(FILE *out, const struct model *others)
{
    put_models(out, models);
    put_models(out, others);
}

void list_presets(FILE *out)
{
    char text[512];
    for (const struct preset *p = presets; p->name; p++) {
        preset_describe(p, text, sizeof text);
        put_name(out, p->name, text);
    }
}

static void put_family(FILE *out, const struct graph_family *f)
{
    char text[512];
    int used = snprintf(text, sizeof text, "%s", f->doc);
    for (int i = 0; i < graph_family_parameters(f); i++)
        used += snprintf(text + used, sizeof text - (size_t)used, "; %s=%g: %s", f->parameter[i].name,
                         f->parameter[i].standard, f->parameter[i].doc);
    put_name(out, f->name, text);
}

static void put_shape(FILE *out, const struct graph_shape *s)
{
    char text[256];
    snprintf(text, sizeof text, "synthetic stand-in: %s, %g nodes and %g directed edges on average (%s)",
             s->doc, s->nodes, s->edges, s->graph);
    put_name(out, s->name, text);
}

void list_graphs(FILE *out)
{
    for (const struct graph_family *f = graph_families; f->name; f++)
        put_family(out, f);
    for (const struct graph_shape *s = graph_shapes; s->name; s++)
        put_shape(out, s);
    put_name(out, "NAME:KEY=VALUE,...", "a family with other parameters: sbm:blocks=8,p_in=.1");
    put_name(out, "NAME:giant", "the largest component of one of these");
    put_name(out, "file:PATH",
             "read from an edge list, Matrix Market or METIS file, or a folder of TUDataset or OGB");
    put_name(out, "undirected:PATH", "the same, with the edge back to each");
    put_name(out, "unique:PATH", "as undirected:PATH, each edge once");
}

/* The rows of this type, without those that convert; after the text, if there are any. */
static bool put_typed(FILE *out, const struct backend *b, struct form f, enum dtype dtype, const char *text)
{
    bool any = false;
    for (; b; b = b->base)
        for (int i = 0; i < b->count; i++) {
            const struct kernel *k = &b->kernels[i];
            if (k->op != f.op || k->dtype != dtype || k != converted_over(k) ||
                !kernel_supports(k, f.options))
                continue;
            fprintf(out, "%s %s", any ? "" : text, k->variant);
            any = true;
        }
    return any;
}

static void put_variants(FILE *out, const struct backend *b, struct form f)
{
    fprintf(out, "    %s:", f.options ? form_name(f) : "variants");
    bool any = put_typed(out, b, f, F32, "");
    fputs(any ? "\n" : " none\n", out);
    if (put_typed(out, b, f, BF16, "    in bf16 without conversion:"))
        fputc('\n', out);
}

void list_ops(FILE *to, const struct backend *b)
{
    struct wrap w;
    FILE *out = wrap_begin(&w, to);
    for (int i = 0; form_at(i).op < OPS; i++) {
        struct form f = form_at(i);
        const struct op_info *info = op_info(f.op);
        if (!f.options)
            fprintf(out, "%s: %s\n    FLOPs: %s\n", info->name, info->doc, info->flops_formula);
        put_variants(out, b, f);
    }
    wrap_end(&w);
}
