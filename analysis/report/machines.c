/* The machines of the files: what the head of a result file says of hardware, software and ceilings. */
#include "analysis/report/parts.h"

#include "analysis/statistics/allocate.h"
#include "analysis/tables/grid.h"
#include "analysis/tables/html.h"

/* What distinguishes machines and builds, by name in the head. */
static const char *const facts[] = {"host", "devices", "libraries", "compiler", "flags", "commit"};
enum { FACTS = sizeof facts / sizeof *facts };

static bool same_machine(const struct part *a, const struct part *b)
{
    bool same = true;
    for (size_t i = 0; i < FACTS; i++)
        same = same && value_equal(value_get(record_head(a->record), facts[i]),
                                   value_get(record_head(b->record), facts[i]));
    return same;
}

/* A text as it is, other values as JSON; bytes of memory with their unit. */
static void put_fact(FILE *out, const char *name, const struct value *v)
{
    const char *text;
    double bytes;
    html(out, "<tr><th scope=\"row\">%s</th><td>", name);
    if (value_read_text(v, &text)) {
        html_text(out, text);
    } else if (strcmp(name, "memory") == 0 && value_read_real(v, &bytes)) {
        char size[UNITS_TEXT];
        units_format(size, bytes, UNITS_BINARY, "B");
        html_text(out, size);
    } else {
        char *json = value_print(v);
        html_text(out, json);
        free(json);
    }
    fputs("</td></tr>\n", out);
}

static void put_facts(FILE *out, const struct value *head)
{
    enum { SHOWN = 40 };
    fputs("<div class=\"wide\" tabindex=\"0\"><table class=\"facts\"><tbody>\n", out);
    for (size_t i = 0; i < FACTS; i++) {
        const struct value *v = value_get(head, facts[i]);
        size_t n = 0;
        if (value_kind(v) != VALUE_OBJECT)
            put_fact(out, facts[i], v);
        else
            for (struct walk w = value_walk(v); walk_next(&w) && n++ < SHOWN;)
                put_fact(out, w.key, w.value);
    }
    fputs("</tbody></table></div>\n", out);
}

/* "DRAM: read 36.7, write 31.8 GB/s" */
static void put_bandwidths(FILE *out, const struct value *calibration)
{
    static const char *const loops[] = {"read", "write", "update", "triad"};
    size_t n = 0;
    for (struct walk w = value_walk(value_get(calibration, "bandwidth")); walk_next(&w) && n++ < 8;) {
        const char *before = "";
        html(out, "%s%s: ", n > 1 ? "; " : "", w.key ? w.key : "?");
        for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
            double rate;
            if (!value_get_real(w.value, loops[i], &rate))
                continue;
            html(out, "%s%s %.3g", before, loops[i], rate);
            before = ", ";
        }
    }
}

static void put_ceilings(FILE *out, const struct value *calibrations)
{
    struct grid g = {.columns = 4, .class = "ceilings"};
    size_t n = 0, size;
    grid_add_texts(&g, "threads", "measured", "peak, GFLOP/s", "bandwidths, GB/s", NULL);
    for (struct walk w = value_walk(calibrations); walk_next(&w) && n++ < 16;) {
        int64_t threads = 0;
        double peak = 0;
        char *bandwidths;
        value_get_count(w.value, "threads", &threads);
        value_get_real(w.value, "peak", &peak);
        FILE *text = open_text(&bandwidths, &size);
        put_bandwidths(text, w.value);
        fclose(text);
        grid_add(&g, "%lld", (long long)threads);
        grid_add(&g, "%s", value_text_or(w.value, "time", ""));
        grid_add(&g, "%.4g", peak);
        grid_add_markup(&g, "t", bandwidths);
    }
    if (n > 0)
        fputs("<h4>Ceilings of the roofline, as measured</h4>\n", out);
    grid_print(&g, TABLE_HTML, out);
    grid_free(&g);
}

/* The first part of each machine stands for the others. */
static size_t first_of_machine(const struct part *parts, size_t i)
{
    size_t first = 0;
    while (first < i && !same_machine(&parts[first], &parts[i]))
        first++;
    return first;
}

void summary_machines(FILE *out, const struct part *parts, size_t n)
{
    fputs("<section id=\"machines\"><h2>Machines and builds</h2>\n", out);
    for (size_t i = 0; i < n; i++) {
        const struct value *head = record_head(parts[i].record);
        const char *before = "";
        char cpu[PROCESSOR_TEXT];
        if (first_of_machine(parts, i) != i)
            continue;
        processor_text(head, cpu);
        html(out, "<div class=\"machine\"><h3>%s</h3><p class=\"note\">files: ", cpu);
        for (size_t k = i; k < n; k++)
            if (first_of_machine(parts, k) == i) {
                html(out, "%s<a href=\"#file%zu\">%s</a>", before, parts[k].number, parts[k].name);
                before = ", ";
            }
        fputs("</p>\n", out);
        put_facts(out, head);
        put_ceilings(out, value_get(head, "calibrations"));
        fputs("</div>\n", out);
    }
    fputs("</section>\n", out);
}
