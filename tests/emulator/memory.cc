/*
 * Device memory: one range of host addresses, which the host may not access while no device work runs. It is
 * protected one time in 16, because that costs more than most kernels, and a faulty host access tends to
 * repeat. Allocations have cudaMalloc's alignment and no more, start as NaN, and have gaps between them;
 * writes to the gaps are detected on free.
 */
#include "tests/emulator/emulator.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <vector>

#include <sys/mman.h>

namespace
{
struct allocation {
    size_t bytes;
    int device;
};

/* Of all devices. */
struct memory {
    char *start;
    char *written; /* by kernels: 1 for each word since its allocation */
    word_access *words;
    std::map<char *, allocation> allocations; /* by address */
    std::map<char *, size_t> pinned;          /* bytes from cudaMallocHost, by address */
    std::set<const void *> loaded[DEVICES];   /* code */
    size_t used[DEVICES];
    int open; /* nesting depth of memory_open */
    unsigned closed;
    bool locked;
    bool changed; /* the allocations, since memory_allocated */
} memory;

const size_t SIZE = (size_t)3 << 30; /* per device, at most */
const size_t ADDRESSES = 2 * DEVICES * SIZE, PAGE = 4096, ALIGNMENT = 256, GAP = PAGE, WORD = 2;
} // namespace

void memory_open(void)
{
    if (memory.open++ == 0 && memory.locked)
        mprotect(memory.start, ADDRESSES, PROT_READ | PROT_WRITE);
    memory.locked = false;
}

void memory_close(void)
{
    const unsigned interval = 16;
    if (--memory.open > 0 || ++memory.closed % interval)
        return;
    memory.locked = mprotect(memory.start, ADDRESSES, PROT_NONE) == 0;
}

/* The ends of the gaps before and after an allocation. */
static char *begin_of_gap(char *start)
{
    return start - ALIGNMENT;
}

static char *end_of(char *start, size_t bytes)
{
    return start + (bytes + PAGE - 1) / PAGE * PAGE + GAP;
}

/* The lowest sufficient address; addresses are odd multiples of the alignment. */
static char *find_room(size_t bytes)
{
    char *at = memory.start + PAGE + ALIGNMENT;
    for (const auto &[start, a] : memory.allocations) {
        if (end_of(at, bytes) <= begin_of_gap(start))
            break;
        at = end_of(start, a.bytes);
    }
    return end_of(at, bytes) <= memory.start + ADDRESSES ? at : NULL;
}

static void poison(char *start, size_t bytes)
{
    memory_open();
    memset(begin_of_gap(start), POISON, (size_t)(end_of(start, bytes) - begin_of_gap(start)));
    memset(memory.written + (start - memory.start) / WORD, 0, (bytes + WORD - 1) / WORD);
    memory_close();
}

static bool poisoned(const char *from, const char *end)
{
    return std::all_of(from, end, [](char c) { return (unsigned char)c == POISON; });
}

static void expect_gaps(char *start, size_t bytes)
{
    memory_open();
    if (!poisoned(begin_of_gap(start), start) || !poisoned(start + bytes, end_of(start, bytes) - ALIGNMENT))
        emulator_fail("out-of-bounds write next to an allocation of %zu bytes", bytes);
    memory_close();
}

/* In huge pages where the system has them: they are protected 50 times as fast. */
static char *reserve(size_t bytes)
{
    void *start =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        emulator_fail("no addresses for device memory");
    madvise(start, bytes, MADV_HUGEPAGE);
    return (char *)start;
}

static size_t room(int device)
{
    static const char *megabytes = getenv("GTMARK_EMULATED_MEMORY");
    static const size_t size = megabytes ? (size_t)atoi(megabytes) << 20 : SIZE;
    return size - memory.used[device];
}

cudaError_t memory_load(const void *code, size_t bytes)
{
    int device = current_device();
    if (memory.loaded[device].count(code))
        return cudaSuccess;
    if (emulator_captures())
        return cudaErrorStreamCaptureUnsupported;
    if (bytes > room(device))
        return cudaErrorMemoryAllocation;
    memory.used[device] += bytes;
    memory.loaded[device].insert(code);
    return cudaSuccess;
}

