#include "analysis/record/text.h"

#include <stdlib.h>
#include <string.h>

/* How many bytes the letter takes that a text begins with; 0 where that is no UTF-8. */
static size_t letter_length(const char *text)
{
    for (size_t length = 1; length <= 4 && text[length - 1]; length++) {
        json_t *letter = json_stringn(text, length);
        json_decref(letter);
        if (letter)
            return length;
    }
    return 0;
}

json_t *json_text(const char *value)
{
    json_t *text = json_string(value);
    char *copy = text ? NULL : strdup(value);
    for (char *at = copy; at && *at;) {
        size_t length = letter_length(at);
        if (!length)
            *at = '?';
        at += length ? length : 1;
    }
    text = text ? text : json_string(copy);
    free(copy);
    return text;
}
