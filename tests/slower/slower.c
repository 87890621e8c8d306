/*
 * A build that is slower than this one by a known share, for the gates to find (tests/gates.sh): before the
 * last entry of a replay is marked as done, it waits for so many percent of the replay's own time as
 * GTMARK_SLOWER says, by default 10. One wait, since clocks read at every entry would make it slower still;
 * what runs after a wait may itself be slower, which the gates' ratios show.
 *
 * It is a benchmark's object file linked once more, with tape_run_marked replaced (ld's --wrap); so the
 * product knows nothing of it, and both builds run the same kernels.
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
