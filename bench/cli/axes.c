#include "bench/cli/axes.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/statistics/allocate.h"
#include "analysis/statistics/statistics.h"
#include "bench/base/quantity.h"
#include "bench/base/suggest.h"
#include "bench/cli/presets.h"
#include "graphs/batching.h"
#include "graphs/graph.h"
#include "graphs/order.h"
#include "models/encodings/encoding.h"
#include "models/layers/model.h"

static const char *model_choice(int index)
{
    return models[index].name;
}

static char *model_text(const char *item, struct axis_values *v, struct message *why)
{
    (void)why;
    return model_named(item, v->others) ? copied(item) : NULL;
}

/* The first choice keeps the model's own branch; the others replace it. */
static const char *attention_choice(int index)
{
    return index == 0 ? "model" : attention_name(index - 1);
}

static const char *mpnn_choice(int index)
{
    return index == 0 ? "model" : mpnn_name(index - 1);
}

static const char *batching_choice(int index)
{
    return index <= BATCHING_PADDED ? batching_name(index) : NULL;
}

static const char *graph_choice(int index)
{
    static const char *const others[] = {"NAME:giant",  "file:PATH",  "undirected:PATH",
                                         "unique:PATH", "names:PATH", NULL};
    for (const struct graph_family *f = graph_families; f->name; f++)
        if (index-- == 0)
            return f->name;
    for (const struct graph_shape *s = graph_shapes; s->name; s++)
        if (index-- == 0)
            return s->name;
    return others[index];
}

/* Parameters are in the canonical form, so that equal graphs have equal texts. */
static char *graph_text(const char *item, struct axis_values *v, struct message *why)
{
    (void)v;
    struct graph_name n;
    char error[GRAPH_NAME_ERROR], text[GRAPH_NAME_TEXT];
    if (graph_name_read(item, &n, error, sizeof error)) {
        if (!n.family)
            return copied(item);
        graph_name_text(&n, text);
        return copied(text);
    }
    if (n.family)
        complain(why, "%s", error);
    return NULL;
}

static const char *pe_choice(int index)
{
    static const char *const texts[] = {"none",       "lap:16",  "lap-pyg:16", "rwse:16",
                                        "rwse:16:32", "heat:16", "eslap:16"};
    return index < (int)(sizeof texts / sizeof *texts) ? texts[index] : NULL;
}

_Static_assert(ENCODING_K_MAX == 4096, "what the help of --pe says");

static char *pe_text(const char *item, struct axis_values *v, struct message *why)
{
    (void)why;
    struct encoding_config c;
    if (!encoding_parse(item, &c))
        return NULL;
    v->encodings = grow(v->encodings, (size_t)v->count, sizeof c);
    v->encodings[v->count] = c;
    return copied(item);
}

_Static_assert(SEGMENTS_MAX == 1000, "what the help of --checkpoint says");

_Static_assert(BUCKETS_MAX == 1024 && HOPS_MAX == 64, "what the help of --bias says");

static const char *bias_choice(int index)
{
    static const char *const examples[] = {"none", "spd:20", "spd:20:5", NULL};
    return examples[index];
}

static char *bias_text(const char *item, struct axis_values *v, struct message *why)
{
    (void)v;
    (void)why;
    return bias_parse(item, &(struct encoding_config){0}) ? strdup(item) : NULL;
}

_Static_assert(EXPANDER_MAX == 64, "what the field of --expander says");

static const char *expander_choice(int index)
{
    static const char *const examples[] = {"none", "3", "5:1", NULL};
    return examples[index];
}

static char *expander_text(const char *item, struct axis_values *v, struct message *why)
{
    (void)v;
    (void)why;
    struct encoding_config c;
    return expander_parse(item, &c) ? strdup(item) : NULL;
}

static const char *checkpoint_choice(int index)
{
    static const char *const texts[] = {"none", "layer", "4"};
    return index < (int)(sizeof texts / sizeof *texts) ? texts[index] : NULL;
}

static char *checkpoint_text(const char *item, struct axis_values *v, struct message *why)
{
    (void)v;
    (void)why;
    return checkpoint_segments(item, 1) > 0 ? copied(item) : NULL;
}

/* The activations of a feed-forward network: all except none. */
static const char *act_choice(int index)
{
    return index + 1 < ACT_KINDS ? activation_name(index + 1) : NULL;
}

