#include "analysis/compare/compare.h"

#include "analysis/record/result_file.h"
#include "analysis/tables/wrap.h"

/* Fields of the record that say how the rows were made. */
static const char *const context[] = {"benchmark",   "host.instruction_set", "host.cores",
                                      "host.system", "host.waiting",         "compiler",
                                      "flags",       "libraries.blas",       "commit"};
enum { CONTEXT = sizeof context / sizeof *context };

/* "AMD EPYC, cpu, 2 threads", without device or threads if the rows differ in them. */
static void print_file(FILE *out, const struct compared *file)
{
    const struct field *where[] = {schema_find("device"), schema_find("threads")};
    fprintf(out, "%c  %s", file->letter, file->name);
    for (size_t i = 0; i < sizeof where / sizeof *where; i++) {
        char value[AXES_TEXT];
        axes_describe(rows_at(file->rows, 0), where[i], value);
        if (!axes_vary(file->rows, where[i]) && *value)
            fprintf(out, ", %s", value);
    }
    fprintf(out, ": %s", file->path);
    if (file->runs.count > 1)
        fprintf(out, ", %zu runs", file->runs.count);
    fputs(file->letter == 'A' ? " (baseline)\n" : "\n", out);
}

/* "machine/bench" for results/machine/bench.jsonl, which is short enough for a legend. */
static void short_path(char text[AXES_TEXT], const char *path)
{
    const char *from = path + strlen(path);
    for (int slashes = 0; from > path && (from[-1] != '/' || ++slashes < 2);)
        from--;
    snprintf(text, AXES_TEXT, "%.*s", (int)record_name_length(from), from);
}

void compare_label(char text[AXES_TEXT], const struct comparison *c, size_t file)
{
    const struct compared *this = &c->files[file];
    bool alike = false;
    for (size_t f = 0; f < c->count; f++)
        alike = alike || (f != file && (strcmp(c->files[f].name, this->name) == 0 ||
                                        (*this->brand && strcmp(c->files[f].brand, this->brand) == 0)));
    if (alike)
        short_path(text, this->path);
    else
        memcpy(text, *this->brand ? this->brand : this->name, AXES_TEXT);
}

/* A field of the record as text, "-" if it is missing. */
static void context_text(char text[AXES_TEXT], const struct record *record, const char *path)
{
    const char *value;
    int64_t count;
    snprintf(text, AXES_TEXT, "-");
    if (value_get_text(record_head(record), path, &value))
        snprintf(text, AXES_TEXT, "%s", value);
    else if (value_get_count(record_head(record), path, &count))
        snprintf(text, AXES_TEXT, "%lld", (long long)count);
}

static void print_texts(FILE *out, const struct comparison *c, const char *path,
                        char texts[COMPARED_MAX][AXES_TEXT])
{
    bool differs = false;
    for (size_t f = 0; f < c->count; f++)
        differs = differs || strcmp(texts[f], texts[0]) != 0;
    if (!differs)
        return;
    fprintf(out, "   %s:", path);
    for (size_t f = 0; f < c->count; f++)
        fprintf(out, "%s %c %s", f == 0 ? "" : ";", c->files[f].letter, texts[f]);
    putc('\n', out);
}

static void print_context(FILE *out, const struct comparison *c, const char *path)
{
    char texts[COMPARED_MAX][AXES_TEXT];
    for (size_t f = 0; f < c->count; f++)
        context_text(texts[f], c->files[f].record, path);
    print_texts(out, c, path, texts);
}

/* The axes in which the rows compared differ between files alone, and that all files have. */
static void print_axes(FILE *out, const struct comparison *c)
{
    for (const struct field *axis = schema_fields; schema_has(axis); axis++) {
        char texts[COMPARED_MAX][AXES_TEXT];
        bool fixed = axis->symbol != NULL && comparison_lines(c) > 0;
        for (size_t f = 0; f < c->count && fixed; f++) {
            const struct row *row = comparison_row(c, f, 0);
            fixed = row && row_has_field(row, axis) && !comparison_varies(c, f, axis);
            if (fixed)
                axes_text(row, axis, texts[f]);
        }
        if (fixed)
            print_texts(out, c, axis->path, texts);
    }
}

static bool is_tagged_before(const struct comparison *c, size_t file, const char *path)
{
    while (file-- > 0)
        if (value_get(record_head(c->files[file].record), path))
            return true;
    return false;
}

static void print_tags(FILE *out, const struct comparison *c)
{
    for (size_t f = 0; f < c->count; f++)
        for (struct walk w = value_walk(value_get(record_head(c->files[f].record), "tags")); walk_next(&w);) {
            char path[AXES_TEXT];
            snprintf(path, sizeof path, "tags.%s", w.key);
            if (!is_tagged_before(c, f, path))
                print_context(out, c, path);
        }
}

void compare_files(FILE *out, const struct comparison *c)
{
    for (size_t f = 0; f < c->count; f++)
        print_file(out, &c->files[f]);
    for (size_t i = 0; i < CONTEXT; i++)
        print_context(out, c, context[i]);
    print_axes(out, c);
    print_tags(out, c);
}

