#include "analysis/tables/html.h"

#include "analysis/record/scan.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static bool is_between(uint32_t c, uint32_t low, uint32_t high)
{
    return c >= low && c <= high;
}

/* Bytes of the UTF-8 character at the beginning of a text; 0 if there is none, or none that a page may
 * contain. */
static size_t character_length(const char *text)
{
    uint32_t c = 0;
    size_t length = scan_character(text, text + strnlen(text, 4), &c);
    bool control = c < 0x20 || is_between(c, 0x7f, 0x9f);
    bool direction =
        is_between(c, 0x200e, 0x200f) || is_between(c, 0x202a, 0x202e) || is_between(c, 0x2066, 0x2069);
    bool none = is_between(c, 0xfdd0, 0xfdef) || (c & 0xfffe) == 0xfffe;
    return control || direction || none ? 0 : length;
}

/* Writes the character at the beginning of a text; returns its bytes. */
static size_t put_character(FILE *out, const char *text)
{
    static const char special[] = "&<>\"'", *const escaped[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    const char *found = strchr(special, *text);
    size_t length = character_length(text);
    if (found)
        fputs(escaped[found - special], out);
    else if (length > 0)
        fwrite(text, 1, length, out);
    else
        fputs(strchr("\t\r\n", *text) ? " " : "\xef\xbf\xbd", out);
    return length > 0 ? length : 1;
}

void html_text(FILE *out, const char *text)
{
    const char *end = text + HTML_TEXT_MOST;
    while (*text && text < end)
        text += put_character(out, text);
    fputs(*text ? "…" : "", out);
}

/* Writes the value of the conversion at the beginning of a format; returns what follows it. */
static const char *put_conversion(FILE *out, const char *format, va_list *values)
{
    char conversion[16] = "", text[64];
    size_t length = 1 + strspn(format + 1, "0123456789.lz") + 1;
    if (length >= sizeof conversion)
        abort();
    memcpy(conversion, format, length);
    switch (conversion[length - 1]) {
    case '%':
        putc('%', out);
        return format + length;
    case 's': /* without a precision */
        if (length != 2)
            abort();
        html_text(out, va_arg(*values, const char *));
        return format + length;
    case 'd':
        if (conversion[length - 2] == 'l')
            snprintf(text, sizeof text, conversion, va_arg(*values, long long));
        else
            snprintf(text, sizeof text, conversion, va_arg(*values, int));
        break;
    case 'u':
        snprintf(text, sizeof text, conversion, va_arg(*values, size_t));
        break;
    case 'f':
    case 'g':
        snprintf(text, sizeof text, conversion, va_arg(*values, double));
        break;
    default:
        abort();
    }
    fputs(text, out);
    return format + length;
}

void html(FILE *out, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    while (*format) {
        size_t markup = strcspn(format, "%");
        fwrite(format, 1, markup, out);
        format += markup;
        if (*format)
            format = put_conversion(out, format, &values);
    }
    va_end(values);
}

void html_powers(FILE *out, const char *text)
{
    static const char number[] = "0123456789.-";
    bool raised = false;
    while (*text) {
        bool power = *text == '^' && isdigit((unsigned char)text[1 + (text[1] == '-')]);
        bool ends = !strchr(number, *text) || (*text == '.' && !isdigit((unsigned char)text[1]));
        if (raised && ends) {
            fputs("</sup>", out);
            raised = false;
        }
        if (!raised && power) {
            fputs("<sup>", out);
            raised = true;
            text++;
        } else {
            text += put_character(out, text);
        }
    }
    fputs(raised ? "</sup>" : "", out);
}
