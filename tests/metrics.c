/* The generated sections of pages in docs/: see metrics.h. */
#include "tests/metrics.h"

#include <inttypes.h>
#include <string.h>

#include "analysis/record/schema.h"
#include "bench/cli/command_line.h"
#include "bench/cli/config.h"
#include "bench/cli/presets.h"
#include "graphs/family.h"
#include "tests/schema_page.h"

/* --- minimum bytes */

static struct bytes_term *term_of(struct bytes_formula *f, const struct operand *o)
{
    enum role role = o->role == ROLE_OFFSETS || o->role == ROLE_ROW_PTR ? ROLE_OFFSETS : ROLE_IN;
    for (int i = 0; i < f->count; i++) {
        struct bytes_term *t = &f->terms[i];
        if (t->rows == o->rows && t->cols == o->cols && t->dtype == o->dtype && t->role == role)
            return t;
    }
    f->terms[f->count] = (struct bytes_term){o->rows, o->cols, role, o->dtype, 0, 0, 0};
    return &f->terms[f->count++];
}

struct bytes_formula bytes_formula_of(enum op op)
{
    struct bytes_formula f = {.info = op_info(op)};
    for (int i = 0; i < f.info->operand_count; i++) {
        const struct operand *o = &f.info->operands[i];
        if (!operand_is_mat(o) || o->carried)
            continue;
        struct bytes_term *t = term_of(&f, o);
        if (o->role == ROLE_GRAD || o->role == ROLE_SAVE || o->role == ROLE_OPT || o->option)
            t->present |= 1u << i;
        else
            t->always += o->role == ROLE_INOUT ? 2 : 1;
        t->accumulated |= o->role == ROLE_GRAD ? 1u << i : 0;
    }
    return f;
}

/* How often the call reads or writes a matrix of the term's shape. */
static int accesses(const struct bytes_formula *f, const struct bytes_term *t, const void *args)
{
    int times = t->always;
    for (int i = 0; i < f->info->operand_count; i++) {
        if (t->present >> i & 1)
            times += mat_present(*operand_mat(&f->info->operands[i], args));
        if (t->accumulated >> i & 1)
            times += operand_mat(&f->info->operands[i], args)->acc;
    }
    return times;
}

/* Element size of the matrices that share a dtype. */
static size_t shared_size(const struct bytes_formula *f, const void *args)
{
    for (int i = 0; i < f->info->operand_count; i++) {
        const struct operand *o = &f->info->operands[i];
        if (operand_is_mat(o) && o->dtype == DTYPE_NONE && mat_present(*operand_mat(o, args)))
            return dtype_size(operand_mat(o, args)->dtype);
    }
    return 0;
}

int64_t bytes_formula_value(const struct bytes_formula *f, const void *args, const int64_t dims[DIMS])
{
    int64_t bytes = 0;
    for (int n = 0; n < f->count; n++) {
        const struct bytes_term *t = &f->terms[n];
        size_t size = t->dtype == DTYPE_NONE ? shared_size(f, args) : dtype_size(t->dtype);
        int64_t rows = dims[t->rows] + (t->role == ROLE_OFFSETS);
        bytes += accesses(f, t, args) * rows * dims[t->cols] * (int64_t)size;
    }
    return bytes;
}

/* Writes "(1 + HAS(dx) + ACC(dx))", the multiplicity of a shape; returns the number of summands. */
static int write_times(const struct bytes_formula *f, const struct bytes_term *t, FILE *out)
{
    char text[512] = "";
    int used = 0, summands = 0;
    if (t->always && t->present)
        used = sprintf(text, "%d", t->always), summands++;
    for (int i = 0; i < f->info->operand_count; i++) {
        if (t->present >> i & 1)
            used += snprintf(text + used, sizeof text - (size_t)used, "%sHAS(%s)", summands++ ? " + " : "",
                             f->info->operands[i].name);
        if (t->accumulated >> i & 1)
            used += snprintf(text + used, sizeof text - (size_t)used, "%sACC(%s)", summands++ ? " + " : "",
                             f->info->operands[i].name);
    }
    fprintf(out, summands > 1 ? "(%s)" : "%s", text);
    return summands;
}

/* Writes a product and its multiplicity: "7 * N * M", "(1 + HAS(pre)) * N * M", "8 * (B + 1)". */
static void write_term(const struct bytes_formula *f, const struct bytes_term *t, FILE *out)
{
    int64_t number = t->dtype == DTYPE_NONE ? 1 : (int64_t)dtype_size(t->dtype);
    const enum dim dims[] = {t->rows, t->cols};
    number *= t->present ? 1 : t->always;
    for (int d = 0; d < 2; d++)
        number *= dims[d] == DIM_2 ? 2 : 1;
    int factors = 0;
    if (number != 1)
        factors += fprintf(out, "%" PRId64, number) > 0;
    if (t->present) {
        fputs(factors ? " * " : "", out);
        factors += write_times(f, t, out) > 0;
    }
    for (int d = 0; d < 2; d++) {
        if (dims[d] == DIM_1 || dims[d] == DIM_2)
            continue;
        const char *form = d == 0 && t->role == ROLE_OFFSETS ? "%s(%s + 1)" : "%s%s";
        factors += fprintf(out, form, factors ? " * " : "", dim_name(dims[d])) > 0;
    }
    if (!factors)
        fputs("1", out);
}

