/*
 * What fits in memory: what the largest program needs by its plan, which is exact; what checkpoints or
 * another precision save, if rows show it; and by the law of its live bytes, which no plan undercuts, where
 * they would fill the machine's memory.
 */
#include "analysis/findings/sentences.h"

#include "analysis/record/slices.h"
#include "analysis/tables/units.h"

/* Whether it is planned for one rank, and keeps all activations. */
static bool keeps_all(const struct row *row, size_t kind)
{
    bool alone = row->ranks.count == 1 || row->ranks.count == COUNT_ABSENT;
    bool whole = !row->checkpoint || strcmp(row->checkpoint, "none") == 0;
    return row_is_ok(row) && alone && whole && row_program(row, kind)->memory.planned > 0;
}

/* The row that needs least of those that differ from one in this axis alone; null: none needs less. */
static const struct row *least_along(const struct rows *rows, const struct row *row, const struct field *axis,
                                     size_t kind, double *least)
{
    struct slices slices = slices_of(rows, NULL, (const char *const[]){axis->path, NULL});
    const struct slice *slice = slice_with(&slices, row);
    const struct row *best = NULL;
    *least = count_real(row_program(row, kind)->memory.planned);
    for (size_t i = 0; i < slice->count; i++) {
        const struct row *other = slice->rows[i].row;
        double bytes = count_real(row_program(other, kind)->memory.planned);
        if (row_is_ok(other) && bytes > 0 && bytes < *least) {
            best = other;
            *least = bytes;
        }
    }
    slices_free(&slices);
    return best;
}

/* ", with --checkpoint layer 100 MiB in 1.300 [1.281, 1.318] times the time"; returns the row, null: nothing
 * was written. */
static const struct row *say_least(FILE *out, const struct rows *rows, const struct row *row,
                                   const struct field *axis, const char *flag, size_t kind)
{
    char name[AXES_TEXT], bytes[UNITS_TEXT], ratio[RATIO_TEXT];
    double least;
    const struct row *best = least_along(rows, row, axis, kind, &least);
    if (!best)
        return NULL;
    struct verdict v = row_verdict(row, kind, best, kind, verdict_within);
    axes_text(best, axis, name);
    units_format(bytes, least, UNITS_BINARY, "B");
    verdict_ratio_text(&v, ratio);
    fprintf(out, ", with %s %s %s", flag, name, bytes);
    if (is_settled(row, kind) && is_settled(best, kind) && v.kind != VERDICT_INCONCLUSIVE)
        fprintf(out, " in %s times the time", ratio);
    return best;
}

/* Where the law of the live bytes reaches so many, beyond all values; 0: there is none. */
static double reach(const struct law_point *points, size_t n, double bytes)
{
    struct law law = law_fit(points, n, law_terms(points, n));
    double low = 0;
    for (size_t i = 0; i < n; i++)
        low = fmax(low, points[i].x);
    if (law.terms <= 1 || !(law_at(&law, low) < bytes))
        return 0;
    double high = low;
    while (law_at(&law, high) < bytes)
        high *= 2;
    while (high - low > 1e-6 * high) {
        double middle = (low + high) / 2;
        *(law_at(&law, middle) < bytes ? &low : &high) = middle;
    }
    return low;
}

/* Where the live bytes of rows that differ from one in this axis alone reach so many; 0: not known. */
static double reach_along(const struct rows *rows, const struct row *row, const struct field *axis,
                          size_t kind, double bytes, size_t *known)
{
    struct slices slices = slices_of(rows, axis, NULL);
    const struct slice *slice = slice_with(&slices, row);
    struct law_point *points = allocate(slice->count + 1, sizeof *points);
    *known = 0;
    for (size_t i = 0; i < slice->count; i++) {
        const struct row *other = slice->rows[i].row;
        double y = count_real(row_program(other, kind)->memory.peak_live);
        points[*known] = (struct law_point){0, y, y, y};
        *known += keeps_all(other, kind) && y > 0 && field_number(other, axis, &points[*known].x) &&
                  points[*known].x > 0;
    }
    double at = reach(points, *known, bytes);
    free(points);
    slices_free(&slices);
    return at;
}

/* "; about 240000 nodes would fill this machine's 23.5 GiB", along the first axis whose law is known; returns
 * of how many more rows. */
static size_t say_reach(FILE *out, const struct facts *facts, const struct row *row, size_t kind)
{
    const struct field *axes[AXES_MAX];
    size_t numeric = axes_numeric(facts->rows, axes), a = 0, known = 0;
    const char *device = row->device ? row->device : "";
    double memory = 0, at = 0;
    char bytes[UNITS_TEXT], text[AXES_TEXT];
    if ((strcmp(device, "cpu") != 0 && strcmp(device, "ref") != 0) ||
        !value_read_real(value_get(value_get(record_head(facts->record), "host"), "memory"), &memory))
        return 0;
    while (a < numeric && !(at > 0))
        at = reach_along(facts->rows, row, axes[a++], kind, memory, &known);
    if (!(at > 0))
        return 0;
    double digits = pow(10, floor(log10(at)) - 1);
    units_format(bytes, memory, UNITS_BINARY, "B");
    axes_describe_number(axes[a - 1], digits * round(at / digits), text);
    fprintf(out, "; about %s would fill this machine's %s", text, bytes);
    return known - 1;
}

/* "; out of memory with 10000 nodes (needs 17 GiB)", of the first such row. */
static bool say_failure(FILE *out, const struct rows *rows)
{
    for (size_t i = 0; i < rows_count(rows); i++) {
        const struct row *row = rows_at(rows, i);
        char name[AXES_TEXT];
        if (!row->status || strcmp(row->status, "oom") != 0)
            continue;
        describe_row(rows, row, name);
        fprintf(out, "; out of memory with %s (%s)", name, row->reason ? row->reason : "");
        return true;
    }
    return false;
}

double sentence_memory(FILE *out, const struct facts *facts, struct basis *basis)
{
    const struct row *other = NULL;
    size_t kind;
    char name[AXES_TEXT], text[UNITS_TEXT];
    double work;
    const struct row *row = row_of_most_work(facts->rows, keeps_all, &kind, &work);
    if (!row)
        return 0;
    const struct row_program *p = row_program(row, kind);
    const struct field *checkpoint = schema_find("checkpoint"), *precision = schema_find("dtype");
    double kept = count_real(p->memory.activations) / count_real(p->memory.peak_live);
    describe_row(facts->rows, row, name);
    units_format(text, (double)p->memory.planned, UNITS_BINARY, "B");
    fprintf(out, "With %s, %s needs %s of memory", name, subject_of(kind), text);
    if (axes_vary(facts->rows, checkpoint))
        other = say_least(out, facts->rows, row, checkpoint, "--checkpoint", kind);
    else if (kept >= 0.5 && kind == TIMED_STEP)
        fprintf(out, ", %.0f %% of it activations (fewer: --checkpoint layer)", 100 * kept);
    basis->rows = 1 + (other != NULL);
    if (axes_vary(facts->rows, precision)) {
        other = say_least(out, facts->rows, row, precision, "--precision", kind);
        if (other && row->error.norm > 0 && other->error.norm > 0)
            fprintf(out, ", and an error of %.0e, not %.0e", other->error.norm, row->error.norm);
        basis->rows += other != NULL;
    }
    if (say_failure(out, facts->rows))
        basis->rows++;
    else
        basis->rows += say_reach(out, facts, row, kind);
    fputs(".", out);
    return work;
}
