#include "bench/cli/link_parse.h"

#include <stdio.h>
#include <string.h>

#include "bench/base/quantity.h"

static bool parse_rates(const char *text, struct link *l)
{
    const char *comma = strchr(text, ',');
    char rate[64];
    double alpha, beta;
    if (!comma || (size_t)(comma - text) >= sizeof rate)
        return false;
    snprintf(rate, sizeof rate, "%.*s", (int)(comma - text), text);
    if (!quantity_parse(rate, QUANTITY_LINK_RATE, &beta) ||
        !quantity_parse(comma + 1, QUANTITY_SECONDS, &alpha))
        return false;
    *l = link_given(alpha, beta);
    return true;
}

/* False with the reason. */
static bool read_links(const char *path, struct link *l, char why[MESSAGE_SIZE])
{
    struct value *file = value_load(path, why);
    const struct value *links = value_get(file, "links");
    size_t n = value_size(links);
    bool good = n > 0 && link_read(value_at(links, n - 1), l);
    if (file && !good)
        snprintf(why, MESSAGE_SIZE, n ? "its last link is not well-formed" : "the file has no links");
    value_free(file);
    return good;
}

bool link_parse(const char *text, struct link *l, struct message *error)
{
    char why[MESSAGE_SIZE];
    return parse_rates(text, l) || read_links(text, l, why) ||
           complain(
               error,
               "--link %.150s: neither a rate and a latency, as 400Gb/s,2us, nor a result file of several "
               "ranks (%.200s)",
               text, why);
}