void bytes_formula_write(const struct bytes_formula *f, FILE *out)
{
    int shared = 0, written = 0;
    for (int n = 0; n < f->count; n++)
        shared += f->terms[n].dtype == DTYPE_NONE;
    fputs(shared > 1 ? "s * (" : shared ? "s * " : "", out);
    for (int n = 0; n < f->count; n++)
        if (f->terms[n].dtype == DTYPE_NONE) {
            fputs(written++ ? " + " : "", out);
            write_term(f, &f->terms[n], out);
        }
    fputs(shared > 1 ? ")" : "", out);
    for (int n = 0; n < f->count; n++)
        if (f->terms[n].dtype != DTYPE_NONE) {
            fputs(written++ ? " + " : "", out);
            write_term(f, &f->terms[n], out);
        }
}

/* --- ops */

/* Writes text as code in a table cell. */
static void write_code(const char *text, FILE *out)
{
    putc('`', out);
    for (; *text; text++)
        fprintf(out, *text == '|' ? "\\%c" : "%c", *text);
    putc('`', out);
}

/* What an op does with operands of this role. */
static const char *role_verb(enum role role)
{
    static const char *const verbs[] = {
        [ROLE_OUT] = "writes",
        [ROLE_GRAD] = "writes or adds to",
        [ROLE_SAVE] = "saves",
        [ROLE_INOUT] = "updates",
        [ROLE_IN] = "reads",
        [ROLE_OPT] = "reads if given",
        [ROLE_OFFSETS] = "graphs from",
        [ROLE_ROW_PTR] = "edges from",
        [ROLE_INDEX] = "edges from",
        [ROLE_NUMBERS] = "edges from",
        [ROLE_SIZE] = "takes",
        [ROLE_ATTR] = "takes",
    };
    return verbs[role];
}

static const char *attribute_at(const struct op_info *info, size_t at)
{
    const struct operand *o = info->operands;
    while (o->at != at)
        o++;
    return o->name;
}

static void write_shape(const struct op_info *info, const struct operand *o, FILE *out)
{
    if (o->role == ROLE_SIZE)
        fprintf(out, " = %s", dim_name(o->rows));
    else if (o->role == ROLE_OFFSETS || o->role == ROLE_ROW_PTR)
        fprintf(out, " (%s + 1) x 1", dim_name(o->rows));
    else if (operand_is_mat(o))
        fprintf(out, " %s x %s", dim_name(o->rows), dim_name(o->cols));
    if (operand_is_mat(o) && o->dtype != DTYPE_NONE)
        fprintf(out, " %s", dtype_name(o->dtype));
    if (o->saved_if)
        fprintf(out, " if `%s`", attribute_at(info, o->saved_if));
    if (o->option)
        fprintf(out, " with %s", o->option);
}

/* Whether the shape of the second is written for both. */
static bool is_alike(const struct operand *a, const struct operand *b)
{
    return role_verb(a->role) == role_verb(b->role) && operand_is_mat(a) && operand_is_mat(b) &&
           a->rows == b->rows && a->cols == b->cols && a->dtype == b->dtype && a->saved_if == b->saved_if;
}

/* "reads `q`, `k` N x D, `lse` N x H f64; takes `heads` = H" */
static void write_operands(const struct op_info *info, FILE *out)
{
    const struct operand *before = NULL;
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        if (o->carried)
            continue;
        if (before && !is_alike(before, o))
            write_shape(info, before, out);
        if (before && role_verb(before->role) == role_verb(o->role))
            fputs(", ", out);
        else
            fprintf(out, "%s%s ", before ? "; " : "", role_verb(o->role));
        write_code(o->name, out);
        before = o;
    }
    write_shape(info, before, out);
}

static void write_ops(FILE *out)
{
    fputs("| op | mathematics | operands |\n|---|---|---|\n", out);
    for (enum op op = 0; op < OPS; op++) {
        const struct op_info *info = op_info(op);
        fprintf(out, "| `%s` | ", info->name);
        write_code(info->doc, out);
        fputs(" | ", out);
        write_operands(info, out);
        fputs(info->host ? "; on the host only |\n" : " |\n", out);
    }
}

/* Writes a formula of ops.def, without the access of attributes through the arguments. */
static void write_formula(const char *text, FILE *out)
{
    for (; *text; text++)
        if (strncmp(text, "a->", 3) == 0)
            text += 2;
        else
            putc(*text, out);
}

static void write_costs(FILE *out)
{
    fputs("| op | FLOPs | minimum bytes |\n|---|---|---|\n", out);
    for (enum op op = 0; op < OPS; op++) {
        struct bytes_formula bytes = bytes_formula_of(op);
        fprintf(out, "| `%s` | `", bytes.info->name);
        write_formula(bytes.info->flops_formula, out);
        fputs("` | `", out);
        bytes_formula_write(&bytes, out);
        fputs("` |\n", out);
    }
}

