#include "kernels/plugin_rows.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/gtmark_plugin.h"
#include "kernels/guest.h"
#include "kernels/plugin_clash.h"

/* A row is a backend of its own, so that a kernel leads to its entry and its device. */
struct plugin_row {
    struct kernel kernel; /* first */
    const struct gtmark_entry *entry;
    struct backend table;
    struct plugin *plugin;
    char name[GUEST_NAME]; /* add=mine */
    void *state;           /* of a function that is set up */
    bool is_set_up;
};

enum { CHAIN_MAX = 4, ENTRIES_MAX = 4096 };

/* More than this, a sum of sizes might overflow. */
static const int64_t scratch_most = INT64_C(1) << 46;

struct plugin {
    const char *path;
    const void *models;
    struct plugin_row *rows;
    int count;
    struct backend chain[CHAIN_MAX];
    const struct plugin_listener *listener;
    char fault[256]; /* since plugin_recover; no entry is called any more */
};

static struct plugin_row *row_of(const struct kernel *k)
{
    return (struct plugin_row *)(uintptr_t)k;
}

/* Calls. */

/* A call as the library sees it, and what it points to. */
struct view {
    struct gtmark_call call; /* first */
    const struct plugin_listener *listener;
    struct gtmark_matrix matrices[OPERANDS_MAX];
    struct gtmark_attribute attributes[OPERANDS_MAX];
};

static void run_team(const struct gtmark_call *call, void (*body)(void *data, int thread, int threads),
                     void *data)
{
#pragma omp parallel for num_threads(call->threads) schedule(static, 1)
    for (int i = 0; i < call->threads; i++)
        body(data, i, call->threads);
}

static void tell(const struct gtmark_call *call, enum plugin_report what, const char *name,
                 const char *metadata, double value)
{
    const struct plugin_listener *l = ((const struct view *)(const void *)call)->listener;
    if (l)
        l->hear(l->context, what, name, metadata, value);
}

static void enter_section(const struct gtmark_call *call, const char *name, const char *metadata)
{
    tell(call, PLUGIN_ENTER, name, metadata, 0);
}

static void leave_section(const struct gtmark_call *call, const char *name)
{
    tell(call, PLUGIN_LEAVE, name, NULL, 0);
}

static void record_metric(const struct gtmark_call *call, const char *name, double value, int32_t how)
{
    tell(call, how == GTMARK_MEAN ? PLUGIN_MEAN : PLUGIN_SUM, name, NULL, value);
}

static int32_t type_of(enum dtype dtype)
{
    static const int32_t types[DTYPES] = {
        [F32] = GTMARK_F32, [F64] = GTMARK_F64, [I32] = GTMARK_I32, [I64] = GTMARK_I64};
    return types[dtype];
}

static struct gtmark_attribute attribute_of(const struct operand *o, const void *args)
{
    const char *at = (const char *)args + o->at;
    if (strcmp(o->type, "double") == 0)
        return (struct gtmark_attribute){o->name, *(const double *)at, (int64_t) * (const double *)at};
    int64_t whole = strcmp(o->type, "int") == 0 ? *(const int *)at : *(const int64_t *)at;
    return (struct gtmark_attribute){o->name, (double)whole, whole};
}

static void view_of(const struct kernel *k, const void *args, struct view *v)
{
    const struct op_info *info = op_info(k->op);
    const struct call *call = args;
    v->call = (struct gtmark_call){.size = sizeof v->call,
                                   .threads = call->threads,
                                   .scratch = call->scratch,
                                   .matrices = v->matrices,
                                   .attributes = v->attributes,
                                   .team = run_team,
                                   .enter = enter_section,
                                   .leave = leave_section,
                                   .record = record_metric,
                                   .state = row_of(k)->state};
    v->listener = row_of(k)->plugin->listener;
    if (k->op == OP_function)
        return;
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand *o = &info->operands[i];
        if (!operand_is_mat(o)) {
            v->attributes[v->call.attribute_count++] = attribute_of(o, args);
            continue;
        }
        struct mat m = *operand_mat(o, args);
        v->matrices[v->call.matrix_count++] =
            (struct gtmark_matrix){o->name, m.data, m.rows, m.cols, m.ld, type_of(m.dtype), m.acc};
    }
}

