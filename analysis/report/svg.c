/*
 * gnuplot 5.4 gives every plot a title, "gnuplot_plot_1", gives all charts the same ids, leaves hints to a
 * script in its handlers' quotes, and escapes only part of what XML wants escaped in texts.
 */
#include "analysis/report/parts.h"

#include "analysis/tables/html.h"

static const char hint[] = "<g onmousemove=\"gnuplot_svg.showHypertext(evt,'",
                  hint_end[] = "')\" onmouseout=";

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Writes character data, of which gnuplot has escaped a part. */
static void put_data(FILE *out, const char *from, const char *end)
{
    for (const char *c = from; c < end; c++)
        if (*c == '>')
            fputs("&gt;", out);
        else if (*c == '&' && !begins(c, "&amp;") && !begins(c, "&lt;") && !begins(c, "&gt;"))
            fputs("&amp;", out);
        else
            putc(*c, out);
}

/* Writes a tag, in which names of ids and references to them begin with `name`. */
static void put_tag(FILE *out, const char *from, const char *end, const char *name)
{
    static const char *const places[] = {"id=\"", "id='", "href='#"};
    for (const char *c = from; c < end;) {
        size_t length = 1;
        if (begins(c, " xmlns:xlink=")) { /* href needs no namespace */
            c = strchr(strchr(c, '"') + 1, '"') + 1;
            continue;
        }
        c += begins(c, "xlink:") ? strlen("xlink:") : 0;
        for (size_t i = 0; i < sizeof places / sizeof *places; i++)
            if (begins(c, places[i]))
                length = strlen(places[i]);
        fwrite(c, 1, length, out);
        if (length > 1)
            html(out, "%s-", name);
        c += length;
    }
}

/* What follows an element of texts only. */
static const char *after(const char *text, const char *end_tag)
{
    const char *end = strstr(text, end_tag);
    return end ? end + strlen(end_tag) : text + strlen(text);
}

/* The end of a group that has nothing in it, as gnuplot writes many; null: it has something, or is none. */
static const char *end_of_empty(const char *tag)
{
    const char *inside = after(tag, ">");
    inside += strspn(inside, " \n\t");
    return begins(tag, "<g ") && begins(inside, "</g>") ? inside + strlen("</g>") : NULL;
}

void svg_put(FILE *out, const char *svg, const char *name)
{
    const char *end;
    for (const char *c = strstr(svg, "<svg"); c && *c; c = end) {
        if (begins(c, hint) && (end = strstr(c, hint_end))) {
            fputs("<g class=\"point\"><title>", out);
            put_data(out, c + strlen(hint), end);
            fputs("</title>", out);
            end = after(end, "</title>");
        } else if (begins(c, "<title>")) {
            end = after(c, "</title>");
        } else if (begins(c, "<desc>")) {
            end = after(c, "</desc>");
        } else if (*c == '<' && (end = end_of_empty(c))) {
            continue;
        } else if (*c == '<') {
            end = after(c, ">");
            put_tag(out, c, end, name);
        } else {
            end = c + strcspn(c, "<");
            put_data(out, c, end);
        }
    }
}
