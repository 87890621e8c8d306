/*
 * Checks every access to memory by a kernel. The compiler calls these functions before each (the interface of
 * ThreadSanitizer's runtime, -fsanitize=thread, which is not linked).
 *
 * Shared memory: each word knows the threads that last wrote and read it, and when. It is an error to read
 * what no thread of the block has written, and if two threads access a word without a barrier between, one of
 * them writing. Device memory: it is an error to access what is in no allocation, and to read a word that is
 * still as cudaMalloc left it.
 */
#include "tests/emulator/block.h"
#include "tests/emulator/emulator.h"
#include "tests/emulator/language.h"

#include <cstring>

namespace
{
enum { WORD = 4, SEVERAL = -1 };

/* Times are of block_time; 0: never. */
struct word {
    uint32_t written, read;
    int16_t writer, reader; /* threads; reader may be SEVERAL */
};

struct {
    char *start, *end;
    std::vector<word> words;
} shared;
} // namespace

static void expect_order(const void *code, const char *does, const char *did, uint32_t time, int other)
{
    if (time != block_now.time || other == block_now.thread)
        return;
    if (other == SEVERAL)
        emulator_fail_at(code, "%s shared memory that other threads %s since the last barrier", does, did);
    emulator_fail_at(code, "%s shared memory that thread %d %s since the last barrier", does, other, did);
}

/* The compiler reports no writes of results that a function returns in memory, so the value counts too. */
static bool is_fresh(size_t index)
{
    static const unsigned char fresh[WORD] = {POISON, POISON, POISON, POISON};
    return shared.words[index].written < block_now.began &&
           memcmp(shared.start + index * WORD, fresh, WORD) == 0;
}

static void read_word(size_t index, const void *code)
{
    int thread = block_now.thread;
    word &w = shared.words[index];
    if (is_fresh(index))
        emulator_fail_at(code, "reads shared memory that no thread of the block has written");
    expect_order(code, "reads", "wrote", w.written, w.writer);
    w.reader = (int16_t)(w.read == block_now.time && w.reader != thread ? SEVERAL : thread);
    w.read = block_now.time;
}

static void write_word(size_t index, const void *code)
{
    word &w = shared.words[index];
    expect_order(code, "writes", "wrote", w.written, w.writer);
    expect_order(code, "writes", "read", w.read, w.reader);
    w.writer = (int16_t)block_now.thread;
    w.written = block_now.time;
}

static void access_shared(const char *at, size_t bytes, bool writes, const void *code)
{
    size_t first = (size_t)(at - shared.start) / WORD, last = (size_t)(at + bytes - 1 - shared.start) / WORD;
    for (size_t i = first; i <= last; i++)
        (writes ? write_word : read_word)(i, code);
}

static void access_device(const char *at, size_t bytes, bool writes, const void *code)
{
    if (!memory_allocated(at, bytes))
        emulator_fail_at(code, "%s %zu bytes that are in no allocation", writes ? "writes" : "reads", bytes);
    if (writes)
        memory_mark(at, bytes);
    else if (memory_fresh(at, bytes))
        emulator_fail_at(code, "reads device memory that was never written");
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

/* Of a type that must be aligned to its size. */
static void access_aligned(const void *address, size_t bytes, bool writes, const void *code)
{
    if (block_now.thread >= 0 && (uintptr_t)address % bytes)
        emulator_fail_at(code, "%s %zu bytes at a misaligned address", writes ? "writes" : "reads", bytes);
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
    shared.words.assign((size_t)(end - start) / WORD + 1, word{});
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