static void run_entry(const void *args)
{
    const struct call *call = args;
    const struct kernel *k = call->kernel;
    const struct plugin_row *row = row_of(k);
    const struct device *device = row->table.device;
    struct view v;
    view_of(k, args, &v);
    v.call.stream = device ? device->stream(call->context) : NULL;
    if ((device && !v.call.stream) || plugin_fault(row->plugin))
        return;
    struct guest g = guest_enter("run", row->name);
    const char *error = row->entry->run(&v.call);
    if (error)
        snprintf(row->plugin->fault, sizeof row->plugin->fault, "%.60s: %.180s", row->name, error);
    guest_leave(&g);
    tell(&v.call, PLUGIN_END, NULL, NULL, 0);
}

static void run_function(const void *args)
{
    run_entry(args);
    mat_set(((const struct function_args *)args)->y, 0, 0, 1);
}

bool plugin_is_row(const struct kernel *k)
{
    return k->run == run_entry || k->run == run_function;
}

/* The options of the op that these words name, which commas separate; all there can be if one names none. */
static unsigned options_named(enum op op, const char *words)
{
    const struct op_info *info = op_info(op);
    unsigned options = 0;
    for (size_t size; words; words = words[size] ? words + size + 1 : NULL) {
        unsigned option = 0;
        size = strcspn(words, ",");
        for (int form = 1; form < info->form_count; form *= 2) {
            const char *name = strchr(info->forms[form], '+') + 1;
            if (strlen(name) == size && memcmp(name, words, size) == 0)
                option = (unsigned)form;
        }
        if (!option)
            return ~0u;
        options |= option;
    }
    return options;
}

static bool has_unnamed_option(const struct plugin_row *row, const void *args)
{
    enum op op = row->kernel.op;
    return op_options(op, args) & ~options_named(op, row->entry->options);
}

static int64_t scratch_of_entry(const void *args)
{
    const struct plugin_row *row = row_of(((const struct call *)args)->kernel);
    struct view v;
    if (!row->entry->scratch || has_unnamed_option(row, args))
        return 0;
    view_of(&row->kernel, args, &v);
    struct guest g = guest_enter("scratch", row->name);
    int64_t bytes = row->entry->scratch(&v.call);
    guest_leave(&g);
    if (bytes >= 0 && bytes <= scratch_most)
        return bytes;
    snprintf(row->plugin->fault, sizeof row->plugin->fault, "%.60s: scratch of %lld bytes", row->name,
             (long long)bytes);
    return 0;
}

const char *plugin_fault(const struct plugin *p)
{
    return p && *p->fault ? p->fault : NULL;
}

bool plugin_failed(const struct kernel *k)
{
    return plugin_is_row(k) && plugin_fault(row_of(k)->plugin);
}

void plugin_settle(struct plugin *p, int threads)
{
    if (p && !guest_resets(threads) && !plugin_fault(p))
        snprintf(p->fault, sizeof p->fault,
                 "it sets rounding, traps or flushing to zero in threads of OpenMP");
}

void plugin_recover(struct plugin *p)
{
    if (p)
        *p->fault = '\0';
}

int plugin_flags(const struct kernel *k)
{
    return plugin_is_row(k) ? row_of(k)->entry->flags : 0;
}

const char *plugin_refuses(const struct kernel *k, const void *args)
{
    const struct plugin_row *row = plugin_is_row(k) ? row_of(k) : NULL;
    struct view v;
    if (row && has_unnamed_option(row, args))
        return "its entry does not name this option";
    if (!row || !row->entry->supports)
        return NULL;
    view_of(k, args, &v);
    struct guest g = guest_enter("supports", row->name);
    const char *why = row->entry->supports(&v.call);
    guest_leave(&g);
    return why;
}

const char *plugin_setup(const struct kernel *k, const void *args)
{
    struct plugin_row *row = plugin_is_row(k) ? row_of(k) : NULL;
    struct view v;
    if (!row || row->is_set_up || !row->entry->setup)
        return NULL;
    view_of(k, args, &v);
    struct guest g = guest_enter("setup", row->name);
    const char *why = row->entry->setup(&v.call, &row->state);
    guest_leave(&g);
    row->is_set_up = !why;
    return why;
}

