/*
 * A build that is slower by a known share, for testing the gates (tests/gates.sh): before it marks the last
 * entry of a replay as done, it waits for GTMARK_SLOWER percent (default 10) of the replay's own time. There
 * is a single wait, because reading the clock at every entry would slow it down further; code that runs after
 * a wait may itself be slower, which shows in the gates' ratios.
 *
 * It is the object file of a benchmark linked again, with tape_run_marked replaced (ld's --wrap); the product
 * has no code for it, and both builds run the same kernels.
 */
#include <stdlib.h>

#include "bench/base/clock.h"
#include "models/tape/tape.h"

void __real_tape_run_marked(struct tape *t, void (*mark)(void *context, int entry), void *context);
void __wrap_tape_run_marked(struct tape *t, void (*mark)(void *context, int entry), void *context);

struct slowing {
    void (*mark)(void *context, int entry);
    void *context;
    int last; /* entry */
    double share, start;
};

static void wait_and_mark(void *context, int entry)
{
    const struct slowing *s = context;
    if (entry == s->last) {
        double own = clock_now() - s->start;
        while (clock_now() - s->start < (1 + s->share) * own)
            ;
    }
    s->mark(s->context, entry);
}

void __wrap_tape_run_marked(struct tape *t, void (*mark)(void *context, int entry), void *context)
{
    const char *percent = getenv("GTMARK_SLOWER");
    struct slowing s = {.mark = mark,
                        .context = context,
                        .last = tape_entry_count(t) - 1,
                        .share = (percent ? atof(percent) : 10) / 100,
                        .start = clock_now()};
    __real_tape_run_marked(t, wait_and_mark, &s);
}
