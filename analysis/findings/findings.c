#include "analysis/findings/findings.h"

#include "analysis/compare/crossing.h"
#include "analysis/compare/repeats.h"
#include "analysis/findings/sentences.h"
#include "analysis/tables/wrap.h"

#include <string.h>

bool is_settled(const struct row *row, const char *program)
{
    char path[SCHEMA_PATH];
    double time;
    snprintf(path, sizeof path, "%s.time.median", program);
    return row_is_ok(row) && !row_unchecked(row) && !row_noisy(row, program) &&
           row_get_real(row, path, &time) && time > 0;
}

void describe_axes(const struct facts *facts, const struct row *row, char text[AXES_TEXT])
{
    const struct field *axes[AXES_MAX];
    size_t n = axes_varying(facts->rows, axes), kept = 0;
    for (size_t i = 0; i < n; i++)
        if (strcmp(axes[i]->path, "op") != 0 && strcmp(axes[i]->path, "variant") != 0)
            axes[kept++] = axes[i];
    axes_describe_all(row, axes, kept, text);
}

void describe_row(const struct facts *facts, const struct row *row, char text[AXES_TEXT])
{
    describe_axes(facts, row, text);
    if (!*text)
        axes_describe(row, schema_find("nodes"), text);
}

void findings_write(FILE *out, const struct record *record)
{
    static sentences *const all[] = {sentences_sweep,       sentences_batching,  sentences_crossings,
                                     sentences_largest,     sentences_parts,     sentences_profile,
                                     sentences_checkpoints, sentences_ranks,     sentences_ways,
                                     sentences_kernels,     sentences_encodings, sentences_checks};
    struct fits fits = fits_find(record_rows(record));
    const struct facts facts = {record_rows(record), &fits};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        all[i](out, &facts);
    fits_free(&fits);
}

void findings_print(FILE *out, const struct record *record)
{
    struct wrap items;
    findings_write(wrap_items(&items, out), record);
    wrap_end(&items);
}

void findings_print_crossings(FILE *out, const struct rows *rows)
{
    struct wrap items;
    struct crossings c = crossings_find(rows);
    FILE *lines = wrap_items(&items, out);
    for (size_t i = 0; i < c.count; i++)
        crossing_print(lines, &c.list[i]);
    wrap_end(&items);
    crossings_free(&c);
}

void findings_print_ways(FILE *out, const struct rows *rows)
{
    struct wrap items;
    sentences_ways(wrap_items(&items, out), &(struct facts){.rows = rows});
    wrap_end(&items);
}

void findings_print_repeats(FILE *out, const struct rows *rows, const char *heading)
{
    struct wrap items;
    struct repeats repeats = repeats_find(rows);
    fputs(repeats.pairs > 0 ? heading : "", out);
    repeats_print(wrap_items(&items, out), &repeats);
    wrap_end(&items);
}
