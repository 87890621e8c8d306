/* Prints --help: the table of flags, by group. */
#include "bench/cli/syntax.h"

static void help_line(const struct flag *f, FILE *out)
{
    char left[40];
    snprintf(left, sizeof left, "--%s %s", f->name, f->argument ? f->argument : "");
    fprintf(out, "  %-22s %s", left, f->help);
    if (f->standard)
        fprintf(out, " (default %s)", f->standard);
    putc('\n', out);
}

void syntax_help(const struct syntax *s, FILE *out)
{
    fprintf(out, "%s: %s\n", s->name, s->doc);
    if (s->operands)
        fprintf(out, "usage: %s [FLAGS] %s\n", s->name, s->operands);
    putc('\n', out);
    for (int group = 0; group == 0 || (s->headings && s->headings[group]); group++) {
        if (s->headings)
            fprintf(out, "%s\n", s->headings[group]);
        for (const struct flag *f = s->flags; f->name; f++)
            if (f->group == group)
                help_line(f, out);
    }
    fputs(s->notes ? s->notes : "", out);
}
