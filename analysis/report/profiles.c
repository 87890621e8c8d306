#include "analysis/report/parts.h"

#include "analysis/tables/grid.h"
#include "analysis/tables/html.h"
#include "analysis/tables/profile_table.h"

static void put_profile(FILE *out, const struct part *part, const struct row *row, size_t kind,
                        const struct profile *p)
{
    char name[AXES_TEXT];
    part_name_row(part, row, name);
    html(out, "<h3>Profile of %s, %s</h3>\n<p class=\"note\">", program_name(kind), name);
    if (p->runs > 0)
        html(out, "medians of %lld run%s with a mark after each entry", (long long)p->runs,
             p->runs == 1 ? "" : "s");
    else
        html(out, "planned, not run; times predicted at %s", *p->ceilings ? p->ceilings : "no peak rates");
    fputs("</p>\n", out);
    profile_print_page(p, out);
}

static void put_sections(FILE *out, const struct part *part, const struct row *row)
{
    struct grid g = {.columns = 4, .class = "profile"};
    char name[AXES_TEXT];
    part_name_row(part, row, name);
    html(out, "<h3>Reported by the plug-in, %s</h3>\n", name);
    grid_add_texts(&g, "section or metric", "calls", "a run", "metadata", NULL);
    for (size_t i = 0; i < row->sections.seconds.count; i++) {
        grid_add(&g, "%s", row->sections.name.texts[i]);
        grid_add(&g, "%.4g", row->sections.calls.reals[i]);
        grid_add_value(&g, row->sections.seconds.reals[i], UNITS_SI, "s");
        grid_add(&g, "%s", row->sections.metadata.texts[i]);
    }
    for (size_t i = 0; i < row->metrics.value.count; i++) {
        grid_add_texts(&g, row->metrics.name.texts[i], "-", NULL);
        grid_add(&g, "%.4g", row->metrics.value.reals[i]);
        grid_add(&g, "-");
    }
    grid_print(&g, TABLE_HTML, out);
    grid_free(&g);
}

void part_profiles(FILE *out, const struct part *p)
{
    enum { SHOWN = 4 };
    size_t found = 0;
    for (size_t i = 0; i < rows_count(p->rows); i++)
        for (size_t k = 0; k + 1 < TIMED; k++) { /* encodings have no tape */
            struct profile profile;
            const struct row *row = rows_at(p->rows, i);
            if (!profile_read(&profile, row, k))
                continue;
            if (profile.count > 0 && found++ < SHOWN)
                put_profile(out, p, row, k, &profile);
            profile_free(&profile);
        }
    for (size_t i = 0, put = 0; i < rows_count(p->rows) && put < SHOWN; i++)
        if (row_has(rows_at(p->rows, i), "sections")) {
            put_sections(out, p, rows_at(p->rows, i));
            put++;
        }
    if (found > SHOWN)
        html(out, "<p class=\"note\">%zu more profiles are in the file (--format csv-profile)</p>\n",
             found - SHOWN);
}
