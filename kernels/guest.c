/* A process can be ended in any place, and knows no more of it: hence the variables. */
#include "kernels/guest.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static struct guest_note alone, *note = &alone;

struct guest guest_enter(const char *doing, const char *of)
{
    struct guest g = {.before = *note, .locale = uselocale(LC_GLOBAL_LOCALE)};
    fegetmode(&g.modes);
    note->doing = doing;
    strncpy(note->of, of, GUEST_NAME - 1);
    note->inside = true;
    return g;
}

void guest_leave(const struct guest *g)
{
    fesetmode(&g->modes);
    uselocale(g->locale);
    if (g->before.inside)
        *note = g->before;
    note->inside = g->before.inside;
}

struct guest_note *guest_share(void)
{
    void *shared = mmap(NULL, sizeof *note, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        abort();
    note = shared;
    *note = (struct guest_note){.status = -1};
    return note;
}

/* Flushing to zero has no portable name, but shows. */
static bool is_usual(void)
{
    volatile double small = DBL_MIN;
    small /= 2;
    return small > 0 && small * 2 == DBL_MIN && fegetround() == FE_TONEAREST && fegetexcept() == 0;
}

bool guest_resets(int threads)
{
    int others = 0;
#pragma omp parallel num_threads(threads) reduction(+ : others)
    if (!is_usual()) {
        others++;
        fesetmode(FE_DFL_MODE);
    }
    return others == 0;
}
