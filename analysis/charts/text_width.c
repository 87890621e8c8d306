#include "analysis/charts/text_width.h"

#include <string.h>

/* Advance widths of DejaVu Sans Bold in hundredths of an em, rounded up: blank to tilde. */
static const unsigned char widths[] = {
    35, 46, 53, 84, 70, 101, 88, 31,  46,  46, 53, 84, 38, 42, 38, 37, 70, 70, 70, 70, 70, 70,  70, 70,
    70, 70, 40, 40, 84, 84,  84, 58,  100, 78, 77, 74, 83, 69, 69, 83, 84, 38, 38, 78, 64, 100, 84, 85,
    74, 85, 77, 73, 69, 82,  78, 111, 78,  73, 73, 46, 37, 46, 84, 50, 50, 68, 72, 60, 72, 68,  44, 72,
    72, 35, 35, 67, 35, 105, 72, 69,  72,  72, 50, 60, 48, 72, 66, 93, 65, 66, 59, 72, 37, 72,  84,
};

/* Of the character that begins here; 0 for markup and for the later bytes of a character. */
static double character_width(char c)
{
    unsigned char byte = (unsigned char)c;
    if (byte >= 0x80)
        return (byte & 0xC0) == 0x80 ? 0 : 0.85;
    return strchr("\\^{}", c) || byte < ' ' || byte == 0x7f ? 0 : widths[byte - ' '] / 100.0;
}

double text_width(const char *text)
{
    double width = 0;
    for (; *text; text++)
        width += character_width(*text);
    return width;
}

/* The end of the first line: the last blank within `width`; without one, the last character. */
static char *line_end(char *text, double width)
{
    char *blank = NULL;
    for (; *text; text++) {
        if (*text == ' ')
            blank = text;
        width -= character_width(*text);
        if (width < 0)
            return blank ? blank : text;
    }
    return text;
}

/* Ends a text in "..." within `width`. */
static void end_in_dots(char *text, double width)
{
    char *end = line_end(text, width - 3 * character_width('.'));
    while (end > text && (strchr(" ,;:(\\", end[-1]) || ((unsigned char)*end & 0xC0) == 0x80))
        end--;
    strcpy(end, "...");
}

size_t text_wrap(char *text, size_t size, double width, size_t lines)
{
    size_t n = *text != '\0';
    char *line = text;
    for (char *c = text; (c = strchr(c, '\n'));)
        *c = ' ';
    for (char *end; *(end = line_end(line, width)); line = end + 1, n++) {
        if (n == lines || (*end != ' ' && strlen(text) + 5 > size)) {
            end_in_dots(line, width);
            break;
        }
        if (*end != ' ')
            memmove(end + 1, end, strlen(end) + 1);
        *end = '\n';
    }
    return n;
}
