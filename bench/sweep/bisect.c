#include "bench/sweep/bisect.h"

#include <math.h>

#include "bench/base/interrupt.h"

static double middle_of(const struct bracket *b, bool whole)
{
    double middle = sqrt(b->low * b->high);
    if (!whole)
        return middle;
    return fmin(fmax(round(middle), b->low + 1), b->high - 1);
}

struct bracket bisect(function *f, void *context, double low, double high, double tolerance, bool whole)
{
    struct bracket b = {.low = low, .high = high};
    b.at_low = f(context, low);
    b.at_high = f(context, high);
    b.found = (b.at_low < 0 && b.at_high > 0) || (b.at_low > 0 && b.at_high < 0);
    while (b.found && b.high > b.low * (1 + tolerance) && !(whole && b.high - b.low <= 1)) {
        double x = middle_of(&b, whole), at = f(context, x);
        if (isnan(at) || interrupt_signal()) {
            b.found = false;
            b.at_high = NAN;
        } else if ((at < 0) == (b.at_low < 0)) {
            b.low = x;
            b.at_low = at;
        } else {
            b.high = x;
            b.at_high = at;
        }
    }
    return b;
}
