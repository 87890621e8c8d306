#include "bench/audit/operands.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

struct guarded guarded_new(size_t size, size_t unit, enum guard guard)
{
    size_t page = page_size(), inner = (size + page - 1) / page * page;
    struct guarded g = {.size = inner + 2 * page};
    g.pages = mmap(NULL, g.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g.pages == MAP_FAILED || (inner && mprotect(g.pages + page, inner, PROT_READ | PROT_WRITE) != 0))
        abort();
    g.bytes = g.pages + page + (guard == GUARD_AFTER ? (inner - size) / unit * unit : 0);
    return g;
}

static void protect(struct guarded g, int protection)
{
    size_t page = page_size();
    if (g.size > 2 * page && mprotect(g.pages + page, g.size - 2 * page, protection) != 0)
        abort();
}

void guarded_freeze(struct guarded g)
{
    protect(g, PROT_READ);
}

void guarded_close(struct guarded g)
{
    protect(g, PROT_NONE);
}

void guarded_free(struct guarded g)
{
    if (g.pages)
        munmap(g.pages, g.size);
}

bool guarded_has(struct guarded g, const void *address)
{
    const unsigned char *at = address;
    return g.pages && at >= g.pages && at < g.pages + g.size;
}
