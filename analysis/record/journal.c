#include "analysis/record/journal.h"

#include "analysis/record/row_fields.h"
#include "analysis/record/row_json.h"
#include "analysis/record/value_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct base base_empty(void)
{
    return (struct base){0, UINT64_C(0xcbf29ce484222325)};
}

static void base_add(struct base *base, const char *text, size_t bytes)
{
    uint64_t sum = base->checksum;
    for (size_t i = 0; i < bytes; i++)
        sum = (sum ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    *base = (struct base){base->bytes + bytes, sum};
}

struct base base_of(const char *text, size_t bytes)
{
    struct base base = base_empty();
    base_add(&base, text, bytes);
    return base;
}

bool base_of_file(const char *path, struct base *base, char *error)
{
    char block[1 << 14];
    FILE *in = fopen(path, "r");
    *base = base_empty();
    for (size_t n; in && (n = fread(block, 1, sizeof block, in)) > 0;)
        base_add(base, block, n);
    bool good = in && !ferror(in);
    if (!good)
        snprintf(error, MESSAGE_SIZE, "%.300s: cannot be read: %s", path, strerror(errno));
    if (in)
        fclose(in);
    return good;
}

char *journal_path(const char *path)
{
    char *name;
    if (asprintf(&name, "%s.journal", path) < 0)
        abort();
    return name;
}

size_t journal_base_line(const struct base *base, char line[JOURNAL_BASE])
{
    return (size_t)snprintf(line, JOURNAL_BASE, "{\"journal\":1,\"bytes\":%zu,\"checksum\":\"%016llx\"}\n",
                            base->bytes, (unsigned long long)base->checksum);
}

void journal_put_row(size_t index, bool replace, const struct row *row, struct buffer *out)
{
    char begin[64];
    snprintf(begin, sizeof begin, "{\"%s\":%zu,\"row\":", replace ? "replace" : "insert", index);
    buffer_string(out, begin);
    size_t size = out->size;
    buffer_string(out, row_json(row));
    for (char *end = out->text + out->size, *at = out->text + size;
         (at = memchr(at, '\n', (size_t)(end - at)));)
        *at = ' '; /* never in a text */
    buffer_string(out, "}\n");
}

void journal_put_head(const char *name, const struct value *v, struct buffer *out)
{
    struct value *member = value_new_object();
    value_set(member, name, value_copy(v));
    char *text = value_print(member);
    buffer_string(out, "{\"head\":");
    buffer_string(out, text);
    buffer_string(out, "}\n");
    free(text);
    value_free(member);
}

/* Puts a row into its place. False if there is no such place, or the text is not JSON. */
static bool apply_row(struct rows *rows, size_t index, bool replace, const char *json)
{
    char ignored[MESSAGE_SIZE];
    struct value *object = index + replace <= rows_count(rows) ? value_parse(json, ignored) : NULL;
    if (!object)
        return false;
    size_t size;
    char *text = value_laid_out(json, 2, &size);
    struct row *row = row_read(object, text, size);
    if (replace)
        rows_replace(rows, index, row);
    else
        rows_insert(rows, index, row);
    free(text);
    value_free(object);
    return true;
}

static bool apply_head(struct value *head, const char *json)
{
    char ignored[MESSAGE_SIZE];
    struct value *members = value_parse(json, ignored);
    bool sound = value_kind(members) == VALUE_OBJECT;
    for (struct walk w = value_walk(members); sound && walk_next(&w);)
        value_set(head, w.key, value_copy(w.value));
    value_free(members);
    return sound;
}

/* Applies a line, whose last bracket is removed. False if it is not a line of a journal. */
static bool apply_line(char *line, struct value *head, struct rows *rows)
{
    size_t length = strlen(line), index = 0;
    int at = 0;
    if (length == 0 || line[length - 1] != '}')
        return false;
    line[length - 1] = '\0';
    if (sscanf(line, "{\"insert\":%zu,\"row\":%n", &index, &at), at > 0)
        return apply_row(rows, index, false, line + at);
    if (sscanf(line, "{\"replace\":%zu,\"row\":%n", &index, &at), at > 0)
        return apply_row(rows, index, true, line + at);
    return (sscanf(line, "{\"head\":%n", &at), at > 0) && apply_head(head, line + at);
}

void journal_apply(const char *journal, size_t size, const struct base *base, struct value *head,
                   struct rows *rows)
{
    char first[JOURNAL_BASE];
    size_t length = journal_base_line(base, first);
    const char *at = journal, *end = journal + size, *newline;
    bool sound = size >= length && memcmp(journal, first, length) == 0;
    for (at += length; sound && (newline = memchr(at, '\n', (size_t)(end - at))) != NULL; at = newline + 1) {
        char *line = strndup(at, (size_t)(newline - at));
        if (!line)
            abort();
        sound = apply_line(line, head, rows);
        free(line);
    }
}
