#include "bench/base/memory.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* A field of /proc/self/status in bytes. */
static int64_t status_field(const char *key)
{
    char line[256];
    int64_t bytes = -1;
    FILE *in = fopen("/proc/self/status", "r");
    while (in && bytes < 0 && fgets(line, sizeof line, in))
        if (strncmp(line, key, strlen(key)) == 0)
            bytes = 1024 * atoll(line + strlen(key));
    if (in)
        fclose(in);
    return bytes;
}

/* Writing 5 resets the high-water mark (proc(5), clear_refs). */
static bool reset_peak(void)
{
    FILE *out = fopen("/proc/self/clear_refs", "w");
    if (!out)
        return false;
    bool written = fputs("5", out) >= 0;
    return fclose(out) == 0 && written;
}

const char *memory_measure(struct tape *t, struct row_program *to)
{
    const struct tape_config *c = tape_config(t);
    if (c->backend->device) {
        to->memory.libraries = c->backend->device->taken(c->context) - tape_planned(t)->arena;
        return "device memory has no high-water mark";
    }
    malloc_trim(0); /* memory that kernels or libraries freed must not count */
    bool reset = madvise(tape_arena(t), (size_t)tape_planned(t)->arena, MADV_DONTNEED) == 0 && reset_peak();
    int64_t before = status_field("VmRSS:");
    tape_init(t);
    if (reset)
        tape_run(t);
    int64_t peak = status_field("VmHWM:");
    tape_init(t);
    if (reset && before >= 0 && peak >= before) {
        to->memory.resident = peak - before;
        to->memory.libraries = before;
    }
    return "the kernel does not say, or cannot reset its high-water mark (/proc/self)";
}
