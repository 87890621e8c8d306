#include "bench/show/profile.h"

#include <math.h>

#include "analysis/charts/frame.h"
#include "analysis/charts/gnuplot.h"
#include "analysis/charts/style.h"
#include "analysis/charts/text_width.h"
#include "analysis/tables/units.h"

void model_report(const struct tape *t, enum program_kind kind, FILE *out)
{
    const struct plan *plan = tape_planned(t);
    int64_t parameters = tape_parameter_elements(t);
    char bytes[UNITS_TEXT], planned[UNITS_TEXT];
    units_format(bytes, (double)parameters * (double)dtype_size(tape_config(t)->dtype), UNITS_BINARY, "B");
    units_format(planned, (double)plan->arena, UNITS_BINARY, "B");
    fprintf(out, "\n%s: %lld parameters (%s), %d entries, %s planned\n", program_name(kind),
            (long long)parameters, bytes, tape_entry_count(t), planned);
    fprintf(out, "  %-40s %12s %8s\n", "memory at the peak", "bytes", "share");
    for (enum category c = 0; c < MEMORY_CATEGORIES; c++) {
        units_format(bytes, (double)plan->at_peak[c], UNITS_BINARY, "B");
        if (plan->at_peak[c])
            fprintf(out, "  %-40s %12s %6.1f %%\n", category_name(c), bytes,
                    100 * (double)plan->at_peak[c] / (double)plan->peak);
    }
}

struct timeline {
    const struct tape *tape;
    enum program_kind kind;
};

/* Whether a category has any bytes in the program. */
static bool is_used(const struct tape *t, enum category c)
{
    for (int e = 0; e < tape_entry_count(t); e++)
        if (tape_live_of(t, e, c) > 0)
            return true;
    return false;
}

/* Columns: the entry, 0, and the cumulative bytes of the categories, the last of which is all live bytes. */
static void write_points(FILE *out, const struct tape *t)
{
    fputs("$live << END\n", out);
    for (int e = 0; e < tape_entry_count(t); e++) {
        int64_t sum = 0;
        fprintf(out, "%d 0", e);
        for (enum category c = 0; c < MEMORY_CATEGORIES; c++)
            if (is_used(t, c))
                fprintf(out, " %lld", (long long)(sum += tape_live_of(t, e, c)));
        putc('\n', out);
    }
    fputs("END\n", out);
}

static void write_timeline(FILE *out, const void *what)
{
    const struct timeline *line = what;
    const struct plan *plan = tape_planned(line->tape);
    const struct entry *peak = tape_entry(line->tape, plan->peak_entry);
    int entries = tape_entry_count(line->tape), used = 0;
    char span[256], op[256], title[CHART_TEXT], bytes[UNITS_TEXT];
    double widest = 0;
    units_format(bytes, (double)plan->peak, UNITS_BINARY, "B");
    gnuplot_escape(span, sizeof span, peak->span);
    gnuplot_escape(op, sizeof op, op_info(peak->op)->name);
    snprintf(title, sizeof title, "%s holds %s at most, at entry %d of %d: %s of %s",
             line->kind == PROGRAM_STEP ? "A training step" : "A forward pass", bytes, plan->peak_entry,
             entries, op, span);
    fprintf(out, "peak = %d\nentries = %d\narray label[%d]\n", plan->peak_entry, entries, MEMORY_CATEGORIES);
    for (enum category c = 0; c < MEMORY_CATEGORIES; c++)
        if (is_used(line->tape, c)) {
            fprintf(out, "label[%d] = \"%s\"\n", ++used, category_name(c));
            widest = fmax(widest, text_width(category_name(c)));
        }
    fprintf(out, "categories = %d\n", used);
    write_points(out, line->tape);
    frame_write(out, &(struct frame){.title = title,
                                     .subtitle = "",
                                     .axis = "memory alive, by the plan",
                                     .notes = {"dashed: the peak"},
                                     .legend_rows = frame_legend_rows((size_t)used, widest),
                                     .height = 400});
}

enum chart_result model_timeline(const struct tape *t, enum program_kind kind, const char *prefix,
                                 char *message)
{
    struct timeline line = {t, kind};
    struct figure figure = {.style = style_timeline, .write = write_timeline, .what = &line};
    snprintf(figure.name, sizeof figure.name, "timeline_%s", program_name(kind));
    return figures_draw(&figure, 1, prefix, message);
}
