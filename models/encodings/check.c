#include "models/encodings/check.h"

struct encoding_check encoding_check(const struct encoding_config *c, const struct batch *b,
                                     const struct encoding *e, const struct encoding_check_options *o)
{
    struct encoding_check check = {{0}, {0}, {0}};
    if (c->kind == ENCODING_RWSE)
        rwse_check(&check, b, e, o);
    else if (c->kind == ENCODING_HEAT)
        heat_check(&check, b, e, o);
    else if (c->kind != ENCODING_NONE)
        lappe_check(&check, c, b, e, o);
    if (c->buckets)
        distances_check(&check, c, b, e, o);
    if (c->expander)
        expander_check(&check, c, b, e);
    return check;
}
