/* Asynchronous copies to shared memory, in the order in which each thread of the running block began them. */
#include "tests/emulator/block.h"
#include "tests/emulator/emulator.h"
#include "tests/emulator/matrices.h"

#include <cstring>
#include <deque>
#include <vector>

namespace
{
struct copy {
    char *to;
    size_t bytes;
    char data[16];
};

typedef std::vector<copy> group;

struct thread_copies {
    uint32_t began; /* the block */
    group open;
    std::deque<group> committed;
};
} // namespace

/* Those of the running thread. */
static thread_copies &own()
{
    static thread_copies all[1024];
    thread_copies &t = all[block_now.thread];
    if (t.began != block_now.began)
        t = {block_now.began, {}, {}};
    return t;
}

void copy_begin(char *to, const char *from, size_t bytes, size_t given)
{
    copy c = {to, bytes, {}};
    if (given > bytes)
        emulator_fail("copies %zu bytes to %zu", given, bytes);
    access_expect_aligned(to, bytes, true);
    access_expect_aligned(from, bytes, false);
    if (given) {
        access_device(from, given, false);
        memcpy(c.data, from, given);
    }
    access_shared(to, bytes, true);
    access_copied(to, bytes, true);
    own().open.push_back(c);
}

void copy_commit_group(void)
{
    thread_copies &t = own();
    t.committed.push_back(std::move(t.open));
    t.open.clear();
}

void copy_wait_group(int left)
{
    thread_copies &t = own();
    for (; t.committed.size() > (size_t)left; t.committed.pop_front())
        for (const copy &c : t.committed.front()) {
            access_copied(c.to, c.bytes, false);
            access_shared(c.to, c.bytes, true);
            memcpy(c.to, c.data, c.bytes);
        }
}
