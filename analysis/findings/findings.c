#include "analysis/findings/findings.h"

#include "analysis/compare/crossing.h"
#include "analysis/findings/sentences.h"
#include "analysis/tables/wrap.h"

/* The kinds, the most important first. Doubts are the last finding, if there are any. */
static sentence *const kinds[] = {sentence_growth, sentence_bound,    sentence_memory,
                                  sentence_ranks,  sentence_variants, sentence_encodings};

bool has_text(const char *text)
{
    return text && *text;
}

bool is_settled(const struct row *row, size_t kind)
{
    return row_is_ok(row) && !row_unchecked(row) && row_timed(row, kind)->median > 0;
}

const struct row *row_of_most_work(const struct rows *rows, bool (*use)(const struct row *, size_t),
                                   size_t *kind, double *work)
{
    static const size_t kinds_of_work[] = {TIMED_STEP, TIMED_FORWARD};
    const struct row *most = NULL;
    *work = 0;
    for (size_t k = 0; k < 2 && !most; k++)
        for (size_t i = 0; i < rows_count(rows); i++) {
            const struct row *row = rows_at(rows, i);
            double flops = count_real(row_program(row, kinds_of_work[k])->flops.analytic);
            if (!use(row, kinds_of_work[k]) || !(flops > *work))
                continue;
            most = row;
            *kind = kinds_of_work[k];
            *work = flops;
        }
    return most;
}

const char *subject_of(size_t kind)
{
    return kind == TIMED_STEP ? "a training step" : "inference";
}

/* Without varying axes: the preset, or the nodes, of a batch also the graphs. */
static void describe_size(const struct row *row, char text[AXES_TEXT])
{
    const struct field *size[] = {schema_find("batch"), schema_find("nodes")};
    bool batch = row->batch > 1;
    if (row->preset && strcmp(row->preset, "none") != 0)
        snprintf(text, AXES_TEXT, "preset %.*s", AXES_TEXT / 2, row->preset);
    else
        axes_describe_all(row, size + !batch, 1 + batch, text);
}

/* Whether a row is better named without this varying axis. */
static bool is_redundant(const struct rows *rows, const struct field *axis)
{
    const struct field *preset = schema_find("preset");
    return strcmp(axis->path, "op") == 0 || strcmp(axis->path, "variant") == 0 ||
           (axis != preset && axes_vary(rows, preset) && axes_determine(rows, preset, axis));
}

void describe_row(const struct rows *rows, const struct row *row, char text[AXES_TEXT])
{
    const struct field *axes[AXES_MAX];
    size_t n = axes_varying(rows, axes), kept = 0;
    for (size_t i = 0; i < n; i++)
        if (!is_redundant(rows, axes[i]))
            axes[kept++] = axes[i];
    axes_describe_all(row, axes, kept, text);
    if (!*text)
        describe_size(row, text);
}

/* The heaviest sentence of a kind, to be freed; *from: of which record. Null if there is none. */
static char *heaviest(sentence *kind, const struct facts *facts, size_t n, size_t *from)
{
    char *best = NULL;
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        char *text;
        size_t size;
        struct basis basis = {.of = rows_count(facts[i].rows)};
        FILE *memory = open_text(&text, &size);
        double weight = kind(memory, &facts[i], &basis);
        if (basis.rows > 0)
            fprintf(memory, " (%zu of %zu row%s)", basis.rows, basis.of, basis.of == 1 ? "" : "s");
        fclose(memory);
        bool heavier = weight > most;
        free(heavier ? best : text);
        if (heavier) {
            best = text;
            most = weight;
            *from = i;
        }
    }
    return best;
}

static void write_findings(FILE *out, const struct facts *facts, const char *const *names, size_t n)
{
    char *doubts;
    size_t size, from = 0;
    FILE *memory = open_text(&doubts, &size);
    size_t room = FINDINGS_MAX - sentence_doubts(memory, facts, names, n);
    fclose(memory);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds && room > 0; k++) {
        char *text = heaviest(kinds[k], facts, n, &from);
        if (!text)
            continue;
        if (n > 1) {
            plain_put(out, names[from]);
            fputs(": ", out);
        }
        fprintf(out, "%s\n", text);
        free(text);
        room--;
    }
    fputs(doubts, out);
    free(doubts);
}

void findings_write(FILE *out, const struct record *const *records, const char *const *names, size_t n)
{
    struct facts *facts = allocate(n + 1, sizeof *facts);
    for (size_t i = 0; i < n; i++) {
        const struct rows *rows = record_rows(records[i]);
        facts[i] = (struct facts){records[i], rows, fits_find(rows)};
    }
    write_findings(out, facts, names, n);
    for (size_t i = 0; i < n; i++)
        fits_free(&facts[i].fits);
    free(facts);
}

void findings_print(FILE *out, const struct record *const *records, const char *const *names, size_t n)
{
    struct wrap items;
    findings_write(wrap_items(&items, out), records, names, n);
    wrap_end(&items);
}

void findings_print_crossings(FILE *out, const struct rows *rows)
{
    struct wrap items;
    struct crossings c = crossings_find(rows);
    FILE *lines = wrap_items(&items, out);
    for (size_t i = 0; i < c.count; i++) {
        crossing_print(lines, &c.list[i]);
        putc('\n', lines);
    }
    wrap_end(&items);
    crossings_free(&c);
}

void findings_print_ways(FILE *out, const struct rows *rows)
{
    struct wrap items;
    ways_write(wrap_items(&items, out), rows);
    wrap_end(&items);
}