void plugin_teardown(const struct kernel *k)
{
    struct plugin_row *row = plugin_is_row(k) ? row_of(k) : NULL;
    if (row && row->is_set_up && row->entry->teardown) {
        struct guest g = guest_enter("teardown", row->name);
        row->entry->teardown(row->state);
        guest_leave(&g);
    }
    if (row)
        row->is_set_up = false;
}

void plugin_listen(struct plugin *p, const struct plugin_listener *l)
{
    p->listener = l;
}

/* Loading. */

static bool is_name(const char *text)
{
    return text && *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_-.")];
}

static bool is_device(const char *name)
{
    return name && (strcmp(name, "cpu") == 0 || strcmp(name, "cuda") == 0);
}

const char *plugin_path(const struct kernel *k)
{
    return plugin_is_row(k) ? row_of(k)->plugin->path : NULL;
}

bool plugin_on_device(const struct kernel *k)
{
    return plugin_is_row(k) &&
           strcmp(((const struct plugin_row *)(const void *)k)->entry->device, "cpu") != 0;
}

/* What is wrong with an entry; null: nothing. */
static const char *wrong_entry(const struct gtmark_entry *e)
{
    enum op op = e->op ? op_named(e->op) : OPS;
    int types = op == OP_function && !e->types ? GTMARK_F32 : e->types; /* a function has none */
    return op == OPS                              ? "no such op; docs/ops.md lists them"
           : op_info(op)->exchange                ? "an exchange between ranks cannot be replaced"
           : !is_name(e->variant)                 ? "a variant is a word of a-z, 0-9, _, - and ."
           : !is_device(e->device)                ? "the device must be \"cpu\" or \"cuda\""
           : !(types & (GTMARK_F32 | GTMARK_F64)) ? "types must be GTMARK_F32, GTMARK_F64 or both"
           : types & ~(GTMARK_F32 | GTMARK_F64)   ? "types must be GTMARK_F32, GTMARK_F64 or both"
           : op == OP_function && strcmp(e->device, "cpu") != 0     ? "a function runs on the host"
           : e->flags & ~(GTMARK_ALLOCATES | GTMARK_STARTS_THREADS) ? "flags has a bit without a meaning"
           : !e->run                                                ? "run is missing"
           : options_named(op, e->options) == ~0u           ? "options has a word that is no option of the op"
           : op != OP_function && (e->setup || e->teardown) ? "setup and teardown are those of a function"
                                                            : NULL;
}

static bool fail_of(const struct plugin *p, const struct gtmark_entry *e, const char *what, char *error,
                    size_t error_size)
{
    snprintf(error, error_size, "%.200s: %.60s=%.60s: %s", p->path, e->op ? e->op : "",
             e->variant ? e->variant : "", what);
    return false;
}

static void add_row(struct plugin *p, const struct gtmark_entry *e, enum dtype dtype, int bits)
{
    struct plugin_row *row = &p->rows[p->count++];
    *row = (struct plugin_row){
        .kernel = {.op = op_named(e->op),
                   .variant = e->variant,
                   .dtype = dtype,
                   .bits = bits,
                   .run = op_named(e->op) == OP_function ? run_function : run_entry,
                   .scratch = scratch_of_entry},
        .entry = e,
        .plugin = p,
        .table = {.name = "plug-in", .doc = p->path, .kernels = &row->kernel, .count = 1},
    };
    snprintf(row->name, sizeof row->name, "%s=%s", e->op, e->variant);
}

static bool is_there(const struct plugin *p, const struct gtmark_entry *e)
{
    for (int i = 0; i < p->count; i++) {
        const struct gtmark_entry *other = p->rows[i].entry;
        if (strcmp(other->op, e->op) == 0 && strcmp(other->variant, e->variant) == 0 &&
            strcmp(other->device, e->device) == 0)
            return true;
    }
    return false;
}

static bool add_entries(struct plugin *p, const struct gtmark_plugin *g, char *error, size_t error_size)
{
    for (const struct gtmark_entry *e = g->entries; e < g->entries + g->count; e++) {
        const char *wrong = wrong_entry(e);
        if (wrong)
            return fail_of(p, e, wrong, error, error_size);
        if (is_there(p, e))
            return fail_of(p, e, "is there twice", error, error_size);
        if (e->types & GTMARK_F32 || !e->types)
            add_row(p, e, TYPE_f32);
        if (e->types & GTMARK_F64)
            add_row(p, e, TYPE_f64);
    }
    return true;
}

