/* Texts of JSON, which are UTF-8. */
#ifndef GTMARK_ANALYSIS_TEXT_H
#define GTMARK_ANALYSIS_TEXT_H

#include <jansson.h>

/* The text may hold the name of a file, which can be any bytes, or be cut off within a letter: a byte that is
 * not UTF-8 becomes a question mark. Null without memory. */
json_t *json_text(const char *value);

#endif
