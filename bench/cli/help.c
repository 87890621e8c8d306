/* Prints --help: the flags by group. */
#include <string.h>

#include "analysis/tables/wrap.h"
#include "bench/cli/syntax.h"

static void help_line(const struct flag *f, FILE *out)
{
    enum { INDENT = 25 };
    char left[40], text[512];
    snprintf(left, sizeof left, "--%s %s", f->name, f->argument ? f->argument : "");
    snprintf(text, sizeof text, "%s%s%s%s", f->help, f->standard ? " (default " : "",
             f->standard ? f->standard : "", f->standard ? ")" : "");
    int at = fprintf(out, "  %-22s ", left);
    wrap_text(out, text, at, INDENT);
}

void syntax_help(const struct syntax *s, FILE *out)
{
    fprintf(out, "%s: %s\n", s->name, s->doc);
    fprintf(out, "usage: %s [FLAGS]%s%s\n\n", s->name, s->operands ? " " : "",
            s->operands ? s->operands : "");
    for (int group = 0; group == 0 || (s->headings && s->headings[group]); group++) {
        if (s->headings)
            fprintf(out, "%s\n", s->headings[group]);
        for (const struct flag *f = s->flags; f->name; f++)
            if (f->group == group && !f->unlisted)
                help_line(f, out);
    }
    fputs(s->notes ? s->notes : "", out);
    fputs(s->examples ? "Examples:\n" : "", out);
    for (const char *const *example = s->examples; example && *example; example++)
        fprintf(out, "  %s %s\n", s->name, *example);
    if (s->status)
        fprintf(out, "Exit status: %s", s->status);
}
