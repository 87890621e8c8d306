/*
 * Checks every access to memory by a kernel.
 *
 * Each word of two bytes knows the threads that last wrote and read it, and when. It is an error if two
 * threads access one without a barrier between, one of them writing; in device memory also if they are of
 * different blocks. It is an error to read shared memory that no thread of the block has written, to access
 * what is in no allocation, and to read a word of device memory that is still as cudaMalloc left it.
 */
#include "tests/emulator/block.h"
#include "tests/emulator/emulator.h"

#include <algorithm>
#include <vector>

namespace
{
enum { WORD = 2, SEVERAL = -1, BLOCKS = -2 };
enum place { SHARED, DEVICE };

struct {
    char *start;
    std::vector<word_access> words;
    std::vector<uint32_t> copied; /* when the block began that copies to a word, and has not waited */
} shared;
} // namespace

static bool by_other_blocks(enum place place, uint32_t time, int thread)
{
    return place == DEVICE && time >= block_now.launched && (time < block_now.began || thread == BLOCKS);
}

static void fail_order(enum place place, const char *does, const char *did, uint32_t time, int other)
{
    const char *memory = place == SHARED ? "shared" : "device";
    if (by_other_blocks(place, time, other))
        emulator_fail("%s %s memory that another block %s", does, memory, did);
    if (other == SEVERAL)
        emulator_fail("%s %s memory that other threads %s since the last barrier", does, memory, did);
    emulator_fail("%s %s memory that thread %d %s since the last barrier", does, memory, other, did);
}

/* Inline, since most of the emulator's time is that of these. */
static inline void expect_order(enum place place, const char *does, const char *did, uint32_t time, int other)
{
    if (by_other_blocks(place, time, other) || (time == block_now.time && other != block_now.thread))
        fail_order(place, does, did, time, other);
}

template <enum place place> static inline void read_word(word_access &w)
{
    int thread = block_now.thread;
    expect_order(place, "reads", "wrote", w.written, w.writer);
    if (by_other_blocks(place, w.read, w.reader))
        w.reader = BLOCKS;
    else
        w.reader = (int16_t)(w.read == block_now.time && w.reader != thread ? SEVERAL : thread);
    w.read = block_now.time;
}

template <enum place place> static inline void write_word(word_access &w)
{
    expect_order(place, "writes", "wrote", w.written, w.writer);
    expect_order(place, "writes", "read", w.read, w.reader);
    w.writer = (int16_t)block_now.thread;
    w.written = block_now.time;
}

template <enum place place> static inline void access_words(word_access *first, word_access *end, bool writes)
{
    if (writes)
        for (; first < end; first++)
            write_word<place>(*first);
    else
        for (; first < end; first++)
            read_word<place>(*first);
}

void access_shared(const char *at, size_t bytes, bool writes)
{
    size_t first = (size_t)(at - shared.start) / WORD,
           end = (size_t)(at + bytes - 1 - shared.start) / WORD + 1;
    for (size_t i = first; i < end; i++) {
        if (!writes && shared.words[i].written < block_now.began)
            emulator_fail("reads shared memory that no thread of the block has written");
        if (shared.copied[i] == block_now.began)
            emulator_fail("%s shared memory that a copy writes, not waited for", writes ? "writes" : "reads");
    }
    access_words<SHARED>(&shared.words[first], &shared.words[end], writes);
}

void access_copied(const char *to, size_t bytes, bool begins)
{
    size_t first = (size_t)(to - shared.start) / WORD;
    std::fill_n(&shared.copied[first], bytes / WORD, begins ? block_now.began : 0);
}

void access_device(const char *at, size_t bytes, bool writes)
{
    if (!memory_allocated(at, bytes))
        emulator_fail("%s %zu bytes that are in no allocation", writes ? "writes" : "reads", bytes);
    if (writes)
        memory_mark(at, bytes);
    else if (memory_fresh(at, bytes))
        emulator_fail("reads device memory that was never written");
    access_words<DEVICE>(memory_word(at), memory_word(at + bytes - 1) + 1, writes);
}

void access_expect_aligned(const void *address, size_t bytes, bool writes)
{
    if ((uintptr_t)address & (bytes - 1))
        emulator_fail("%s %zu bytes at a misaligned address", writes ? "writes" : "reads", bytes);
}

void access_shared_range(char *start, char *end)
{
    shared.start = start;
    shared.words.assign((size_t)(end - start) / WORD + 1, word_access{});
    shared.copied.assign(shared.words.size(), 0);
}
