/*
 * Checks every access to memory by a kernel. The compiler calls these functions before each (the interface of
 * ThreadSanitizer's runtime, -fsanitize=thread, which is not linked).
 *
 * Each word of two bytes knows the threads that last wrote and read it, and when. It is an error if two
 * threads access one without a barrier between, one of them writing; in device memory also if they are of
 * different blocks. It is an error to read shared memory that no thread of the block has written, to access
 * what is in no allocation, and to read a word of device memory that is still as cudaMalloc left it.
 */
#include "tests/emulator/block.h"
#include "tests/emulator/emulator.h"
#include "tests/emulator/language.h"

#include <algorithm>
#include <cstring>

namespace
{
enum { WORD = 2, SEVERAL = -1, BLOCKS = -2 };
enum place { SHARED, DEVICE };

struct {
    char *start, *end;
    std::vector<word_access> words;
    std::vector<uint32_t> copied; /* when the block began that copies to a word, and has not waited */
} shared;
} // namespace

static bool by_other_blocks(enum place place, uint32_t time, int thread)
{
    return place == DEVICE && time >= block_now.launched && (time < block_now.began || thread == BLOCKS);
}

static void expect_order(enum place place, const void *code, const char *does, const char *did, uint32_t time,
                         int other)
{
    const char *memory = place == SHARED ? "shared" : "device";
    if (by_other_blocks(place, time, other))
        emulator_fail_at(code, "%s %s memory that another block %s", does, memory, did);
    if (time != block_now.time || other == block_now.thread)
        return;
    if (other == SEVERAL)
        emulator_fail_at(code, "%s %s memory that other threads %s since the last barrier", does, memory,
                         did);
    emulator_fail_at(code, "%s %s memory that thread %d %s since the last barrier", does, memory, other, did);
}

static void read_word(enum place place, word_access &w, const void *code)
{
    int thread = block_now.thread;
    expect_order(place, code, "reads", "wrote", w.written, w.writer);
    if (by_other_blocks(place, w.read, w.reader))
        w.reader = BLOCKS;
    else
        w.reader = (int16_t)(w.read == block_now.time && w.reader != thread ? SEVERAL : thread);
    w.read = block_now.time;
}

static void write_word(enum place place, word_access &w, const void *code)
{
    expect_order(place, code, "writes", "wrote", w.written, w.writer);
    expect_order(place, code, "writes", "read", w.read, w.reader);
    w.writer = (int16_t)block_now.thread;
    w.written = block_now.time;
}

/* The compiler reports no writes of results that a function returns in memory, so the value counts too. */
static bool is_fresh(const char *at, size_t bytes)
{
    static const unsigned char fresh[4] = {POISON, POISON, POISON, POISON};
    size_t step = std::min(bytes, sizeof fresh);
    for (size_t i = 0; i + step <= bytes; i += step)
        if (shared.words[(size_t)(at + i - shared.start) / WORD].written < block_now.began &&
            memcmp(at + i, fresh, step) == 0)
            return true;
    return false;
}

void access_shared(const char *at, size_t bytes, bool writes, const void *code)
{
    size_t first = (size_t)(at - shared.start) / WORD, last = (size_t)(at + bytes - 1 - shared.start) / WORD;
    if (at < shared.start || last >= shared.words.size())
        emulator_fail_at(code, "%s with an instruction for shared memory elsewhere",
                         writes ? "writes" : "reads");
    if (!writes && is_fresh(at, bytes))
        emulator_fail_at(code, "reads shared memory that no thread of the block has written");
    for (size_t i = first; i <= last; i++) {
        if (shared.copied[i] == block_now.began)
            emulator_fail_at(code, "%s shared memory that a copy writes, not waited for",
                             writes ? "writes" : "reads");
        (writes ? write_word : read_word)(SHARED, shared.words[i], code);
    }
}

void access_copied(const char *to, size_t bytes, bool begins)
{
    size_t first = (size_t)(to - shared.start) / WORD;
    std::fill_n(&shared.copied[first], bytes / WORD, begins ? block_now.began : 0);
}

void access_device(const char *at, size_t bytes, bool writes, const void *code)
{
    if (!memory_allocated(at, bytes))
        emulator_fail_at(code, "%s %zu bytes that are in no allocation", writes ? "writes" : "reads", bytes);
    if (writes)
        memory_mark(at, bytes);
    else if (memory_fresh(at, bytes))
        emulator_fail_at(code, "reads device memory that was never written");
    word_access *first = memory_word(at), *last = memory_word(at + bytes - 1);
    for (word_access *w = first; w <= last; w++)
        (writes ? write_word : read_word)(DEVICE, *w, code);
}

static void access(const void *address, size_t bytes, bool writes, const void *code)
{
    const char *at = (const char *)address;
    if (block_now.thread < 0)
        return;
    if (at >= shared.start && at < shared.end)
        access_shared(at, bytes, writes, code);
    else if (memory_of_device(at))
        access_device(at, bytes, writes, code);
}

void access_expect_aligned(const void *address, size_t bytes, bool writes, const void *code)
{
    if (block_now.thread >= 0 && (uintptr_t)address & (bytes - 1))
        emulator_fail_at(code, "%s %zu bytes at a misaligned address", writes ? "writes" : "reads", bytes);
}

/* Of a type that must be aligned to its size. */
static void access_aligned(const void *address, size_t bytes, bool writes, const void *code)
{
    access_expect_aligned(address, bytes, writes, code);
    access(address, bytes, writes, code);
}

void emulated_device_store(const void *to, size_t bytes, struct source_location at)
{
    if (!memory_of_device(to))
        emulator_fail("%s:%d: writes with an instruction for device memory elsewhere", at.file, at.line);
    if ((uintptr_t)to % bytes)
        emulator_fail("%s:%d: writes %zu bytes at a misaligned address", at.file, at.line, bytes);
}

void access_shared_range(char *start, char *end)
{
    shared.start = start;
    shared.end = end;
    shared.words.assign((size_t)(end - start) / WORD + 1, word_access{});
    shared.copied.assign(shared.words.size(), 0);
}

extern "C" {

#define ACCESS(bytes)                                                                                        \
    void __tsan_read##bytes(void *at)                                                                        \
    {                                                                                                        \
        access_aligned(at, bytes, false, __builtin_return_address(0));                                       \
    }                                                                                                        \
    void __tsan_write##bytes(void *at)                                                                       \
    {                                                                                                        \
        access_aligned(at, bytes, true, __builtin_return_address(0));                                        \
    }                                                                                                        \
    void __tsan_unaligned_read##bytes(void *at)                                                              \
    {                                                                                                        \
        access(at, bytes, false, __builtin_return_address(0));                                               \
    }                                                                                                        \
    void __tsan_unaligned_write##bytes(void *at)                                                             \
    {                                                                                                        \
        access(at, bytes, true, __builtin_return_address(0));                                                \
    }
ACCESS(1)
ACCESS(2)
ACCESS(4)
ACCESS(8)
ACCESS(16)

void __tsan_read_range(void *at, size_t bytes)
{
    access(at, bytes, false, __builtin_return_address(0));
}

void __tsan_write_range(void *at, size_t bytes)
{
    access(at, bytes, true, __builtin_return_address(0));
}

void __tsan_init(void)
{
}

void __tsan_func_entry(void *)
{
}

void __tsan_func_exit(void)
{
}
}
