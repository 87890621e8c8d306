#include "bench/cli/largest_parse.h"

#include <string.h>

#include "bench/base/quantity.h"

/* What follows `prefix`, which begins the text; null if it does not. */
static const char *after(const char *text, const char *prefix)
{
    size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

static bool parse_axis(const char *name, size_t length, enum axis *axis)
{
    static const enum axis possible[] = {AXIS_NODES, AXIS_BATCH, AXIS_LAYERS, AXIS_HIDDEN};
    for (size_t i = 0; i < sizeof possible / sizeof *possible; i++) {
        const char *known = axis_info(possible[i])->name;
        if (strlen(known) == length && memcmp(known, name, length) == 0) {
            *axis = possible[i];
            return true;
        }
    }
    return false;
}

static bool parse_limit(const char *text, struct largest *l)
{
    const char *bytes = after(text, "memory:"), *seconds = after(text, "latency:");
    l->kind = seconds ? LARGEST_LATENCY : LARGEST_MEMORY;
    return strcmp(text, "memory") == 0 || (bytes && quantity_parse(bytes, QUANTITY_BYTES, &l->limit)) ||
           (seconds && quantity_parse(seconds, QUANTITY_SECONDS, &l->limit));
}

bool largest_parse(const char *text, struct largest *l, struct message *error)
{
    size_t length = strcspn(text, "=");
    *l = (struct largest){.kind = LARGEST_NONE};
    if (text[length] && parse_axis(text, length, &l->axis) && parse_limit(text + length + 1, l))
        return true;
    return complain(error,
                    "--find-max %.200s: nodes, batch, layers or hidden, then =memory, =memory:SIZE as "
                    "=memory:4GiB, or =latency:TIME as =latency:100ms",
                    text);
}
