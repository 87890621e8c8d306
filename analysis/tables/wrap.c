#include "analysis/tables/wrap.h"

#include "analysis/record/plain.h"
#include "analysis/statistics/allocate.h"
#include "analysis/tables/units.h"

#include <sys/ioctl.h>
#include <unistd.h>

int screen_width(FILE *out)
{
    struct winsize w;
    int file = fileno(out);
    bool narrow =
        file >= 0 && isatty(file) && ioctl(file, TIOCGWINSZ, &w) == 0 && w.ws_col > 0 && w.ws_col < SCREEN;
    return narrow ? w.ws_col : SCREEN;
}

static int columns_of(const char *word, size_t length)
{
    char *copy = format_text("%.*s", (int)length, word);
    int columns = (int)units_width(copy);
    free(copy);
    return columns;
}

static size_t word(const char *text)
{
    return strcspn(text, " \r\n");
}

/* The length of a phrase with the comma or semicolon at its end: "no pe,". */
static size_t phrase(const char *text)
{
    size_t length = word(text);
    while (text[length] == ' ' && !strchr(",;", text[length - 1]))
        length += 1 + word(text + length + 1);
    return length;
}

static void wrap(FILE *out, const char *text, int at, int screen, int indent, size_t measure(const char *))
{
    int column = at;
    const char *separator = "";
    for (size_t length; *text; text += length) {
        text += strspn(text, " \r\n");
        length = measure(text);
        int width = columns_of(text, length), blank = *separator != '\0';
        if (length > 0 && column + blank + width > screen && column > indent) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
            blank = 0;
        }
        fputs(blank ? separator : "", out);
        plain_put_part(out, text, length);
        column += blank + width;
        separator = " ";
    }
    putc('\n', out);
}

void wrap_text(FILE *out, const char *text, int at, int indent)
{
    wrap(out, text, at, screen_width(out), indent, word);
}

void wrap_within(FILE *out, const char *text, int width, int indent)
{
    wrap(out, text, 0, width, indent, word);
}

void wrap_phrases(FILE *out, const char *text, int at, int indent)
{
    wrap(out, text, at, screen_width(out), indent, phrase);
}

FILE *wrap_begin(struct wrap *w, FILE *out)
{
    *w = (struct wrap){.out = out};
    w->lines = open_text(&w->text, &w->size);
    return w->lines;
}

FILE *wrap_items(struct wrap *w, FILE *out)
{
    FILE *lines = wrap_begin(w, out);
    w->items = true;
    return lines;
}

void wrap_end(struct wrap *w)
{
    int screen = screen_width(w->out);
    fclose(w->lines);
    for (char *line, *rest = w->text; (line = strsep(&rest, "\n")) != NULL && rest;) {
        int indent = w->items ? 2 : (int)strspn(line, " ");
        if (!w->items && (int)units_width(line) <= screen) {
            plain_put(w->out, line);
            putc('\n', w->out);
            continue;
        }
        fprintf(w->out, "%*s", -indent, w->items ? "-" : "");
        (w->phrases ? wrap_phrases : wrap_text)(w->out, line, indent, indent + (w->items ? 0 : 4));
    }
    free(w->text);
}
