/* An arena allocator: memory is freed as a whole. Blocks never move, so pointers into them stay valid. */
#ifndef GTMARK_MODELS_ARENA_H
#define GTMARK_MODELS_ARENA_H

#include <stddef.h>

struct arena;

struct arena *arena_new(void);
void arena_free(struct arena *p);

/* `size` zeroed bytes, aligned for any type. Aborts when the system has no memory left. */
void *arena_alloc(struct arena *p, size_t size);

/* A copy of the first `length` bytes of a text, in the arena. */
const char *arena_text(struct arena *p, const char *text, size_t length);

#endif
