/*
 * Shared memory is this library's thread-local memory (language.h). Its whole pages are a private mapping of
 * a file of NaN, so that one system call discards what a block wrote, regardless of the total size of all
 * kernels' shared memory.
 */
#include "tests/emulator/emulator.h"

#include <cstring>

#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

namespace
{
struct range {
    char *start, *end;
};

/* Its range in the thread that last ran a block. */
struct range mapped;
} // namespace

/* Touched so that thread-local memory exists. */
static thread_local char touched;

static int find_thread_local(dl_phdr_info *module, size_t, void *to)
{
    range *r = (range *)to;
    char *start = (char *)module->dlpi_tls_data;
    for (int i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) &part = module->dlpi_phdr[i];
        if (part.p_type == PT_TLS && start && start <= &touched && &touched < start + part.p_memsz)
            *r = {start, start + part.p_memsz};
    }
    return r->end != NULL;
}

static char *page_at(char *address, bool next)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), at = (uintptr_t)address + (next ? page - 1 : 0);
    return (char *)(at / page * page);
}

static void map_file(char *start, size_t bytes)
{
    int file = memfd_create("poison", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0)
        emulator_fail("cannot create a file for shared memory");
    void *writable = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (writable == MAP_FAILED)
        emulator_fail("no memory for shared memory");
    memset(writable, POISON, bytes);
    munmap(writable, bytes);
    if (mmap(start, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_FIXED, file, 0) == MAP_FAILED)
        emulator_fail("shared memory cannot be mapped");
    close(file);
}

void shared_memory_poison(void)
{
    volatile char *touch = &touched;
    *touch = 0;
    if (!(mapped.start <= &touched && &touched < mapped.end)) {
        mapped = {NULL, NULL};
        dl_iterate_phdr(find_thread_local, &mapped);
        if (!mapped.end)
            emulator_fail("shared memory not found");
        access_shared_range(mapped.start, mapped.end);
        char *start = page_at(mapped.start, true), *end = page_at(mapped.end, false);
        if (start < end)
            map_file(start, (size_t)(end - start));
    }
    char *start = page_at(mapped.start, true), *end = page_at(mapped.end, false);
    if (start >= end)
        start = end = mapped.end;
    else
        madvise(start, (size_t)(end - start), MADV_DONTNEED);
    memset(mapped.start, POISON, (size_t)(start - mapped.start));
    memset(end, POISON, (size_t)(mapped.end - end));
}
