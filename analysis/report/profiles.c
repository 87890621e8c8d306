/* Where the time of a program goes, and what is in memory while it runs. */
#include "analysis/report/parts.h"

#include "analysis/record/profile.h"
#include "analysis/report/html.h"
#include "analysis/report/plot.h"
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
        html(out, "<td class=\"n\">%s</td><td class=\"n c1\">%s ", time, share);
        put_bar(out, seconds / total, share);
        fputs("</td>", out);
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
    struct profile_group *groups =
        profile_groups(p, key, key == PROFILE_PHASE ? PROFILE_AS_RUN : PROFILE_LONGEST, &count);
    html(
        out,
        "<div><div class=\"wide\" tabindex=\"0\"><table class=\"profile\"><thead><tr><th>%s</th>"
        "<th class=\"n\">calls</th><th class=\"n\">%s</th><th class=\"n\">share</th><th class=\"n\">work</th>"
        "<th class=\"n\">FLOP/s</th><th class=\"n\">B/s</th><th "
        "class=\"n\">roof</th><th>bound</th></tr></thead>"
        "<tbody>\n",
        title, p->runs > 0 ? "time" : "predicted");
    for (size_t i = 0; i < count && i < SHOWN; i++)
        put_profile_group(out, p, &groups[i], profile_time(p, &sum));
    fputs("</tbody></table></div>\n", out);
    if (count > SHOWN)
        html(out, "<p class=\"note\">and %zu more in the file</p>\n", count - SHOWN);
    fputs("</div>\n", out);
    free(groups);
}

/* The entry with the most live bytes of entries[from, to). */
static size_t fullest(const struct profile *p, size_t from, size_t to)
{
    size_t most = from;
    for (size_t i = from; i < to; i++)
        most = p->entries[i].live > p->entries[most].live ? i : most;
    return most;
}

/* Whether the profile has the parts of the live bytes: older files do not. */
static bool has_categories(const struct profile *p)
{
    int64_t most = 0;
    for (size_t i = 0; i < p->count; i++)
        for (size_t c = 0; c < PROFILE_CATEGORIES; c++)
            most = p->entries[i].live_of[c] > most ? p->entries[i].live_of[c] : most;
    return most > 0;
}

/* One entry as a column from one place to another, its categories stacked. */
static void put_column(FILE *out, const struct plot *plot, const struct profile_entry *e, double from,
                       double to, bool categories)
{
    double sum = 0, x = plot_x(plot, from), width = plot_x(plot, to) - x;
    for (size_t c = 0; c < (categories ? PROFILE_CATEGORIES : 1); c++) {
        double bytes = (double)(categories ? e->live_of[c] : e->live);
        if (!(bytes > 0))
            continue;
        double top = plot_y(plot, sum + bytes), bottom = plot_y(plot, sum);
        html(out, "<rect class=\"c%zu\" x=\"%.2f\" y=\"%.1f\" width=\"%.2f\" height=\"%.1f\"/>", c + 1, x,
             top, width, bottom - top);
        sum += bytes;
    }
}

static void put_categories(FILE *out, const struct profile *p)
{
    fputs("<ul class=\"legend\">", out);
    for (size_t c = 0; c < PROFILE_CATEGORIES; c++) {
        bool used = false;
        for (size_t i = 0; i < p->count; i++)
            used = used || p->entries[i].live_of[c] > 0;
        if (used)
            html(out, "<li class=\"c%zu\">%s</li>", c + 1, profile_categories[c]);
    }
    fputs("</ul>\n", out);
}

/* A step for each entry; of many entries, one for the fullest of some. */
static void put_timeline(FILE *out, const struct profile *p, const char *program)
{
    enum { STEPS = 300 };
    char bytes[UNITS_TEXT];
    bool categories = has_categories(p);
    size_t peak = fullest(p, 0, p->count), steps = p->count < STEPS ? p->count : STEPS;
    struct plot plot = {.name = "live memory over the entries of the tape",
                        .x_title = "entry of the tape",
                        .y_title = "memory alive, by the plan",
                        .x = {.low = 0, .high = (double)p->count},
                        .y = {.low = 0, .high = 1.05 * (double)p->entries[peak].live},
                        .linear = true,
                        .base = UNITS_BINARY,
                        .unit = "B"};
    plot.x.count = ticks_even(0, plot.x.high, UNITS_SI, plot.x.ticks);
    plot.y.count = ticks_even(0, plot.y.high, UNITS_BINARY, plot.y.ticks);
    units_format(bytes, (double)p->entries[peak].live, UNITS_BINARY, "B");
    html(out, "<figure><figcaption>%s holds %s at most, at entry %zu of %zu: %s of %s</figcaption>\n",
         program, bytes, peak + 1, p->count, p->entries[peak].op, p->entries[peak].span);
    plot_begin(out, &plot);
    for (size_t k = 0; k < steps; k++) {
        size_t from = k * p->count / steps, to = (k + 1) * p->count / steps, i = fullest(p, from, to);
        const struct profile_entry *e = &p->entries[i];
        units_format(bytes, (double)e->live, UNITS_BINARY, "B");
        html(out, "<g class=\"timeline\"><title>entry %zu, %s: %s of %s: %s</title>", i + 1, e->phase, e->op,
             e->span, bytes);
        put_column(out, &plot, e, (double)from, (double)to, categories);
        fputs("</g>\n", out);
    }
    plot_end(out);
    if (categories)
        put_categories(out, p);
    fputs("</figure>\n", out);
}

static void put_profile(FILE *out, const struct part *part, const struct row *row, const char *program,
                        const struct profile *p)
{
    char name[AXES_TEXT];
    part_name_row(part, row, name);
    html(out, "<h3>Profile of %s, %s</h3>\n<p class=\"note\">", program, name);
    if (p->runs > 0)
        html(out, "medians of %lld run%s with a mark after each entry", (long long)p->runs,
             p->runs == 1 ? "" : "s");
    else
        html(out, "planned, not run; times predicted at %s", *p->ceilings ? p->ceilings : "no ceilings");
    fputs("</p>\n<div class=\"profiles\"><div>\n", out);
    put_groups(out, p, PROFILE_OP, "op");
    put_groups(out, p, PROFILE_PHASE, "phase");
    if (p->entries[fullest(p, 0, p->count)].live > 0)
        put_timeline(out, p, program);
    fputs("</div>\n", out);
    put_groups(out, p, PROFILE_PART, "part of a layer, op");
    fputs("</div>\n", out);
}

void part_profiles(FILE *out, const struct part *p)
{
    enum { SHOWN = 4 };
    size_t found = 0;
    for (size_t i = 0; i < rows_count(p->rows); i++)
        for (size_t k = 0; k + 1 < TIMED; k++) { /* encodings have no tape */
            struct profile profile;
            const struct row *row = rows_at(p->rows, i);
            if (!profile_read(&profile, row, program_name(k)))
                continue;
            if (profile.count > 0 && found++ < SHOWN)
                put_profile(out, p, row, program_name(k), &profile);
            profile_free(&profile);
        }
    if (found > SHOWN)
        html(out, "<p class=\"note\">%zu more profiles are in the file (--format csv-profile)</p>\n",
             found - SHOWN);
}
