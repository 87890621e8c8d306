/*
 * A strict reader of JSON's syntax, which runs before the library's parser: that one accepts more.
 *
 * JSON is RFC 8259 in UTF-8, and here also: no name twice in an object, no NUL in a text, integers of 64
 * bits, numbers that a double can hold and at most SCAN_NUMBER characters long, values at most SCAN_DEPTH
 * deep.
 */
#ifndef GTMARK_ANALYSIS_SCAN_H
#define GTMARK_ANALYSIS_SCAN_H

#include <stdbool.h>
#include <stddef.h>

enum { SCAN_DEPTH = 64, SCAN_NUMBER = 60 };

/* Bytes of a text, from `begin` to before `end`. */
struct span {
    size_t begin, end;
};

struct spans {
    struct span *list;
    size_t count, capacity;
};

/* Where the numbers of a document stand, in its order, and the elements of one array in it. */
struct scan {
    struct spans numbers, elements;
};

/*
 * Whether text[size] is JSON; if not, error[MESSAGE_SIZE] says "line 3: ...". `array` names the member of the
 * outermost object whose elements are found; null for none. text[size] is '\0'. To be freed in either case.
 */
bool scan_json(const char *text, size_t size, const char *array, struct scan *found, char *error);
void scan_free(struct scan *found);

/* Whether the text of a number says that it is an integer: no point and no exponent. */
bool scan_is_integer(const char *number);

/* A copy of a text in which every byte that is not UTF-8 is a question mark, to be freed; null without
 * memory. */
char *scan_clean(const char *text);

#endif
