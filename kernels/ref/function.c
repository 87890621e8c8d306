/* A function of others (gtmark_plugin.h), of which we know that it ran. */
#include "kernels/ref/loops.h"

REF(function, 0)
{
    AT(a->y, 0, 0) = R(1);
}
