/* "Did you mean ...?": the known name nearest to an unknown one. */
#ifndef GTMARK_BENCH_SUGGEST_H
#define GTMARK_BENCH_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

enum { SUGGESTION_TEXT = 96 };

/* Start with {wanted, its length}, offer every known name, then get the text. */
struct suggestion {
    const char *wanted;
    size_t length;
    const char *nearest; /* null: none is near enough */
    size_t distance;
};

void suggest_offer(struct suggestion *s, const char *name);

/* "; did you mean NAME?" with the prefix before the name, or "" if no name is near. */
const char *suggest_text(const struct suggestion *s, const char *prefix, char text[SUGGESTION_TEXT]);

/* Reads a comma list of names, each once: sets chosen[i] for name(i), null past the last. False, with the
 * text of which one is unknown or there twice, and what is near it. */
bool names_read(const char *text, const char *(*name)(int index), bool *chosen,
                char nearest[SUGGESTION_TEXT]);

#endif
