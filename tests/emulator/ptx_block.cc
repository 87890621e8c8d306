/* A block: its warps by turns. */
#include "tests/emulator/emulator.h"
#include "tests/emulator/ptx.h"

#include <algorithm>

using namespace ptx;

struct block_state block_now = {-1, 0, 0, 0, {}, NULL, {}, {}, {}};

/* The running block: a device runs one at a time. Warps reuse their registers across blocks. */
static struct {
    alignas(128) char shared[48 << 10]; /* from its first bank on */
    std::vector<warp> warps;
    const kernel *of;
} block;

template <class T> static void fill(warp &w, const std::map<int, uint64_t> &constants)
{
    for (const auto &[number, value] : constants)
        for (int l = 0; l < LANES; l++)
            lanes<T>(w, number)[l] = (T)value;
}

/* Room for as many warps, with the constants of this kernel. */
static void prepare(const kernel &k, size_t warps)
{
    if (block.of == &k && block.warps.size() >= warps)
        return;
    if (k.shared_bytes > (int)sizeof block.shared)
        emulator_fail("%d bytes of shared memory", k.shared_bytes);
    access_shared_range(block.shared, block.shared + k.shared_bytes);
    block.of = &k;
    block.warps.resize(std::max(block.warps.size(), warps));
    for (warp &w : block.warps) {
        w.of = &k;
        w.shared = block.shared;
        w.registers.resize(std::max(w.registers.size(), (size_t)k.registers));
        fill<uint32_t>(w, k.constants[0]);
        fill<uint64_t>(w, k.constants[1]);
    }
}

/* Registers that are the same in all instructions. */
static const struct {
    const char *name;
    unsigned (*of)(unsigned thread);
} specials[] = {
    {"%tid.x", [](unsigned thread) { return thread % block_now.size.x; }},
    {"%tid.y", [](unsigned thread) { return thread / block_now.size.x % block_now.size.y; }},
    {"%ntid.x", [](unsigned) { return block_now.size.x; }},
    {"%ntid.y", [](unsigned) { return block_now.size.y; }},
    {"%ctaid.x", [](unsigned) { return block_now.index.x; }},
    {"%ctaid.y", [](unsigned) { return block_now.index.y; }},
    {"%ctaid.z", [](unsigned) { return block_now.index.z; }},
    {"%nctaid.x", [](unsigned) { return block_now.grid.x; }},
    {"%nctaid.y", [](unsigned) { return block_now.grid.y; }},
};

static void set_special(warp &w, const std::string &name, int number)
{
    w.written[(size_t)number] = UINT32_MAX;
    for (const auto &s : specials)
        if (name == s.name) {
            for (int l = 0; l < LANES; l++)
                lanes<uint32_t>(w, number)[l] = s.of((unsigned)(w.first + l));
            return;
        }
    emulator_fail("no register %s", name.c_str());
}

static void begin(warp &w, int first, int threads)
{
    const kernel &k = *w.of;
    int count = std::min(threads - first, (int)LANES);
    w.first = first;
    w.lanes = (uint32_t)(((uint64_t)1 << count) - 1);
    w.active = w.waiting = 0;
    w.at_barrier = false;
    std::fill_n(w.lane_at, (int)LANES, 0);
    w.written.assign((size_t)k.registers, 0);
    for (const auto &of_size : k.constants)
        for (const auto &constant : of_size)
            w.written[(size_t)constant.first] = UINT32_MAX;
    for (const auto &[name, number] : k.specials)
        set_special(w, name, number);
}

/* Whether warps wait at a barrier, which opens. */
static bool open_barrier(size_t warps)
{
    bool any = false;
    for (size_t n = 0; n < warps; n++) {
        any |= block.warps[n].at_barrier;
        block.warps[n].at_barrier = false;
        block.warps[n].waiting = 0;
    }
    block_now.time++;
    return any;
}

void ptx_block_run(const kernel &k, const std::vector<char> &parameters, int threads,
                   const std::vector<int> &order)
{
    if (k.threads && threads > k.threads) {
        block_now.thread = k.threads;
        block_now.at = {};
        emulator_fail("its launch bound is %d threads", k.threads);
    }
    prepare(k, order.size());
    kernel_counters *counters = counters_of(k, threads);
    block_now.began = ++block_now.time;
    for (int n : order) {
        warp &w = block.warps[(size_t)n];
        w.parameters = parameters.data();
        w.counters = counters;
        begin(w, n * LANES, threads);
    }
    do {
        for (int n : order)
            if (block.warps[(size_t)n].lanes)
                warp_run(block.warps[(size_t)n]);
    } while (open_barrier(order.size()));
}
