#include "bench/cli/command_line.h"

#include <inttypes.h>
#include <string.h>

#include "kernels/plugin_rows.h"
#include "models/layers/model.h"

const char *plugin_named(int argc, char **argv)
{
    static const char flag[] = "--plugin=";
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], flag, sizeof flag - 1) == 0)
            return argv[i] + sizeof flag - 1;
        if (strcmp(argv[i], "--plugin") == 0)
            return argv[i + 1]; /* null after the last */
    }
    return NULL;
}

static bool fits(const struct options *o, struct message *error)
{
    bool elsewhere = o->count != COUNT_OFF && o->count != COUNT_COUNTERS;
    const struct refusal refusals[] = {
        {o->against, "--plugin: not with --against: the other build may have another gtmark_plugin.h"},
        {elsewhere, "--plugin: not with --count auto, valgrind or base, which run kernels elsewhere"},
    };
    return complain_of(refusals, sizeof refusals / sizeof *refusals, error);
}

/* Takes the models of the library, if it has some of this version. */
static bool take_models(struct options *o, struct message *error)
{
    const struct model_plugin *own = plugin_models(o->plugin.opened);
    const char *file = o->plugin.file;
    if (!own)
        return true;
    if (!own->id || strcmp(own->id, GTMARK_TEXT(GTMARK_ID)) != 0)
        return complain(
            error,
            "--plugin %.200s: its models are of version %.40s: compile it with the headers of this one, and "
            "-D GTMARK_ID=%s (docs/plugins.md)",
            file, own->id ? own->id : "none", GTMARK_TEXT(GTMARK_ID));
    for (const struct model *m = own->models; m && m->name; m++)
        if (!*m->name || m->name[strspn(m->name, "abcdefghijklmnopqrstuvwxyz0123456789_-")] ||
            model_named(m->name, NULL) || !m->doc || !m->record)
            return complain(error,
                            "--plugin %.200s: model '%.60s': needs a word of a-z, 0-9, _ and - that is no "
                            "model of ours, a sentence, and a function",
                            file, m->name);
    o->axes[AXIS_MODEL].others = own->models;
    return true;
}

static bool open_plugin(struct options *o, struct message *error)
{
    struct plugin_options *p = &o->plugin;
    char why[MESSAGE_SIZE / 2];
    if (!p->file)
        return true;
    if (!fits(o, error))
        return false;
    p->opened = plugin_open(p->file, why, sizeof why);
    const struct backend *b = p->opened ? o->device.backend : NULL;
    if (b && plugin_row(p->opened, 0))
        b = plugin_below(p->opened, b, why, sizeof why);
    if (!b)
        return complain(error, "--plugin %s", why);
    o->device.backend = b;
    const char *slash = strrchr(p->file, '/');
    snprintf(p->id, sizeof p->id, "%.100s %016" PRIx64, slash ? slash + 1 : p->file, file_hash(p->file, 0));
    return take_models(o, error);
}

bool plugin_attach(struct options *o, struct message *error)
{
    return open_plugin(o, error) &&
           (!o->plugin.models || axis_parse(AXIS_MODEL, o->plugin.models, &o->axes[AXIS_MODEL], error));
}

static void add_variant(const struct options *o, struct form f, const char *variant, char text[PLUGIN_TEXT])
{
    const struct kernel *k = backend_form_kernel(o->device.backend, f.op, f.options, F32, variant);
    size_t used = strlen(text);
    if (k && plugin_is_row(k))
        snprintf(text + used, PLUGIN_TEXT - used, "%s %s=%s", used ? "," : "", form_name(f), variant);
}

void plugin_describe(const struct options *o, const struct config *c, char text[PLUGIN_TEXT])
{
    char variants[PLUGIN_TEXT] = "";
    if (c->library && !c->timed.kernel)
        snprintf(variants, sizeof variants, " model=%.60s", c->model);
    if (c->timed.kernel)
        add_variant(o, c->timed.form, c->timed.kernel->variant, variants);
    for (int i = 0; form_at(i).op < OPS && !c->timed.kernel && o->plugin.file; i++) {
        struct form f = form_at(i);
        if (o->variant[f.op][f.options])
            add_variant(o, f, o->variant[f.op][f.options], variants);
    }
    *text = '\0';
    if (*variants)
        snprintf(text, PLUGIN_TEXT, "%s:%.350s", o->plugin.id, variants);
}
