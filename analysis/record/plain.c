#include "analysis/record/plain.h"

#include <string.h>

/* Bytes of the control character at the beginning of a text; 0: there is none. C1 is U+0080 to U+009F. */
static size_t control_length(const char *text, size_t length)
{
    unsigned char first = (unsigned char)text[0], second = length > 1 ? (unsigned char)text[1] : 0;
    if (first < 0x20 || first == 0x7f)
        return 1;
    return first == 0xc2 && second >= 0x80 && second <= 0x9f ? 2 : 0;
}

void plain_put_part(FILE *out, const char *text, size_t length)
{
    for (const char *end = text + length; text < end;) {
        size_t control = control_length(text, (size_t)(end - text));
        putc(control ? '?' : *text, out);
        text += control ? control : 1;
    }
}

void plain_put(FILE *out, const char *text)
{
    plain_put_part(out, text, strlen(text));
}