/* The cost that an activation adds to one output of a linear layer, forward and backward. */
static void write_activations(FILE *out)
{
    struct mat one = {.rows = 1, .cols = 1, .ld = 1, .dtype = F32};
    fputs("| `act` | `act_flops` | `act_backward_flops` |\n|---|--:|--:|\n", out);
    for (int act = 0; act < ACT_KINDS; act++) {
        struct linear_args plain = {.x = one, .w = one}, forward = plain;
        struct linear_backward_args plain_backward = {.dx = one, .dy = one, .x = one, .w = one, .pre = one},
                                    backward = plain_backward;
        forward.act = backward.act = act;
        fprintf(out, "| `%s` | %" PRId64 " | %" PRId64 " |\n", activation_name(act),
                op_flops(OP_linear, &forward) - op_flops(OP_linear, &plain),
                op_flops(OP_linear_backward, &backward) - op_flops(OP_linear_backward, &plain_backward));
    }
}

/* What other counters count (models/tape/conventions.def). */
static void write_conventions(FILE *out)
{
    static const char *const lines[][6] = {
#define COUNT(op, seed, torch, fvcore, deepspeed, why) {#op, #seed, #torch, #fvcore, #deepspeed, why},
#include "models/tape/conventions.def"
    };
    fputs("| op | `seed` | `torch` | `fvcore` | `deepspeed` | why |\n|---|---|---|---|---|---|\n", out);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        for (int cell = 0; cell < 5; cell++) {
            fputs("| `", out);
            write_formula(lines[i][cell], out);
            fputs("` ", out);
        }
        fprintf(out, "| %s |\n", lines[i][5]);
    }
}

/* --- axes and the canonical workload */

/* Axes with named values are explained as fields are, which does not list them again; numbers by the help. */
static void write_axes(FILE *out)
{
    fputs("| axis | field | default | values | meaning |\n|---|---|---|---|---|\n", out);
    enum axis order[AXES];
    axes_swept(order);
    for (int a = 0; a < AXES; a++) {
        const struct axis_info *axis = axis_info(order[a]);
        fprintf(out, "| `--%s` | `%s` | %s | ", axis->name, axis->field, axis->standard);
        if (!axis->choice)
            fprintf(out, "%.10g to %.10g", axis->min, axis->max);
        for (int i = 0; axis->choice && axis->choice(i); i++)
            fprintf(out, "%s%s", i ? ", " : "", axis->choice(i));
        fprintf(out, " | %s |\n", axis->choice ? schema_find(axis->field)->meaning : axis->help);
    }
}

static void write_workload(FILE *out)
{
    const struct bench all_defaults = {.axis = AXIS_NODES, .values = axis_info(AXIS_NODES)->standard};
    char program[] = "bench", *argv[] = {program, NULL};
    struct options o;
    struct message error;
    if (options_parse(&all_defaults, NULL, 1, argv, &o, &error)) {
        fprintf(out, "Its work id is `%s`, its seed %" PRIu64 ".\n", o.plan.list->work, o.seed);
    }
    options_free(&o);
}

/* --- models */

static void write_graph_shapes(FILE *out)
{
    fputs("| stand-in | graphs | nodes | directed edges | drawn as |\n|---|---|--:|--:|---|\n", out);
    for (const struct graph_shape *s = graph_shapes; s->name; s++)
        fprintf(out, "| `%s` | %s | %g | %g | `%s` |\n", s->name, s->doc, s->nodes, s->edges, s->graph);
}

static void write_presets(FILE *out)
{
    fputs("| preset | layers x hidden size | layer | encoding | graphs, published | parameters |\n"
          "|---|---|---|---|---|--:|\n",
          out);
    for (const struct preset *p = presets; p->name; p++) {
        const struct model_config *c = &p->parts;
        char pe[64];
        encoding_format(&c->pe, pe, sizeof pe);
        fprintf(out, "| `%s` | %" PRId64 " x %" PRId64 " | %s, %s, %" PRId64 " heads | %s | ", p->name,
                c->layers, c->hidden, mpnn_name((int)c->mpnn), attention_name((int)c->attention), c->heads,
                c->pe.kind ? pe : "none");
        fprintf(out, "%" PRId64 ", %" PRId64 " | %" PRId64 "%s |\n", p->graph.graphs, p->batch, p->parameters,
                p->status == PRESET_EXACT ? "" : " *");
    }
}

static const char fields_page[] = "docs/fields.md", ops_page[] = "docs/ops.md",
                  models_page[] = "docs/models.md";

const struct section metrics_sections[] = {
    {fields_page, "axes", write_axes},
    {fields_page, "workload", write_workload},
    {fields_page, "fields", schema_write_markdown},
    {fields_page, "fits", schema_write_fit_markdown},
    {ops_page, "ops", write_ops},
    {ops_page, "costs", write_costs},
    {ops_page, "activations", write_activations},
    {ops_page, "conventions", write_conventions},
    {models_page, "shapes", write_graph_shapes},
    {models_page, "presets", write_presets},
    {NULL, NULL, NULL},
};
