#include "models/encodings/compute.h"

#include "models/encodings/distances.h"
#include "models/encodings/expander.h"
#include "models/encodings/heat.h"
#include "models/encodings/lappe.h"
#include "models/encodings/rwse.h"

static bool compute_values(const struct encoding_config *c, const struct batch *b,
                           const struct encoding_options *with, struct encoding *out, char *error,
                           size_t error_size)
{
    *out = (struct encoding){.method = c->buckets ? "search from each node" : "random permutations",
                             .flops_label = c->buckets ? "executed ops" : "nominal"};
    return c->kind == ENCODING_NONE ||
           (c->kind == ENCODING_RWSE   ? rwse_compute
            : c->kind == ENCODING_HEAT ? heat_compute
                                       : lappe_compute)(c, b, with, out, error, error_size);
}

bool encoding_compute(const struct encoding_config *c, const struct batch *b,
                      const struct encoding_options *with, struct encoding *out, char *error,
                      size_t error_size)
{
    if (!compute_values(c, b, with, out, error, error_size))
        return false;
    if ((!c->buckets || distances_compute(c, b, with, out, error, error_size)) &&
        (!c->expander || expander_compute(c, b, with, out, error, error_size)))
        return true;
    bool cancelled = out->cancelled;
    encoding_free(out);
    *out = (struct encoding){.cancelled = cancelled};
    return false;
}
