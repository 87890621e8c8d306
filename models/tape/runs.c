/* The lists are short and searched linearly. */
#include "models/tape/runs.h"

#include <string.h>

#include "kernels/arithmetic.h"

/* Ensures capacity for one more run; the old list stays in the arena. */
static void grow(struct runs *s, struct arena *arena)
{
    if (s->count < s->capacity)
        return;
    s->capacity = s->capacity ? 2 * s->capacity : 4;
    struct run *list = arena_alloc(arena, (size_t)s->capacity * sizeof *list);
    if (s->count)
        memcpy(list, s->list, (size_t)s->count * sizeof *list);
    s->list = list;
}

void runs_add(struct runs *s, struct arena *arena, struct run r)
{
    int from = 0;
    grow(s, arena);
    while (from < s->count && s->list[from].end < r.first)
        from++;
    int to = from; /* runs from .. to - 1 merge with r */
    for (; to < s->count && s->list[to].first <= r.end; to++) {
        r.first = min_of(r.first, s->list[to].first);
        r.end = max_of(r.end, s->list[to].end);
    }
    memmove(s->list + from + 1, s->list + to, (size_t)(s->count - to) * sizeof *s->list);
    s->list[from] = r;
    s->count += 1 - (to - from);
}

int64_t runs_common(const struct runs *s, struct run r)
{
    int64_t count = 0;
    for (int i = 0; i < s->count; i++)
        count += max_of(0, min_of(r.end, s->list[i].end) - max_of(r.first, s->list[i].first));
    return count;
}

struct run runs_gap(const struct runs *s, struct run r)
{
    for (int i = 0; i < s->count && r.first < r.end; i++) {
        if (s->list[i].end <= r.first)
            continue;
        if (s->list[i].first > r.first) {
            r.end = min_of(r.end, s->list[i].first);
            break;
        }
        r.first = min_of(r.end, s->list[i].end);
    }
    return r;
}