static const struct axis_info axes[AXES] = {
#define WHOLE(low, high)     .kind = AXIS_WHOLE, .min = low, .max = high
#define NUMBER(low, high)    .kind = AXIS_NUMBER, .min = low, .max = high
#define NAME(choices, at)    .kind = AXIS_NAME, .choice = choices, .first = at
#define TEXT(examples, read) .kind = AXIS_TEXT, .choice = examples, .canonical = read
#define AT(name)             false
#define OF_MODEL(name)       true
#define AXIS(id, flag, group, member, value, place, canonical, speed, defines, entry, unit, symbol, text,    \
             meaning)                                                                                        \
    {.name = flag,                                                                                           \
     .field = SCHEMA_PATH_OF(group, member),                                                                 \
     value,                                                                                                  \
     .of_model = place,                                                                                      \
     .standard = canonical,                                                                                  \
     .pace = speed,                                                                                          \
     .work = WORK_##defines,                                                                                 \
     .dump = entry,                                                                                          \
     .help = text},
#include "analysis/record/axes.def"
};

const struct axis_info *axis_info(enum axis a)
{
    return &axes[a];
}

enum axis axis_named(const char *text, size_t length)
{
    enum axis a = 0;
    while (a < AXES && (strlen(axis_info(a)->name) != length || strncmp(axis_info(a)->name, text, length)))
        a++;
    return a;
}

void axes_swept(enum axis order[AXES])
{
    int n = 0;
    for (int pace = 0; n < AXES; pace++)
        for (enum axis a = 0; a < AXES; a++)
            if (axes[a].pace == pace)
                order[n++] = a;
}

void axis_values_free(struct axis_values *v)
{
    for (int i = 0; i < v->count && v->texts; i++)
        free(v->texts[i]);
    free(v->texts);
    free(v->encodings);
    free(v->values);
    *v = (struct axis_values){0};
}

const char *axis_text(const struct axis_values *v, double value)
{
    return v->texts[(size_t)value];
}

static bool append_value(struct axis_values *v, double value)
{
    if (v->count == AXIS_VALUES_MAX)
        return false;
    v->values = grow(v->values, (size_t)v->count, sizeof *v->values);
    v->values[v->count++] = value;
    return true;
}

/* "first-last+step" or "first-last*factor"; `rest` begins at the minus. why: what is wrong with it itself. */
static bool parse_range(const struct axis_info *axis, const char *item, double first, const char *rest,
                        struct axis_values *v, struct message *why)
{
    double last, by = 0;
    const char *sign = scan_number(rest + 1, &last);
    if (!sign || (*sign && *sign != '+' && *sign != '*'))
        return false;
    const char *end = *sign ? scan_number(sign + 1, &by) : NULL;
    bool whole = axis->kind == AXIS_WHOLE;
    int span = (int)(sign - item), one = (int)(rest - item);
    if (last < first)
        return complain(why, "the range %.*s runs backwards; write %.*s-%.*s%s", span, item, span - one - 1,
                        rest + 1, one, item, *sign ? sign : "*2");
    if (!end)
        return complain(why, "the range %.*s has no step; write %.*s*2 or %.*s+STEP", span, item, span, item,
                        span, item);
    if (!*end && by <= (*sign == '*'))
        return complain(why, "the %s of a range is above %d", *sign == '*' ? "factor" : "step", *sign == '*');
    if (*end)
        return false;
    double x = first;
    for (int step = 0; x <= last * (1 + 1e-12); step++) {
        double value = whole ? round(x) : x;
        bool repeated = step > 0 && value == v->values[v->count - 1]; /* 1-8*1.5 rounds to 2 twice */
        if (step == AXIS_VALUES_MAX || !number_allowed(whole, axis->min, axis->max, value) ||
            (!repeated && !append_value(v, value)))
            return false;
        x = *sign == '+' ? x + by : x * by;
    }
    return true;
}

/* A text that is there already has its index. */
static bool append_text(struct axis_values *v, char *text)
{
    int first = 0;
    v->texts = grow(v->texts, (size_t)v->count, sizeof *v->texts);
    v->texts[v->count] = text;
    while (strcmp(v->texts[first], text) != 0)
        first++;
    if (append_value(v, first))
        return true;
    free(text);
    return false;
}

static bool parse_item(const struct axis_info *axis, const char *item, struct axis_values *v,
                       struct message *why)
{
    if (axis->kind == AXIS_NAME) {
        for (int i = 0; axis->choice(i); i++)
            if (strcmp(axis->choice(i), item) == 0)
                return append_value(v, i);
        return false;
    }
    if (axis->kind == AXIS_TEXT) {
        char *text = axis->canonical(item, v, why);
        return text && append_text(v, text);
    }
    double value;
    const char *end = scan_number(item, &value);
    if (end && *end == '-')
        return parse_range(axis, item, value, end, v, why);
    return end && !*end && number_allowed(axis->kind == AXIS_WHOLE, axis->min, axis->max, value) &&
           append_value(v, value);
}

