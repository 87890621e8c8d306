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
        !quantity_parse_or_zero(comma + 1, QUANTITY_SECONDS, &alpha))
        return false;
    *l = link_given(alpha, beta);
    return true;
}

/* False with the reason. */
static bool read_links(const char *path, struct links *all, char why[MESSAGE_SIZE])
{
    struct value *file = value_load(path, why);
    bool good = file != NULL;
    for (struct walk w = value_walk(value_get(file, "links")); good && walk_next(&w);) {
        struct link l;
        good = link_read(w.value, &l);
        if (good)
            links_add(all, &l);
        else
            snprintf(why, MESSAGE_SIZE, "one of its links is not well-formed");
    }
    value_free(file);
    if (good && all->count == 0)
        snprintf(why, MESSAGE_SIZE, "the file has no links");
    return good && all->count > 0;
}

bool link_parse(const char *text, struct links *all, struct message *error)
{
    char why[MESSAGE_SIZE];
    struct link given;
    links_free(all);
    if (!parse_rates(text, &given))
        return read_links(text, all, why) ||
               complain(error,
                        "--link %.150s: neither a rate and a latency, as 400Gb/s,2us, nor a result file of "
                        "several ranks (%.200s)",
                        text, why);
    links_add(all, &given);
    return true;
}
