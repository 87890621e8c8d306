#include "graphs/name.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_word(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

static bool skip_prefix(const char **text, const char *prefix)
{
    bool begins = strncmp(*text, prefix, strlen(prefix)) == 0;
    *text += begins ? strlen(prefix) : 0;
    return begins;
}

bool graph_file_name(const char *text, struct graph_file_name *n)
{
    bool unique = skip_prefix(&text, "unique:"), undirected = unique || skip_prefix(&text, "undirected:"),
         file = undirected || skip_prefix(&text, "file:"), names = skip_prefix(&text, "names:");
    if (n)
        *n = (struct graph_file_name){text, undirected, unique, names};
    return file || names;
}

/* Sets family and values; for a shape, those of its graph. */
static void find_name(struct graph_name *n, const char *text, size_t length)
{
    char error[1];
    for (const struct graph_shape *s = graph_shapes; s->name; s++)
        if (is_word(text, length, s->name) && graph_name_read(s->graph, n, error, sizeof error))
            n->shape = s;
    for (const struct graph_family *f = graph_families; f->name; f++)
        if (is_word(text, length, f->name))
            n->family = f;
    for (int i = 0; n->family && !n->shape && i < graph_family_parameters(n->family); i++)
        n->value[i] = n->family->parameter[i].standard;
}

static bool say_unknown(const char *text, char *error, size_t size)
{
    int length = snprintf(error, size, "graph family '%s' is unknown; known are", text);
    for (const struct graph_family *f = graph_families; f->name && length < (int)size; f++)
        length += snprintf(error + length, size - (size_t)length, " %s,", f->name);
    for (const struct graph_shape *s = graph_shapes; s->name && length < (int)size; s++)
        length += snprintf(error + length, size - (size_t)length, " %s,", s->name);
    if (length < (int)size)
        snprintf(error + length, size - (size_t)length,
                 " each also as NAME:giant, file:PATH, undirected:PATH, unique:PATH and names:PATH");
    return false;
}

/* Says which parameters there are. */
static bool say_parameters(const struct graph_name *n, const char *text, size_t length, char *error,
                           size_t size)
{
    const struct graph_family *f = n->family;
    int count = n->shape ? 0 : graph_family_parameters(f);
    int used = snprintf(error, size, "'%.*s' is no parameter of %s, which has %s", (int)length, text,
                        n->shape ? n->shape->name : f->name, count ? "" : "none");
    for (int i = 0; i < count && used < (int)size; i++)
        used += snprintf(error + used, size - (size_t)used, "%s%s=%g", i ? ", " : "", f->parameter[i].name,
                         f->parameter[i].standard);
    return false;
}

/* Reads a number without suffix, as in "p_in=.1". */
static bool read_value(const struct graph_parameter *p, const char *text, size_t length, double *value)
{
    char *end;
    if (strspn(text, "0123456789.eE+-") < length || length == 0)
        return false;
    *value = strtod(text, &end);
    return end == text + length && *value >= p->least && *value <= p->most &&
           (!p->whole || *value == floor(*value));
}

/* Reads "KEY=VALUE"; `given` are the parameters so far, a bit each. */
static bool read_parameter(struct graph_name *n, const char *text, size_t length, unsigned *given,
                           char *error, size_t size)
{
    size_t key = strcspn(text, "=");
    int i = 0, count = n->shape ? 0 : graph_family_parameters(n->family);
    const struct graph_parameter *p = n->family->parameter;
    while (i < count && !(key < length && is_word(text, key, p[i].name)))
        i++;
    if (i == count)
        return say_parameters(n, text, length, error, size);
    const char *value = text + key + 1;
    size_t value_length = length - key - 1;
    if (!read_value(&p[i], value, value_length, &n->value[i]))
        snprintf(error, size, "%s is '%.*s', must be %s from %.10g to %.10g", p[i].name, (int)value_length,
                 value, p[i].whole ? "a whole number" : "a number", p[i].least, p[i].most);
    else if (*given >> i & 1)
        snprintf(error, size, "%s is given twice", p[i].name);
    else {
        *given |= 1u << i;
        return true;
    }
    return false;
}

bool graph_name_read(const char *text, struct graph_name *n, char *error, size_t error_size)
{
    size_t length = strcspn(text, ":,");
    unsigned given = 0;
    *n = (struct graph_name){0};
    if (graph_is_file(text) && text[length + 1])
        return true;
    find_name(n, text, length);
    if (!n->family)
        return say_unknown(text, error, error_size);
    const char *rest = text + length;
    if (*rest == ',') {
        snprintf(error, error_size, "a colon begins the parameters: %.*s:%s", (int)length, text, rest + 1);
        return false;
    }
    n->giant = strlen(rest) >= 6 && strcmp(rest + strlen(rest) - 6, ":giant") == 0;
    const char *end = rest + strlen(rest) - (n->giant ? 6 : 0);
    while (rest < end) { /* at the colon or at a comma */
        rest++;
        length = strcspn(rest, ",");
        length = rest + length < end ? length : (size_t)(end - rest);
        if (!read_parameter(n, rest, length, &given, error, error_size))
            return false;
        rest += length;
    }
    return true;
}

/* A number with as few digits as give it again. */
static void put_number(char text[32], double value)
{
    snprintf(text, 32, "%.0f", value);
    for (int digits = 1; strtod(text, NULL) != value; digits++)
        snprintf(text, 32, "%.*g", digits, value);
}

void graph_name_text(const struct graph_name *n, char text[GRAPH_NAME_TEXT])
{
    const struct graph_parameter *p = n->family->parameter;
    int used = snprintf(text, GRAPH_NAME_TEXT, "%s", n->shape ? n->shape->name : n->family->name);
    char before = ':', number[32];
    for (int i = 0; !n->shape && i < graph_family_parameters(n->family); i++) {
        if (n->value[i] == p[i].standard)
            continue;
        put_number(number, n->value[i]);
        used += snprintf(text + used, GRAPH_NAME_TEXT - (size_t)used, "%c%s=%s", before, p[i].name, number);
        before = ',';
    }
    snprintf(text + used, GRAPH_NAME_TEXT - (size_t)used, "%s", n->giant ? ":giant" : "");
}

const struct graph_shape *graph_shape_of(const char *text)
{
    struct graph_name n;
    char error[1];
    return graph_name_read(text, &n, error, sizeof error) ? n.shape : NULL;
}