static void put_tally(FILE *out, const struct comparison *c, size_t file, size_t program)
{
    struct tally t = comparison_tally(c, file, program);
    const char *separator = "";
    if (t.pairs == 0)
        return;
    fprintf(out, "%c, %s: ", c->files[file].letter, compare_program(program));
    for (int k = VERDICT_SLOWER; k >= VERDICT_INCONCLUSIVE; k--)
        if (t.verdicts[k] > 0) {
            fprintf(out, "%s%zu %s", separator, t.verdicts[k], verdict_name((enum verdict_kind)k));
            separator = ", ";
        }
    if (t.ratios > 0)
        fprintf(out, "; geometric mean of %c / A %.3f over %zu row%s", c->files[file].letter, t.mean,
                t.ratios, t.ratios == 1 ? "" : "s");
    putc('\n', out);
}

void compare_means(FILE *out, const struct comparison *c)
{
    for (size_t f = 1; f < c->count; f++)
        for (size_t p = 0; p < TIMED; p++)
            if (c->programs[p])
                put_tally(out, c, f, p);
}

/* Whether row i of a file belongs to a kind of leftover rows; then text[MESSAGE_SIZE] says why. */
typedef bool left_over(const struct comparison *c, size_t file, size_t i, char *text);

static bool is_not_ok(const struct comparison *c, size_t file, size_t i, char *text)
{
    const struct row *row = rows_at(c->files[file].rows, i);
    snprintf(text, MESSAGE_SIZE, "%s (%.450s)", row->status ? row->status : "?",
             row->reason ? row->reason : "");
    return !row_is_ok(row);
}

static bool is_unchecked(const struct comparison *c, size_t file, size_t i, char *text)
{
    const char *reason = row_unchecked(rows_at(c->files[file].rows, i));
    snprintf(text, MESSAGE_SIZE, "%.500s", reason ? reason : "");
    return reason != NULL;
}

/* A row of the baseline must be in all other files, a row of another file in the baseline. */
static bool is_alone(const struct comparison *c, size_t file, size_t i, char *text)
{
    const struct row *row = rows_at(c->files[file].rows, i);
    text[0] = '\0';
    for (size_t f = 0; f < c->count; f++) {
        char why[AXES_TEXT];
        if (f == file || (file > 0 && f > 0) || match_find(&c->rule, c->files[f].rows, row) != MATCH_NONE)
            continue;
        match_explain(&c->rule, c->files[f].rows, row, why);
        append(text, MESSAGE_SIZE, "%snot in %c (%s)", *text ? "; " : "", c->files[f].letter, why);
    }
    return *text && !comparison_repeats(c, file, i);
}

bool compare_lacks(const struct comparison *c, size_t file, size_t i, char *text)
{
    return is_not_ok(c, file, i, text) || is_alone(c, file, i, text);
}

/* Lists them; those with the same reason on one line. */
static void put_left_over(FILE *out, const struct comparison *c, size_t file, const char *what, left_over *is)
{
    const struct rows *rows = c->files[file].rows;
    char text[MESSAGE_SIZE], before[MESSAGE_SIZE] = "", name[AXES_TEXT];
    const struct field *varying[AXES_MAX];
    size_t count = 0, axes = axes_varying(rows, varying);
    for (size_t i = 0; i < rows_count(rows); i++)
        count += is(c, file, i, text);
    if (count == 0)
        return;
    fprintf(out, "%c: %zu of %zu rows %s%s", c->files[file].letter, count, rows_count(rows),
            count == 1 ? "is " : "are ", what);
    for (size_t i = 0; i < rows_count(rows); i++) {
        if (!is(c, file, i, text))
            continue;
        axes_describe_all(rows_at(rows, i), varying, axes, name);
        if (!*name)
            snprintf(name, sizeof name, "row %zu", i + 1);
        if (strcmp(text, before) == 0)
            fprintf(out, "; %s", name);
        else
            fprintf(out, "\n   %s: %s", text, name);
        memcpy(before, text, sizeof before);
    }
    putc('\n', out);
}

void compare_left_over(FILE *out, const struct comparison *c, size_t file)
{
    put_left_over(out, c, file, "not ok", is_not_ok);
    put_left_over(out, c, file, "unchecked", is_unchecked);
    put_left_over(out, c, file, "without a partner", is_alone);
}

struct tally compare_two(FILE *out, const struct comparison *c)
{
    struct tally all = comparison_tally(c, COMPARED_MAX, TIMED);
    compare_table(out, TABLE_TERMINAL, c);
    if (comparison_lines(c) > 0)
        putc('\n', out);
    struct wrap w;
    wrap_begin(&w, out);
    compare_means(w.lines, c);
    compare_profiles(w.lines, c);
    compare_left_over(w.lines, c, c->lead);
    wrap_end(&w);
    if (!all.judged)
        fputs("nothing could be compared\n", out);
    return all;
}
