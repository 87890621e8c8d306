#include "models/encodings/compute.h"

#include "models/encodings/heat.h"
#include "models/encodings/lappe.h"
#include "models/encodings/rwse.h"

bool encoding_compute(const struct encoding_config *c, const struct batch *b,
                      const struct encoding_options *with, struct encoding *out, char *error,
                      size_t error_size)
{
    return (c->kind == ENCODING_RWSE   ? rwse_compute
            : c->kind == ENCODING_HEAT ? heat_compute
                                       : lappe_compute)(c, b, with, out, error, error_size);
}
