#include "graphs/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "graphs/lines.h"
#include "graphs/words.h"

enum { NUMBER_TEXT = 64 };

void table_value(struct number_table *t, double value)
{
    if (t->to && t->room > 0)
        *t->to++ = (float)value;
    t->room--;
    if (!isfinite(value)) {
        t->missing++;
        return;
    }
    t->least = fmin(t->least, value);
    t->most = fmax(t->most, value);
}

/* The number that has been scanned from `word` on. */
static bool take_number(struct number_table *t, struct words *w, const char *word)
{
    char text[NUMBER_TEXT];
    size_t length = (size_t)(w->at - word);
    if (length >= sizeof text)
        return words_refuse(w, "'%s' has too many digits", word);
    memcpy(text, word, length);
    text[length] = '\0';
    table_value(t, strtod(text, NULL));
    return true;
}

static bool scan_field(struct number_table *t, struct words *w)
{
    static const char nan[] = "nan";
    const char *word = w->at;
    struct words after = {.at = word + strlen(nan), .end = w->end};
    bool missing = words_at_separator(w);
    if (!missing && w->end - word >= (ptrdiff_t)strlen(nan) && strncasecmp(word, nan, strlen(nan)) == 0 &&
        words_at_separator(&after)) {
        w->at = after.at;
        missing = true;
    }
    if (missing)
        table_value(t, NAN);
    return missing || (words_number(w, "number") && take_number(t, w, word));
}

/* The number of columns of a row; 0 with a reason. */
static int64_t scan_row(struct number_table *t, struct words *w)
{
    for (int64_t cols = 1; scan_field(t, w); cols++) {
        bool comma = words_skip_separator(w);
        if (w->at == w->end && !comma)
            return cols;
    }
    return 0;
}

bool table_read_text(struct number_table *t, struct text_lines *l)
{
    struct words w;
    t->type = "text";
    for (; lines_next_words(l, &w); t->rows++) {
        int64_t cols = scan_row(t, &w);
        if (cols == 0)
            return lines_refuse(l, "%s", w.reason);
        if (t->rows > 0 && cols != t->cols)
            return lines_refuse(l, "a row of %" PRId64 ", after rows of %" PRId64, cols, t->cols);
        t->cols = cols;
    }
    return !l->failed && (t->rows > 0 || lines_fail(l, "the file has no rows"));
}

static bool is_npy(const char *path)
{
    size_t length = strlen(path);
    return length >= 4 && strcmp(path + length - 4, ".npy") == 0;
}

static bool read_table(struct number_table *t, const char *path, struct cancel cancel, char *error,
                       size_t error_size)
{
    struct text_lines l = {.path = path, .cancel = cancel, .error = error, .error_size = error_size};
    bool done = lines_open(&l) && (is_npy(path) ? table_read_npy : table_read_text)(t, &l);
    lines_close(&l);
    return done;
}

bool table_read(struct number_table *t, const char *path, struct cancel cancel, char *error,
                size_t error_size)
{
    *t = (struct number_table){.least = INFINITY, .most = -INFINITY};
    return read_table(t, path, cancel, error, error_size);
}

bool table_values(const char *path, float *to, int64_t count, struct cancel cancel, char *error,
                  size_t error_size)
{
    struct number_table t = {.to = to, .room = count};
    if (!read_table(&t, path, cancel, error, error_size))
        return false;
    if (t.room != 0)
        snprintf(error, error_size, "%.200s: has changed while it was read", path);
    return t.room == 0;
}
