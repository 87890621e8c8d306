/* The table of axes, and the language of their values. */
#include "bench/axes.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "graphs/csr.h"
#include "models/model.h"

static const char *model_choice(int index)
{
    return models[index] ? models[index]->name : NULL;
}

/* The activations of a feed-forward network: all but none. */
static const char *act_choice(int index)
{
    return index + 1 < ACT_KINDS ? activation_name(index + 1) : NULL;
}

static const struct axis_info axes[AXES] = {
    [AXIS_MODEL] = {"model", AXIS_NAME, 0, 0, model_choice, "graph_transformer", "model (--list-models)"},
    [AXIS_LAYERS] = {"layers", AXIS_WHOLE, 1, 1000, NULL, "6", "transformer layers"},
    [AXIS_HIDDEN] = {"hidden", AXIS_WHOLE, 1, 65536, NULL, "256", "width of the layers"},
    [AXIS_HEADS] = {"heads", AXIS_WHOLE, 1, 4096, NULL, "8", "attention heads; must divide the width"},
    [AXIS_FFN] = {"ffn", AXIS_WHOLE, 0, 262144, NULL, "0",
                  "inner width of the feed-forward network; 0: twice the width"},
    [AXIS_ACT] = {"act", AXIS_NAME, 0, 0, act_choice, "gelu", "activation"},
    [AXIS_THREADS] = {"threads", AXIS_WHOLE, 0, 1024, NULL, "0",
                      "threads; 0: the cores granted to the process"},
    [AXIS_DEGREE] = {"degree", AXIS_NUMBER, 0, 1e6, NULL, "5", "mean degree of the graph"},
    [AXIS_NODES] = {"nodes", AXIS_WHOLE, 1, (double)CSR_MAX_NODES, NULL, "500", "nodes of the graph"},
};

const struct axis_info *axis_info(enum axis a)
{
    return &axes[a];
}

void axis_values_free(struct axis_values *v)
{
    free(v->values);
    *v = (struct axis_values){0};
}

/* Reads a number and its suffix; returns what follows, or null. */
static const char *scan_number(const char *text, double *value)
{
    if (!isdigit((unsigned char)*text) || (text[0] == '0' && tolower((unsigned char)text[1]) == 'x'))
        return NULL;
    char *end;
    *value = strtod(text, &end);
    static const char suffixes[] = "kmg";
    const char *suffix = *end ? strchr(suffixes, tolower((unsigned char)*end)) : NULL;
    for (int power = suffix ? (int)(suffix - suffixes) : -1; power >= 0; power--)
        *value *= 1000;
    return suffix ? end + 1 : end;
}

static bool in_range(bool whole, double min, double max, double value)
{
    return value >= min && value <= max && (!whole || value == floor(value));
}

bool parse_number(const char *text, bool whole, double min, double max, double *value)
{
    const char *end = scan_number(text, value);
    return end && !*end && in_range(whole, min, max, *value);
}

static bool append(struct axis_values *v, double value)
{
    if (v->count == AXIS_VALUES_MAX)
        return false;
    v->values[v->count++] = value;
    return true;
}

/* "first-last+step" or "first-last*factor"; `rest` begins at the minus. */
static bool parse_range(const struct axis_info *axis, double first, const char *rest, struct axis_values *v)
{
    double last, by;
    const char *sign = scan_number(rest + 1, &last);
    if (!sign || (*sign != '+' && *sign != '*'))
        return false;
    const char *end = scan_number(sign + 1, &by);
    bool whole = axis->kind == AXIS_WHOLE;
    if (!end || *end || (*sign == '+' ? by <= 0 : by <= 1) || last < first)
        return false;
    double x = first;
    for (int step = 0; x <= last * (1 + 1e-12); step++) {
        double value = whole ? round(x) : x;
        bool repeated = step > 0 && value == v->values[v->count - 1]; /* 1-8*1.5 rounds to 2 twice */
        if (step == AXIS_VALUES_MAX || !in_range(whole, axis->min, axis->max, value) ||
            (!repeated && !append(v, value)))
            return false;
        x = *sign == '+' ? x + by : x * by;
    }
    return true;
}

static bool parse_item(const struct axis_info *axis, const char *item, struct axis_values *v)
{
    if (axis->kind == AXIS_NAME) {
        for (int i = 0; axis->choice(i); i++)
            if (strcmp(axis->choice(i), item) == 0)
                return append(v, i);
        return false;
    }
    double value;
    const char *end = scan_number(item, &value);
    if (!end || !in_range(axis->kind == AXIS_WHOLE, axis->min, axis->max, value))
        return false;
    return *end == '-' ? parse_range(axis, value, end, v) : !*end && append(v, value);
}

static bool say_allowed(const struct axis_info *axis, const char *text, struct message *error)
{
    if (axis->kind != AXIS_NAME)
        return complain(
            error,
            "--%s %.200s: %s from %.10g to %.10g, or a list or range of them: 100,500 or 1k-16k*2 or 2-16+2",
            axis->name, text, axis->kind == AXIS_WHOLE ? "a whole number" : "a number", axis->min, axis->max);
    char names[256] = "";
    for (int i = 0; axis->choice(i); i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", axis->choice(i));
    }
    return complain(error, "--%s %.200s: one or more of %s", axis->name, text, names);
}

bool axis_parse(enum axis a, const char *text, struct axis_values *out, struct message *error)
{
    struct axis_values v = {.values = malloc(AXIS_VALUES_MAX * sizeof(double))};
    char *copy = strdup(text);
    bool good =
        v.values && copy && *text && text[strlen(text) - 1] != ',' && *text != ',' && !strstr(text, ",,");
    char *next = copy;
    for (char *item; good && (item = strsep(&next, ",")) != NULL;)
        good = parse_item(&axes[a], item, &v);
    free(copy);
    if (!good) {
        axis_values_free(&v);
        return say_allowed(&axes[a], text, error);
    }
    axis_values_free(out);
    *out = v;
    return true;
}
