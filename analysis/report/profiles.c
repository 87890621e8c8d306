/* Where the time of a program goes. */
#include "analysis/report/parts.h"

#include "analysis/record/profile.h"
#include "analysis/report/html.h"
#include "analysis/tables/units.h"

#include <math.h>
#include <stdlib.h>

/* The measured time, or what is predicted if the profile is only planned; NAN: neither is known. */
static double profile_time(const struct profile *p, const struct profile_group *g)
{
    return p->runs > 0 ? g->seconds : g->least;
}

static void put_amount(FILE *out, int64_t amount, double scale, const char *unit)
{
    char text[UNITS_TEXT];
    double rate = (double)amount / scale;
    if (amount < 0 || !isfinite(rate)) {
        fputs("<td class=\"none\">–</td>", out);
        return;
    }
    units_format(text, rate, UNITS_SI, unit);
    html(out, "<td class=\"n\">%s</td>", text);
}

static void put_profile_group(FILE *out, const struct profile *p, const struct profile_group *g, double total)
{
    char time[UNITS_TEXT], share[UNITS_TEXT];
    double seconds = profile_time(p, g);
    units_format(time, seconds, UNITS_SI, "s");
    snprintf(share, sizeof share, "%.1f %%", 100 * seconds / total);
    html(out, "<tr><th scope=\"row\">%s</th><td class=\"n\">%d</td>", g->key, g->calls);
    if (seconds / total >= 0) {
        html(out, "<td class=\"n\">%s</td><td class=\"n\">%s</td>", time, share);
    } else {
        fputs("<td class=\"none\">–</td><td class=\"none\">–</td>", out);
    }
    put_amount(out, g->flops, 1, "FLOP");
    put_amount(out, g->flops, seconds, "FLOP/s");
    put_amount(out, g->bytes, seconds, "B/s");
    if (g->seconds > 0 && g->least >= 0)
        html(out, "<td class=\"n\">%.3g %%</td>", 100 * g->least / g->seconds);
    else
        fputs("<td class=\"none\">–</td>", out);
    html(out, "<td>%s</td></tr>\n", !(g->least >= 0) ? "–" : g->memory > g->least / 2 ? "memory" : "compute");
}

static void put_groups(FILE *out, const struct profile *p, enum profile_key key, const char *title)
{
    enum { SHOWN = 16 };
    size_t count;
    struct profile_group sum = profile_total(p);
    struct profile_group *groups = profile_groups(p, key, PROFILE_LONGEST, &count);
    html(out,
         "<div class=\"wide\" tabindex=\"0\"><table class=\"profile\"><thead><tr><th>%s</th>"
         "<th class=\"n\">calls</th><th class=\"n\">%s</th><th class=\"n\">share</th><th "
         "class=\"n\">FLOPs</th>"
         "<th class=\"n\">FLOP/s</th><th class=\"n\">B/s</th><th "
         "class=\"n\">roof</th><th>bound</th></tr></thead>"
         "<tbody>\n",
         title, p->runs > 0 ? "time" : "predicted");
    for (size_t i = 0; i < count && i < SHOWN; i++)
        put_profile_group(out, p, &groups[i], profile_time(p, &sum));
    fputs("</tbody></table></div>\n", out);
    if (count > SHOWN)
        html(out, "<p class=\"note\">and %zu more in the file</p>\n", count - SHOWN);
    free(groups);
}

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
    put_groups(out, p, PROFILE_OP, "op");
    put_groups(out, p, PROFILE_PART, "part of a layer, op");
}

static void put_sections(FILE *out, const struct part *part, const struct row *row)
{
    char name[AXES_TEXT], time[UNITS_TEXT];
    size_t sections = row->sections.seconds.count, metrics = row->metrics.value.count;
    part_name_row(part, row, name);
    html(out,
         "<h3>Reported by the plug-in, %s</h3>\n<div class=\"wide\" tabindex=\"0\"><table class=\"profile\">"
         "<thead><tr><th>section or metric</th><th class=\"n\">calls</th><th class=\"n\">a run</th>"
         "<th>metadata</th></tr></thead><tbody>\n",
         name);
    for (size_t i = 0; i < sections; i++) {
        units_format(time, row->sections.seconds.reals[i], UNITS_SI, "s");
        html(
            out,
            "<tr><th scope=\"row\">%s</th><td class=\"n\">%.4g</td><td class=\"n\">%s</td><td>%s</td></tr>\n",
            row->sections.name.texts[i], row->sections.calls.reals[i], time, row->sections.metadata.texts[i]);
    }
    for (size_t i = 0; i < metrics; i++)
        html(out, "<tr><th scope=\"row\">%s</th><td></td><td class=\"n\">%.4g</td><td></td></tr>\n",
             row->metrics.name.texts[i], row->metrics.value.reals[i]);
    fputs("</tbody></table></div>\n", out);
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