static bool read_library(struct plugin *p, char *error, size_t error_size)
{
    char slashed[4096];
    bool bare = !strchr(p->path, '/'); /* which dlopen would look for in the system's folders */
    snprintf(slashed, sizeof slashed, "%s%s", bare ? "./" : "", p->path);
    if (plugin_clashes(slashed, error, error_size))
        return false;
    struct guest guest = guest_enter("opening it", "");
    void *library = dlopen(slashed, RTLD_NOW | RTLD_LOCAL);
    guest_leave(&guest);
    if (library && plugin_needs_clash(library, error, error_size))
        return false;
    const struct gtmark_plugin *g = library ? dlsym(library, "gtmark_plugin") : NULL;
    p->models = library ? dlsym(library, "gtmark_models") : NULL;
    if (p->models && !g)
        return true;
    bool other = g && (g->version != GTMARK_PLUGIN_VERSION || g->sizes != GTMARK_SIZES);
    if (!library)
        snprintf(error, error_size, "%s", dlerror());
    else if (!g)
        snprintf(error, error_size, "%.200s: is no plug-in: it does not define gtmark_plugin", p->path);
    else if (other)
        snprintf(error, error_size,
                 "%.200s: of another %s than here: compile it with this gtmark_plugin.h (%d)", p->path,
                 g->version == GTMARK_PLUGIN_VERSION ? "layout" : "version", GTMARK_PLUGIN_VERSION);
    else if (g->count < 1 || g->count > ENTRIES_MAX || !g->entries)
        snprintf(error, error_size, "%.200s: has %d entries, not 1 to %d", p->path, g->entries ? g->count : 0,
                 ENTRIES_MAX);
    if (!library || !g || other || g->count < 1 || g->count > ENTRIES_MAX || !g->entries)
        return false;
    p->rows = calloc(2 * (size_t)g->count, sizeof *p->rows); /* both types */
    if (!p->rows)
        abort();
    return add_entries(p, g, error, error_size);
}

struct plugin *plugin_open(const char *path, char *error, size_t error_size)
{
    struct plugin *p = calloc(1, sizeof *p);
    if (!p)
        abort();
    p->path = path;
    if (read_library(p, error, error_size))
        return p;
    plugin_close(p);
    return NULL;
}

void plugin_close(struct plugin *p)
{
    if (p)
        free(p->rows);
    free(p);
}

const void *plugin_models(const struct plugin *p)
{
    return p->models;
}

const struct kernel *plugin_row(const struct plugin *p, int i)
{
    return i < p->count ? &p->rows[i].kernel : NULL;
}

/* The rows for the device of b, the first above the others; null with a message. */
static const struct backend *rows_for(struct plugin *p, const struct backend *b, char *error,
                                      size_t error_size)
{
    const struct backend *rows = NULL;
    for (int i = p->count; i-- > 0;) {
        struct plugin_row *row = &p->rows[i];
        const struct kernel *k = &row->kernel;
        if (plugin_on_device(k) != (b->device != NULL))
            continue;
        if (backend_kernel(b, k->op, k->dtype, k->variant)) {
            fail_of(p, row->entry, "is a variant of ours: give it another name", error, error_size);
            return NULL;
        }
        row->table.device = b->device;
        row->table.base = rows;
        rows = &row->table;
    }
    if (!rows)
        snprintf(error, error_size, "%.200s: has no entry for %s", p->path, b->device ? "a GPU" : "the host");
    return rows;
}

const struct backend *plugin_below(struct plugin *p, const struct backend *b, char *error, size_t error_size)
{
    const struct backend *rows = rows_for(p, b, error, error_size);
    int count = 0;
    for (; rows && b && count < CHAIN_MAX; b = b->base, count++) {
        p->chain[count] = *b;
        p->chain[count].base = b->base ? &p->chain[count + 1] : rows;
    }
    if (rows && b)
        abort(); /* CHAIN_MAX is too small */
    return rows ? p->chain : NULL;
}
