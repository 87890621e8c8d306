/*
 * Parsing and printing. scan_json refuses what is not JSON, and reads the numbers; cJSON then builds the tree
 * of a text with 0 for each, and they get their texts and values. cJSON prints a tree on one line, which
 * value_lay_out formats.
 */
#include "analysis/record/value_text.h"

#include "analysis/record/file.h"
#include "analysis/record/json.h"

#include <math.h>

/* Turns the numbers of a tree into raw items, with their texts in document order. */
static void keep_numbers(cJSON *json, const char *text, const struct span **next)
{
    if (cJSON_IsNumber(json)) {
        json->type = cJSON_Raw;
        json->valuedouble = (*next)->value;
        json->valuestring = copied_part(text + (*next)->begin, (*next)->end - (*next)->begin);
        (*next)++;
    }
    for (cJSON *child = json->child; child; child = child->next)
        keep_numbers(child, text, next);
}

/* The tree of a text whose numbers are known. */
static cJSON *build_tree(const char *text, size_t size, const struct spans *numbers)
{
    struct buffer zeros = {0};
    const struct span *next = numbers->list;
    size_t from = 0;
    for (size_t i = 0; i < numbers->count; from = numbers->list[i++].end) {
        buffer_put(&zeros, text + from, numbers->list[i].begin - from);
        buffer_char(&zeros, '0');
    }
    buffer_put(&zeros, text + from, size - from);
    cJSON *json = cJSON_ParseWithLength(zeros.text, zeros.size);
    if (!json)
        abort();
    keep_numbers(json, text, &next);
    free(zeros.text);
    return json;
}

struct value *value_parse_part(const char *text, size_t size, char *error)
{
    struct spans numbers = {0};
    cJSON *json =
        scan_json(text, size, &numbers, NULL, NULL, error) ? build_tree(text, size, &numbers) : NULL;
    free(numbers.list);
    return value_of(json);
}

struct value *value_parse(const char *text, char *error)
{
    return value_parse_part(text, strlen(text), error);
}

struct value *value_load(const char *path, char *error)
{
    char wrong[MESSAGE_SIZE];
    size_t size;
    char *text = file_read(path, &size, error);
    if (!text)
        return NULL;
    struct value *v = value_parse_part(text, size, wrong);
    if (!v)
        snprintf(error, MESSAGE_SIZE, "%.200s: %.300s", path, wrong);
    free(text);
    return v;
}

void value_format_real(char text[VALUE_REAL_TEXT], double real)
{
    snprintf(text, VALUE_REAL_TEXT, "%.15g", real);
    if (fabs(real) > 1.7e308 && isinf(strtod(text, NULL))) /* rounded up from close to DBL_MAX */
        snprintf(text, VALUE_REAL_TEXT, "%.17g", real);
    char *exponent = strchr(text, 'e');
    if (scan_is_integer(text))
        strcat(text, ".0");
    if (!exponent)
        return;
    /* write "e+05" as "e5" */
    char *digits = exponent + 1 + (exponent[1] == '+' || exponent[1] == '-');
    char *end = exponent + 1 + (exponent[1] == '-');
    digits += strspn(digits, "0");
    memmove(end, digits, strlen(digits) + 1);
}

char *value_print(const struct value *v)
{
    char *text = cJSON_PrintUnformatted(json_of(v));
    if (!text)
        abort();
    return text;
}

/* Writes a character that JSON escapes. */
static void put_escape(unsigned char c, struct buffer *out)
{
    static const char plain[] = "\"\\\b\f\n\r\t", escaped[] = "\"\\bfnrt";
    const char *known = memchr(plain, c, sizeof plain - 1);
    char code[8];
    if (known)
        snprintf(code, sizeof code, "\\%c", escaped[known - plain]);
    else
        snprintf(code, sizeof code, "\\u%04x", c);
    buffer_string(out, code);
}

void value_put_text(const char *text, size_t length, struct buffer *out)
{
    const char *written = text, *end = text + length;
    buffer_char(out, '"');
    for (const char *at = text; at < end; at++) {
        if ((unsigned char)*at >= ' ' && *at != '"' && *at != '\\')
            continue;
        buffer_put(out, written, (size_t)(at - written));
        put_escape((unsigned char)*at, out);
        written = at + 1;
    }
    buffer_put(out, written, (size_t)(end - written));
    buffer_char(out, '"');
}

static void break_line(int indent, int depth, FILE *out)
{
    if (indent < 0)
        return;
    putc_unlocked('\n', out);
    for (int i = 0; i < indent * depth; i++)
        putc_unlocked(' ', out);
}

/* Writes the string that begins at `at`; returns the end of it. */
static const char *put_quoted(const char *at, FILE *out)
{
    const char *end = at + 1;
    while (*end != '"')
        end += *end == '\\' ? 2 : 1;
    fwrite_unlocked(at, 1, (size_t)(++end - at), out);
    return end;
}

void value_lay_out(const char *json, int indent, int depth, FILE *out)
{
    bool opened = false; /* the innermost brackets are still empty */
    while (*json) {
        char c = *json;
        bool closes = c == ']' || c == '}';
        if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
            json++;
            continue;
        }
        depth -= closes;
        if (opened != closes)
            break_line(indent, depth, out);
        opened = c == '[' || c == '{';
        depth += opened;
        if (c == '"') {
            json = put_quoted(json, out);
            continue;
        }
        putc_unlocked(c, out);
        json++;
        if (c == ',')
            break_line(indent, depth, out);
        if (c == ':' && indent >= 0)
            putc_unlocked(' ', out);
    }
}

bool value_write_indented(const struct value *v, int indent, FILE *out)
{
    char *text = value_print(v);
    value_lay_out(text, indent, 0, out);
    free(text);
    return !ferror(out);
}

bool value_write(const struct value *v, FILE *out)
{
    return value_write_indented(v, -1, out);
}

struct indented {
    const struct value *value;
    int indent;
};

static bool write_indented(const void *document, FILE *out)
{
    const struct indented *d = document;
    return value_write_indented(d->value, d->indent, out) && putc('\n', out) != EOF;
}

bool value_save(const struct value *v, const char *path, int indent, char *error)
{
    return file_save(path, write_indented, &(struct indented){v, indent}, error);
}
