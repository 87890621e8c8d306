/*
 * A block's threads as fibers: each has a stack and runs until it must wait for others; then the next one
 * runs.
 *
 * Between two barriers a thread runs without interruption. It is an error, with a message and abort, if not
 * all threads reach a barrier, if they reach different ones, if lanes are missing from a shuffle, or if a
 * shuffle reads from a lane outside the mask.
 *
 * x86-64 System V ABI only: switches must not cost the system call of swapcontext, because there are millions
 * of them.
 */
#include "tests/emulator/block.h"
#include "tests/emulator/emulator.h"
#include "tests/emulator/language.h"

#include <algorithm>
#include <deque>

#include <sys/mman.h>

uint3 threadIdx, blockIdx;
dim3 blockDim, gridDim;
struct block_state block_now = {-1, 0, 0, 0, {}};

enum { STACK = 128 << 10, GUARD = 16 << 10, THREADS = 1024, LANES = 32 };

namespace
{
/* The lanes of a warp that exchange values with the same mask. */
struct meeting {
    unsigned mask, arrived, round;
    uint64_t in[LANES], out[LANES];
    struct source_location at;
};

struct fiber {
    void *stack_pointer;
    char *stack;
    uint3 index;
    const unsigned *round; /* waits until *round differs from `of`; null: not waiting */
    unsigned of;
    struct source_location at; /* of the wait */
    bool ended;
};

/* The running block: a device runs one at a time. Fibers reuse their stacks across blocks. */
struct running {
    fiber fibers[THREADS];
    std::deque<meeting> meetings[THREADS / LANES]; /* per warp, one for each mask seen */
    const std::function<void()> *thread;
    void *scheduler; /* its stack pointer while a fiber runs */
    int now, live;
    int arrived; /* at the barrier */
    unsigned round;
    struct source_location barrier;
} block;
} // namespace

/* Saves the callee-saved registers, and the stack pointer to *from; continues where `to` was saved. */
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
    block_now.time++;
}

/* Entry point of a fiber. A thread that has ended is no longer expected at barriers. */
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

bool block_stack_overflown(const void *address)
{
    const char *stack = block_now.thread < 0 ? NULL : block.fibers[block_now.thread].stack;
    return stack && address >= stack && address < stack + GUARD;
}

/* The lowest part is inaccessible, so that a stack overflow faults. */
static char *new_stack()
{
    void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED || mprotect(stack, GUARD, PROT_NONE) != 0)
        emulator_fail("no memory for stacks");
    return (char *)stack;
}

static void prepare(fiber &f, int number)
{
    if (!f.stack) {
        f.stack = new_stack();
        emulator_watch_stacks();
    }
    /*
     * The stack as emulated_switch leaves it: six registers, the address to continue at, and no return
     * address.
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

/* The last of the lanes calls `act`. */
template <class F> static meeting &meet(unsigned mask, uint64_t bits, struct source_location at, F act)
{
    int lane = block.now % LANES;
    meeting &m = meeting_of(mask, block.now / LANES);
    if (!m.arrived)
        m.at = at;
    else if (m.at.line != at.line || strcmp(m.at.file, at.file) != 0)
        emulator_fail("lanes of mask %x are in different instructions: %s:%d and %s:%d", mask, m.at.file,
                      m.at.line, at.file, at.line);
    m.in[lane] = bits;
    m.arrived |= 1u << lane;
    if (m.arrived != mask) {
        wait_while(&m.round, at);
    } else {
        act(m);
        m.arrived = 0;
        m.round++;
    }
    return m;
}

uint64_t emulated_exchange(unsigned mask, uint64_t bits, int from, struct source_location at)
{
    int lane = block.now % LANES;
    if (!(mask >> lane & 1) || !(mask >> from & 1))
        emulator_fail("%s:%d: lane %d reads from lane %d, and both should be in mask %x", at.file, at.line,
                      lane, from, mask);
    return meet(mask, bits, at, [](meeting &m) { memcpy(m.out, m.in, sizeof m.in); }).out[from];
}

void emulated_together(const void *own, const std::function<void(const uint64_t *)> &act,
                       struct source_location at)
{
    meet(UINT32_MAX, (uint64_t)own, at, [&](meeting &m) { act(m.in); });
}

/* Runs one thread until it waits or ends. */
static void resume(int number)
{
    fiber &f = block.fibers[number];
    f.round = NULL;
    block.now = number;
    block_now.thread = number;
    threadIdx = f.index;
    emulated_switch(&block.scheduler, f.stack_pointer);
    block_now.thread = -1;
}

/* Resumes each of these threads once, if it can continue. */
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

/* Advances each stretch as far as possible. */
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
    block_now.thread = stuck;
    emulator_fail("deadlock: waits at %s:%d for others that never arrive", at.file, at.line);
}

void block_run(const std::function<void()> &thread, const std::vector<int> &order, int stretch)
{
    block.thread = &thread;
    block.live = (int)order.size();
    block.arrived = 0;
    block_now.began = ++block_now.time;
    for (int i = 0; i < block.live; i++)
        prepare(block.fibers[i], i);
    while (block.live > 0)
        if (!advance_stretches(order, stretch))
            fail_stuck();
}