/* Reports what is allowed: `why`, if it is set, or with the nearest choice to `item`. */
static bool say_allowed(const struct axis_info *axis, const char *text, const char *item,
                        const struct message *why, struct message *error)
{
    if (*why->text)
        return complain(error, "--%s %.200s: %.300s", axis->name, text, why->text);
    if (!axis->choice)
        return complain(error,
                        "--%s %.200s: %s from %.10g to %.10g, or a list or range of up to %d: 100,500 or "
                        "1k-16k*2 or 2-16+2",
                        axis->name, text, axis->kind == AXIS_WHOLE ? "a whole number" : "a number", axis->min,
                        axis->max, AXIS_VALUES_MAX);
    struct suggestion s = {item, strlen(item), NULL, 0};
    char names[512] = "", nearest[SUGGESTION_TEXT];
    for (int i = 0; axis->choice(i); i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", axis->choice(i));
        suggest_offer(&s, axis->choice(i));
    }
    suggest_text(&s, "", nearest);
    return axis->kind == AXIS_TEXT
               ? complain(error, "--%s %.100s: %s; as in %s%s", axis->name, text, axis->help, names, nearest)
               : complain(error, "--%s %.140s: one or more of %s%s", axis->name, text, names, nearest);
}

/* Refuses a value given twice: its row would be measured twice, with nothing to tell the two apart. */
static bool say_repeated(const struct axis_info *axis, const char *text, const struct axis_values *v,
                         struct message *error)
{
    size_t count = (size_t)v->count, i = 1;
    double *sorted = allocate(count, sizeof *sorted);
    memcpy(sorted, v->values, count * sizeof *sorted);
    sort_doubles(sorted, count);
    while (i < count && sorted[i] != sorted[i - 1])
        i++;
    double value = i < count ? sorted[i] : NAN;
    free(sorted);
    if (isnan(value))
        return false;
    if (axis->kind == AXIS_WHOLE || axis->kind == AXIS_NUMBER)
        return !complain(error, "--%s %.200s: %.10g is given twice", axis->name, text, value);
    const char *name = axis->kind == AXIS_NAME ? axis->choice((int)value) : axis_text(v, value);
    return !complain(error, "--%s %.200s: %.200s is given twice", axis->name, text, name);
}

/* Whether a text begins with KEY=, as no value of an axis does. */
static bool is_parameter(const char *text)
{
    size_t key = 0;
    while (isalnum((unsigned char)text[key]) || text[key] == '_')
        key++;
    return key > 0 && text[key] == '=';
}

/* Cuts the first item off a list. A comma before KEY= separates the parameters of a graph, and one after a
 * backslash, which is left out, is part of a name. */
static char *cut_item(char **list)
{
    char *item = *list, *to = item, *from = item;
    for (; *from && (*from != ',' || is_parameter(from + 1)); *to++ = *from++)
        from += from[0] == '\\' && from[1] == ',';
    *list = *from ? from + 1 : NULL;
    *to = '\0';
    return item;
}

/* After a file, an item that is no graph may be the rest of its name. */
static void say_comma(const struct axis_values *v, const char *item, struct message *why)
{
    const char *last = v->count ? axis_text(v, v->values[v->count - 1]) : "";
    if (!*why->text && graph_is_file(last))
        complain(why, "'%.80s' is no graph (--list graphs); a comma in a name needs quotes: '%.80s\\,%.80s'",
                 item, last, item);
}

/* What other suites have and this one does not. */
static void say_precision(const char *item, struct message *why)
{
    static const char *const absent[][2] = {
        {"fp16", "its gradients need scaled losses, and no CPU here multiplies it faster in training"},
        {"fp8", "no CPU multiplies it"},
        {"int8", "for inference only"},
    };
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
        if (strcmp(item, absent[i][0]) == 0)
            complain(why, "not there: %s; f32, tf32 and bf16 are", absent[i][1]);
}

bool axis_parse(enum axis a, const char *text, struct axis_values *out, struct message *error)
{
    struct axis_values v = {.others = out->others};
    struct message why = {""};
    char *copy = copied(text), *rest = copy;
    bool good = true;
    const char *item = "";
    while (good && rest)
        good = *(item = cut_item(&rest)) && parse_item(&axes[a], item, &v, &why);
    if (good) {
        good = !say_repeated(&axes[a], text, &v, error);
    } else {
        if (a == AXIS_GRAPH)
            say_comma(&v, item, &why);
        if (a == AXIS_PRECISION)
            say_precision(item, &why);
        say_allowed(&axes[a], text, item, &why, error);
    }
    axis_values_free(good ? out : &v);
    if (good)
        *out = v;
    free(copy);
    return good;
}

const char *parallel_name(int way)
{
    static const char *const names[PARALLELS] = {"data", "halo", "ulysses", "ring"};
    return way >= 0 && way < PARALLELS ? names[way] : NULL;
}

const char *partition_name(int partition)
{
    static const char *const names[NODE_PARTITIONS] = {"range", "metis"};
    return partition >= 0 && partition < NODE_PARTITIONS ? names[partition] : NULL;
}
