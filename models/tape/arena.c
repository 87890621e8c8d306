/* A list of blocks, each filled from the start. */
#include "models/tape/arena.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/arithmetic.h"

enum { BLOCK = 1 << 16, ALIGN = 16 };

struct arena_block {
    struct arena_block *next;
    size_t used, size;
    _Alignas(ALIGN) char bytes[];
};

struct arena {
    struct arena_block *blocks;
};

static void *zeroed(size_t size)
{
    void *p = calloc(1, size);
    if (!p) {
        fprintf(stderr, "out of memory: %zu bytes\n", size);
        abort();
    }
    return p;
}

struct arena *arena_new(void)
{
    return zeroed(sizeof(struct arena));
}

void arena_free(struct arena *p)
{
    if (!p)
        return;
    for (struct arena_block *b = p->blocks, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(p);
}

void *arena_alloc(struct arena *p, size_t size)
{
    size = (size_t)round_up((int64_t)size, ALIGN);
    if (!p->blocks || p->blocks->used + size > p->blocks->size) {
        size_t room = size > BLOCK ? size : BLOCK;
        struct arena_block *b = zeroed(sizeof *b + room);
        b->next = p->blocks;
        b->size = room;
        p->blocks = b;
    }
    void *taken = p->blocks->bytes + p->blocks->used;
    p->blocks->used += size;
    return taken;
}

const char *arena_text(struct arena *p, const char *text, size_t length)
{
    return memcpy(arena_alloc(p, length + 1), text, length);
}
