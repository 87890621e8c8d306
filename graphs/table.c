#include "graphs/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graphs/lines.h"
#include "graphs/words.h"

enum { NUMBER_TEXT = 64 };

/* The smallest number that float32 rounds to infinity: half a unit above its largest. */
static const double FLOAT_END = 0x1.ffffffp127;

bool table_value(struct number_table *t, double value)
{
    int64_t at = t->by_columns ? t->taken % t->rows * t->cols + t->taken / t->rows : t->taken;
    if (fabs(value) >= FLOAT_END)
        return false;
    if (t->to && at < t->room)
        t->to[at] = (float)value;
    if (t->whole && at < t->room)
        t->whole[at] = value >= 0 && value <= INT32_MAX ? (int32_t)value : -1;
    t->taken++;
    if (isnan(value)) {
        t->missing++;
        return true;
    }
    t->least = fmin(t->least, value);
    t->most = fmax(t->most, value);
    return true;
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
    return table_value(t, strtod(text, NULL)) || words_refuse(w, "'%s' " TABLE_TOO_LARGE, word);
}

static bool scan_field(struct number_table *t, struct words *w)
{
    const char *word = w->at;
    if (words_at_separator(w))
        return table_value(t, NAN);
    return words_number(w, "number") && take_number(t, w, word);
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

static bool is_npy(const struct text_lines *l)
{
    size_t length = strlen(l->path);
    return (l->container && l->container->npy) || (length >= 4 && strcmp(l->path + length - 4, ".npy") == 0);
}

static bool read_table(struct number_table *t, const char *path, struct cancel cancel, char *error,
                       size_t error_size)
{
    struct text_lines l = {.path = path, .cancel = cancel, .error = error, .error_size = error_size};
    bool done = lines_open(&l) && (is_npy(&l) ? table_read_npy : table_read_text)(t, &l);
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
    if (t.taken != count)
        snprintf(error, error_size, "%.200s: has changed while it was read", path);
    return t.taken == count;
}