extern "C" cudaError_t cudaMalloc(void **to, size_t bytes)
{
    if (emulator_captures())
        return emulator_status(cudaErrorStreamCaptureUnsupported);
    if (!memory.start) {
        memory.start = reserve(ADDRESSES);
        memory.written = reserve(ADDRESSES / WORD);
        memory.words = (word_access *)reserve(ADDRESSES / WORD * sizeof(word_access));
    }
    *to = NULL;
    int device = current_device();
    char *start = bytes && bytes <= room(device) ? find_room(bytes) : NULL;
    if (!start)
        return emulator_status(bytes ? cudaErrorMemoryAllocation : cudaSuccess);
    memory.allocations[start] = {bytes, device};
    memory.changed = true;
    memory.used[device] += bytes;
    poison(start, bytes);
    *to = start;
    return cudaSuccess;
}

extern "C" cudaError_t cudaFree(void *start)
{
    if (emulator_captures())
        return emulator_status(cudaErrorStreamCaptureUnsupported);
    if (!start)
        return cudaSuccess;
    auto found = memory.allocations.find((char *)start);
    if (found == memory.allocations.end())
        emulator_fail("cudaFree of an address not from cudaMalloc");
    auto [bytes, device] = found->second;
    if (device != current_device())
        emulator_fail("cudaFree of memory of device %d while device %d is current", device, current_device());
    device_drain(device);
    expect_gaps((char *)start, bytes);
    poison((char *)start, bytes);
    memory.used[device] -= bytes;
    memory.allocations.erase(found);
    memory.changed = true;
    return cudaSuccess;
}

extern "C" cudaError_t cudaMallocHost(void **to, size_t bytes)
{
    if (emulator_captures())
        return emulator_status(cudaErrorStreamCaptureUnsupported);
    *to = malloc(bytes);
    memory.pinned[(char *)*to] = bytes;
    return cudaSuccess;
}

extern "C" cudaError_t cudaFreeHost(void *start)
{
    if (memory.pinned.erase((char *)start) == 0)
        emulator_fail("cudaFreeHost of an address not from cudaMallocHost");
    for (int device = 0; device < DEVICES; device++)
        device_drain(device);
    free(start);
    return cudaSuccess;
}

extern "C" cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    const size_t of_the_driver = (size_t)64 << 20;
    *available = room(current_device());
    *total = *available + memory.used[current_device()] + of_the_driver;
    return cudaSuccess;
}

bool memory_allocated(const void *from, size_t bytes)
{
    static const char *start, *end; /* of the last allocation found */
    const char *at = (const char *)from;
    if (memory.changed || at < start || at + bytes > end) {
        auto after = memory.allocations.upper_bound((char *)from);
        if (after == memory.allocations.begin())
            return false;
        start = std::prev(after)->first;
        end = start + std::prev(after)->second.bytes;
        memory.changed = false;
    }
    return at >= start && at + bytes <= end;
}

void memory_mark(const void *from, size_t bytes)
{
    size_t at = (size_t)((const char *)from - memory.start);
    for (size_t i = at / WORD; i <= (at + bytes - 1) / WORD; i++)
        memory.written[i] = 1;
}

word_access *memory_word(const void *at)
{
    return &memory.words[(size_t)((const char *)at - memory.start) / WORD];
}

/* What copies and libraries wrote is not marked, but is hardly POISON, unless it is the lower half of a
 * float. */
bool memory_fresh(const void *from, size_t bytes)
{
    const char *at = (const char *)from;
    size_t step = std::min(bytes, sizeof(float));
    for (size_t i = 0; i + step <= bytes; i += step)
        if (!memory.written[(size_t)(at + i - memory.start) / WORD] && poisoned(at + i, at + i + step))
            return true;
    return false;
}

void memory_expect(int device, const void *from, size_t bytes, const char *what)
{
    auto after = memory.allocations.upper_bound((char *)from);
    if (after != memory.allocations.begin()) {
        auto [start, a] = *std::prev(after);
        if (a.device == device && (const char *)from + bytes <= start + a.bytes)
            return;
    }
    emulator_fail("%s: %zu bytes at %p are not in an allocation of device %d", what, bytes, from, device);
}

bool memory_pinned(const void *from)
{
    auto after = memory.pinned.upper_bound((char *)from);
    return after != memory.pinned.begin() && from < std::prev(after)->first + std::prev(after)->second;
}

void memory_spoil(void *from, size_t bytes)
{
    size_t end = std::min(bytes, PAGE);
    memset(from, POISON, end);
    memset((char *)from + bytes - end, POISON, end);
}
