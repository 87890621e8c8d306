#include "analysis/report/page.h"

#include "analysis/charts/chart_text.h"
#include "analysis/findings/findings.h"
#include "analysis/record/result_file.h"
#include "analysis/report/parts.h"
#include "analysis/tables/html.h"

/* page_css and page_js with their hashes, made from page.css and page.js by the Makefile. */
#include "analysis/report/page.inc"

/* Rows of all tables together, so that a page has at most about 3 MB. */
enum { ROWS_MOST = 1000 };

/* Bytes of the directories with which all paths begin. */
static size_t common_directories(const struct page *page)
{
    size_t common = 0;
    for (size_t k = 0; page->paths[0][k]; k++) {
        for (size_t i = 1; i < page->count; i++)
            if (page->paths[i][k] != page->paths[0][k])
                return common;
        if (page->paths[0][k] == '/')
            common = k + 1;
    }
    return common;
}

static struct part part_of(const struct page *page, size_t i, size_t common)
{
    const char *name = page->paths[i] + common;
    size_t length = record_name_length(name);
    struct part p = {.path = page->paths[i],
                     .number = i + 1,
                     .record = page->records[i],
                     .rows = record_rows(page->records[i])};
    size_t rows = rows_count(p.rows), most = ROWS_MOST / page->count + 1;
    p.shown = rows < most ? rows : most;
    p.axes_count = axes_varying(p.rows, p.axes);
    snprintf(p.name, sizeof p.name, "%.*s", (int)length, name);
    return p;
}

/* No script but ours, by its hash; nothing from a network. */
static void put_page_head(FILE *out, const struct part *parts, size_t n)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n", out);
    html(
        out,
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; style-src "
        "'sha256-%s'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'\"/>\n",
        page_css_hash, page_js_hash);
    html(out,
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
         "<meta name=\"color-scheme\" content=\"light dark\"/>\n<link rel=\"icon\" href=\"data:,\"/>\n"
         "<title>gtmark: %s%s</title>\n",
         parts[0].name, n > 1 ? " and others" : "");
    fprintf(out, "<style>%s</style>\n</head>\n", page_css);
}

static void put_top(FILE *out, const struct part *parts, size_t n)
{
    char first[PROCESSOR_TEXT], other[PROCESSOR_TEXT];
    size_t rows = 0;
    bool one = true;
    processor_text(record_head(parts[0].record), first);
    for (size_t i = 0; i < n; i++) {
        processor_text(record_head(parts[i].record), other);
        rows += rows_count(parts[i].rows);
        one = one && strcmp(other, first) == 0;
    }
    html(out, "<body>\n<header><h1>gtmark</h1><p>%zu result file%s, %zu row%s%s%s</p>\n<nav>", n,
         n == 1 ? "" : "s", rows, rows == 1 ? "" : "s", one ? ", " : ", several machines", one ? first : "");
    for (size_t i = 0; i < n; i++)
        html(out, "<a href=\"#file%zu\">%s</a> ", parts[i].number, parts[i].name);
    fputs("<a href=\"#machines\">machines</a></nav></header>\n<main>\n", out);
}

/* Each line of a text, which is freed, as an item; nothing if the text is empty. */
static void put_items(FILE *out, char *text)
{
    char *rest = text;
    bool any = *text;
    fputs(any ? "<ul>" : "", out);
    for (char *line; (line = strsep(&rest, "\n"));)
        if (*line) {
            fputs("<li>", out);
            html_powers(out, line);
            fputs("</li>\n", out);
        }
    fputs(any ? "</ul>\n" : "", out);
    free(text);
}

static void put_findings(FILE *out, const struct part *parts, size_t n)
{
    char *text = NULL;
    size_t size;
    const struct record **records = allocate(n, sizeof *records);
    const char **names = allocate(n, sizeof *names);
    FILE *memory = open_text(&text, &size);
    for (size_t i = 0; i < n; i++) {
        records[i] = parts[i].record;
        names[i] = parts[i].name;
    }
    findings_write(memory, records, names, n);
    fclose(memory);
    free(names);
    free(records);
    fputs("<section id=\"findings\"><h2>Main findings</h2>\n<div class=\"findings\">\n", out);
    put_items(out, text);
    fputs("</div></section>\n", out);
}

/* "; tags: branch=main, ..." */
static void put_part_tags(FILE *out, const struct value *tags)
{
    const char *before = "; tags: ", *text;
    for (struct walk w = value_walk(tags); walk_next(&w); before = ", ") {
        html(out, "%s%s", before, w.key ? w.key : "");
        if (value_read_text(w.value, &text))
            html(out, "=%s", text);
    }
}

static void put_part(FILE *out, const struct part *p)
{
    char machine[CHART_TEXT], work[CHART_TEXT];
    const struct value *head = record_head(p->record);
    chart_machine(machine, p->record, p->rows);
    chart_work(work, p->rows);
    html(out, "<section id=\"file%zu\" class=\"file\"><h2>%s</h2>\n<p class=\"note\">%s: %s", p->number,
         p->name, value_text_or(head, "benchmark", ""), p->path);
    put_part_tags(out, value_get(head, "tags"));
    html(out, "<br/>%s<br/>%s</p>\n<pre>%s</pre>\n", machine, work, value_text_or(head, "command", ""));
    part_charts(out, p);
    part_rows(out, p);
    part_profiles(out, p);
    html(out, "</section>\n");
}

bool page_write(const void *what, FILE *out)
{
    const struct page *page = what;
    struct part *parts = allocate(page->count, sizeof *parts);
    size_t common = common_directories(page);
    for (size_t i = 0; i < page->count; i++)
        parts[i] = part_of(page, i, common);
    put_page_head(out, parts, page->count);
    put_top(out, parts, page->count);
    put_findings(out, parts, page->count);
    summary_measured(out, parts, page->count);
    summary_warnings(out, parts, page->count);
    for (size_t i = 0; i < page->count; i++)
        put_part(out, &parts[i]);
    summary_machines(out, parts, page->count);
    fprintf(out,
            "</main>\n<footer>docs/methods.md of gtmark defines every "
            "number.</footer>\n<script>%s</script>\n</body>\n</html>\n",
            page_js);
    free(parts);
    return !ferror(out);
}
