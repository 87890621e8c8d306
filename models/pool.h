/* Memory that is only freed as a whole: blocks of it never move, so pointers into it stay valid. */
#ifndef GTMARK_MODELS_POOL_H
#define GTMARK_MODELS_POOL_H

#include <stddef.h>

struct pool;

struct pool *pool_new(void);
void pool_free(struct pool *p);

/* `size` zeroed bytes, aligned for any type. Aborts when the system has no memory left. */
void *pool_take(struct pool *p, size_t size);

/* A printf into the pool. */
const char *pool_format(struct pool *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
