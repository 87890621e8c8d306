/*
 * A block's threads as fibers: each has a stack, runs until it must wait for others, and then gives way to
 * the next.
 *
 * Between two barriers a thread runs alone. So what a kernel gets wrong if it lacks a barrier is wrong here
 * in some order of the threads, and the same in every run. A barrier that not all threads reach, or at
 * different places of the source, a shuffle among lanes of which some do not come or that asks a lane that is
 * not in the mask: each is a message and abort.
 *
 * x86-64 alone, by the System V ABI: a switch must not cost the system call of swapcontext, since there are
 * millions.
 */
#include "tests/emulator/block.h"
#include "tests/emulator/emulator.h"
#include "tests/emulator/language.h"

#include <algorithm>
#include <deque>

#include <sys/mman.h>
#include <unistd.h>

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;

enum { STACK = 128 << 10, THREADS = 1024, LANES = 32 };

namespace
{
/* Those lanes of a warp that exchange values by the same mask. */
struct meeting {
    unsigned mask, arrived, round;
    uint64_t in[LANES], out[LANES];
    struct source_location at;
};

struct fiber {
    void *stack_pointer;
    char *stack;
    uint3 index;
    const unsigned *round;     /* what it waits for: that this ... */
    unsigned of;               /* ... is no longer this; null: it waits for nothing */
    struct source_location at; /* ... and where */
    bool ended;
};

/* The block that runs: a device runs one at a time. Fibers keep their stacks from block to block. */
struct running {
    fiber fibers[THREADS];
    std::deque<meeting> meetings[THREADS / LANES]; /* one for each mask that was ever seen there */
    const std::function<void()> *thread;
    void *scheduler; /* its stack pointer while a fiber runs */
    int now, live;
    int arrived; /* at the barrier */
    unsigned round;
    struct source_location barrier;
} block;
} // namespace

/* Saves what a callee must keep, and its stack pointer to *from; goes on where `to` was saved. */
extern "C" void emulated_switch(void **from, void *to);
asm(R"(
.text
.globl emulated_switch
.type emulated_switch, @function
emulated_switch:
    push %rbp
    push %rbx
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, (%rdi)
    mov %rsi, %rsp
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %rbx
    pop %rbp
    ret
.size emulated_switch, . - emulated_switch
)");

static void give_way()
{
    emulated_switch(&block.fibers[block.now].stack_pointer, block.scheduler);
}

static void wait_while(const unsigned *round, struct source_location at)
{
    fiber &f = block.fibers[block.now];
    f.round = round;
    f.of = *round;
    f.at = at;
    give_way();
}

static void open_barrier()
{
    block.arrived = 0;
    block.round++;
}

/* Where a fiber begins. A thread that ends counts no longer at barriers. */
static void begin()
{
    (*block.thread)();
    block.fibers[block.now].ended = true;
    block.live--;
    if (block.live > 0 && block.arrived == block.live)
        open_barrier();
    give_way();
    abort();
}

/* Its lowest page is no memory, so that a stack that is too small does not grow into another. */
static char *new_stack()
{
    void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED || mprotect(stack, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE) != 0)
        emulator_fail("no memory for stacks");
    return (char *)stack;
}

static void prepare(fiber &f, int number)
{
    if (!f.stack)
        f.stack = new_stack();
    /* As emulated_switch leaves a stack: six registers, where to go on, and nowhere to return to from there.
     */
    void **top = (void **)(f.stack + STACK - 64);
    *--top = NULL;
    *--top = (void *)begin;
    for (int i = 0; i < 6; i++)
        *--top = NULL;
    f.stack_pointer = top;
    f.index = {number % blockDim.x, number / blockDim.x % blockDim.y, number / blockDim.x / blockDim.y};
    f.round = NULL;
    f.ended = false;
}

void emulated_barrier(struct source_location at)
{
    if (block.arrived == 0)
        block.barrier = at;
    else if (block.barrier.line != at.line || strcmp(block.barrier.file, at.file) != 0)
        emulator_fail("threads of a block wait at different barriers: %s:%d and %s:%d", block.barrier.file,
                      block.barrier.line, at.file, at.line);
    if (++block.arrived == block.live)
        open_barrier();
    else
        wait_while(&block.round, at);
}

static meeting &meeting_of(unsigned mask, int warp)
{
    for (meeting &m : block.meetings[warp])
        if (m.mask == mask)
            return m;
    block.meetings[warp].push_back({});
    block.meetings[warp].back().mask = mask;
    return block.meetings[warp].back();
}

uint64_t emulated_exchange(unsigned mask, uint64_t bits, int from, struct source_location at)
{
    int lane = block.now % LANES;
    if (!(mask >> lane & 1) || !(mask >> from & 1))
        emulator_fail("%s:%d: lane %d asks lane %d, and both should be in mask %x", at.file, at.line, lane,
                      from, mask);
    meeting &m = meeting_of(mask, block.now / LANES);
    if (!m.arrived)
        m.at = at;
    else if (m.at.line != at.line || strcmp(m.at.file, at.file) != 0)
        emulator_fail("lanes of mask %x are in different shuffles: %s:%d and %s:%d", mask, m.at.file,
                      m.at.line, at.file, at.line);
    m.in[lane] = bits;
    m.arrived |= 1u << lane;
    if (m.arrived != mask) {
        wait_while(&m.round, at);
    } else {
        memcpy(m.out, m.in, sizeof m.in);
        m.arrived = 0;
        m.round++;
    }
    return m.out[from];
}

/* Lets one thread run until it waits or ends. */
static void resume(int number)
{
    fiber &f = block.fibers[number];
    f.round = NULL;
    block.now = number;
    threadIdx = f.index;
    emulated_switch(&block.scheduler, f.stack_pointer);
}

/* Every thread of these that can go on, once. */
static bool advance(const int *first, const int *last)
{
    bool any = false;
    for (; first < last; first++) {
        const fiber &f = block.fibers[*first];
        if (f.ended || (f.round && *f.round == f.of))
            continue;
        any = true;
        resume(*first);
    }
    return any;
}

/* Every stretch as far as it can go. */
static bool advance_stretches(const std::vector<int> &order, int stretch)
{
    bool any = false;
    const int *end = order.data() + order.size();
    for (const int *first = order.data(); first < end; first += stretch)
        while (advance(first, std::min(first + stretch, end)))
            any = true;
    return any;
}

static void fail_stuck()
{
    int stuck = 0;
    while (block.fibers[stuck].ended)
        stuck++;
    struct source_location at = block.fibers[stuck].at;
    emulator_fail("a block cannot go on: thread %d waits at %s:%d for others that do not come", stuck,
                  at.file, at.line);
}

void block_run(const std::function<void()> &thread, const std::vector<int> &order, int stretch)
{
    block.thread = &thread;
    block.live = (int)order.size();
    block.arrived = 0;
    for (int i = 0; i < block.live; i++)
        prepare(block.fibers[i], i);
    while (block.live > 0)
        if (!advance_stretches(order, stretch))
            fail_stuck();
}
