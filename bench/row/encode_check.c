#include "bench/row/encode_check.h"

#include <stdio.h>
#include <string.h>

/* Of the search for missed pairs, for each thread. It streams a block of vectors through memory. */
static const double search_flops_per_second = 5e8;

bool encode_check_is_proven(const char *family)
{
    struct graph_name n;
    char error[1], plain[GRAPH_NAME_TEXT];
    if (!graph_name_read(family, &n, error, sizeof error) || !n.family)
        return false;
    n.giant = false;
    graph_name_text(&n, plain);
    return n.shape || strcmp(plain, n.family->name) == 0;
}

/* What the row says of eigenpairs. */
static void describe_pairs(struct encoded *e, const char *family)
{
    const char *missing = *e->check.missing ? e->check.missing
                          : encode_check_is_proven(family)
                              ? ""
                              : "no smaller pair was found, but on such graphs it is not known how often the "
                                "search finds one";
    if (*e->check.wrong)
        complain(&e->checked, "residuals in double; incomplete");
    else if (*missing)
        complain(&e->checked, "residuals in double; completeness unchecked: %s", missing);
    else
        complain(&e->checked, "residuals in double; complete: %s", e->check.how);
}

void encode_check(struct encoded *e, const struct config *c, const struct batch *b, const struct options *o,
                  struct cancel cancel)
{
    if (e->is_checked || e->encoding.excess > 1)
        return;
    struct encoding_check_options with = {.seed = o->seed,
                                          .threads = c->threads,
                                          .cancel = cancel,
                                          .flops = o->check.budget * search_flops_per_second * c->threads};
    e->is_checked = true;
    if (o->check.wanted)
        e->check = encoding_check(&c->parts.pe, b, &e->encoding, &with);
    else
        snprintf(e->check.missing, sizeof e->check.missing, "--no-check");
    if (encoding_is_spectral(&c->parts.pe))
        describe_pairs(e, c->graph.family);
    else
        complain(&e->checked, "%s", e->check.how);
}
