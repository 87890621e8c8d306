/*
 * A build that is slower than this one by a known share, for the gates to find (tests/gates.sh): after each
 * entry of a replay it waits for so many percent of the entry's own time as GTMARK_SLOWER says, by
 * default 10.
 *
 * It is a benchmark's object file linked once more, with tape_run_marked replaced (ld's --wrap); so the
 * product knows nothing of it, and both builds run the same kernels.
 */
#include <stdlib.h>

#include "bench/clock.h"
#include "models/tape.h"

void __real_tape_run_marked(struct tape *t, void (*mark)(void *context, int entry), void *context);
void __wrap_tape_run_marked(struct tape *t, void (*mark)(void *context, int entry), void *context);

struct slowing {
    void (*mark)(void *context, int entry);
    void *context;
    double share, start; /* of the entry that runs */
};

static void wait_and_mark(void *context, int entry)
{
    struct slowing *s = context;
    double end = clock_now();
    end += s->share * (end - s->start);
    while (clock_now() < end)
        ;
    s->mark(s->context, entry);
    s->start = clock_now();
}

void __wrap_tape_run_marked(struct tape *t, void (*mark)(void *context, int entry), void *context)
{
    const char *percent = getenv("GTMARK_SLOWER");
    struct slowing s = {.mark = mark, .context = context, .share = (percent ? atof(percent) : 10) / 100};
    s.start = clock_now();
    __real_tape_run_marked(t, wait_and_mark, &s);
}
