/*
 * A strict JSON scanner, which runs before cJSON's parser, because that is too permissive.
 *
 * The syntax is RFC 8259 in UTF-8, with additional limits: no duplicate names in an object, no NUL in a
 * string, integers of 64 bits, numbers that a double can hold with at most SCAN_NUMBER characters, nesting of
 * at most SCAN_DEPTH.
 */
#ifndef GTMARK_ANALYSIS_SCAN_H
#define GTMARK_ANALYSIS_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCAN_DEPTH = 64, SCAN_NUMBER = 60, SCAN_PATH = 128 /* members with longer paths are not told */ };

/* A number: the bytes of a text from `begin` up to, but not including, `end`. */
struct span {
    size_t begin, end;
    double value;
    bool whole; /* written as an integer: without point and exponent */
};

struct spans {
    struct span *list;
    size_t count;
};

/* A member of an object, as the text has it from `begin` up to, but not including, `end`. */
struct scanned {
    enum { SCANNED_TEXT, SCANNED_NUMBER, SCANNED_NUMBERS, SCANNED_OBJECT, SCANNED_OTHER } kind;
    const char *begin, *end;
    const struct span *numbers; /* of a number, or of an array of nothing else */
    size_t count;
};

/* Is told each member after those within it, but none within an array: "step.time.median". */
typedef void scan_member(void *context, const char *path, const struct scanned *value);

/*
 * Whether text[size] is valid JSON; if not, error[MESSAGE_SIZE] says "not JSON: line 3: ...". Adds its
 * numbers, in order, to a list that the caller frees in either case. Tells `member`, if it is not null, each
 * member, whose numbers are then not in the list.
 */
bool scan_json(const char *text, size_t size, struct spans *numbers, scan_member *member, void *context,
               char *error);

/* The text between quotes, without escapes; to be freed. */
char *scan_unquoted(const char *begin, const char *end);

/* Whether a number is written as an integer: without point and exponent. */
bool scan_is_integer(const char *number);

/* Bytes of the UTF-8 character at `at`, and its code; 0 if there is none before `end`, or an invalid one. */
size_t scan_character(const char *at, const char *end, uint32_t *code);

/* A copy, to free, with bytes that are not UTF-8 replaced by question marks; null if out of memory. */
char *scan_clean(const char *text);

#endif
