/*
 * A warp: of lanes that have diverged, those at the lowest instruction run, until they meet others there.
 * Lanes wait at barriers and shuffles for the others that take part; it is a fault if these never arrive.
 */
#include "tests/emulator/block.h"
#include "tests/emulator/emulator.h"
#include "tests/emulator/ptx.h"

#include <algorithm>
#include <climits>
#include <cstdarg>
#include <cstdio>

using namespace ptx;

void ptx::fail_lane(const warp &w, const instruction &i, int lane, const char *format, ...)
{
    char what[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    block_now.thread = w.first + lane;
    block_now.at = i.source;
    emulator_fail("%s", what);
}

static int lowest(uint32_t mask)
{
    return __builtin_ctz(mask);
}

static void set_lanes_at(warp &w, uint32_t mask, int at)
{
    for (int l = 0; l < LANES; l++)
        if (mask >> l & 1)
            w.lane_at[l] = at;
}

/* The lanes of `mask` that are at this instruction. */
static uint32_t lanes_at(const warp &w, uint32_t mask, int at)
{
    uint32_t found = 0;
    for (int l = 0; l < LANES; l++)
        found |= (uint32_t)(w.lane_at[l] == at) << l;
    return found & mask;
}

static int lowest_at(const warp &w, uint32_t mask)
{
    int at = INT_MAX;
    for (int l = 0; l < LANES; l++)
        if (mask >> l & 1)
            at = std::min(at, w.lane_at[l]);
    return at;
}

/* Makes the lanes at the lowest instruction active. */
static void choose(warp &w)
{
    set_lanes_at(w, w.active, w.at);
    uint32_t ready = w.lanes & ~w.waiting;
    w.at = lowest_at(w, ready);
    w.active = lanes_at(w, ready, w.at);
    w.next = lowest_at(w, ready & ~w.active);
}

/* The active lanes wait at this instruction, which they execute again when others have arrived. */
static void wait_at(warp &w, int at)
{
    set_lanes_at(w, w.active, at);
    w.waiting |= w.active;
    w.active = 0;
}

/* The lanes that are at the running instruction, also those that wait there, become active. */
static void gather(warp &w)
{
    w.active |= lanes_at(w, w.waiting, w.at - 1);
    w.waiting &= ~w.active;
}

bool ptx::whole_warp(warp &w, const instruction &i)
{
    gather(w);
    if (w.lanes != UINT32_MAX)
        fail_lane(w, i, lowest(~w.lanes), "has ended, and the warp executes an instruction of all its lanes");
    if (w.active == w.lanes)
        return true;
    wait_at(w, w.at - 1);
    return false;
}

/* bar.sync is aligned: all lanes of the warp execute the same one. */
void ptx::run_barrier(warp &w, const instruction &)
{
    gather(w);
    w.at_barrier = w.active == w.lanes;
    wait_at(w, w.at_barrier ? w.at : w.at - 1);
}

/* Lanes that have ended are not expected at barriers: those that wait look again. */
void ptx::run_exit(warp &w, const instruction &)
{
    w.lanes &= ~w.active;
    w.active = 0;
    w.waiting = 0;
}

void ptx::run_branch_always(warp &w, const instruction &i)
{
    w.at = i.target;
}

void ptx::run_branch(warp &w, const instruction &i)
{
    uint32_t p = predicate(w, i.from[0]), taken = w.active & (i.negated ? ~p : p);
    if (taken == w.active) {
        w.at = i.target;
    } else if (taken) {
        set_lanes_at(w, taken, i.target);
        set_lanes_at(w, w.active & ~taken, w.at);
        w.active = 0;
    }
}

/* "Parallel Synchronization and Communication Instructions: shfl.sync". */
enum shuffle_mode { UP, DOWN, BUTTERFLY, INDEX };

/* The lane that this one reads, or itself if that is outside its segment. */
static int source_lane(enum shuffle_mode mode, int lane, int b, int c, bool *within)
{
    int segment = c >> 8 & 31, clamp = c & 31, first = lane & segment;
    int last = first | (clamp & ~segment), from = 0;
    b &= 31;
    switch (mode) {
    case UP:
        from = lane - b;
        break;
    case DOWN:
        from = lane + b;
        break;
    case BUTTERFLY:
        from = lane ^ b;
        break;
    case INDEX:
        from = first | (b & ~segment);
        break;
    }
    *within = mode == UP ? from >= last : from <= last;
    return *within ? from : lane;
}

/* Whether all lanes that the active ones name are here. */
static bool complete(const warp &w, const instruction &i)
{
    auto *masks = lanes<uint32_t>(w, i.from[i.reads - 1]);
    for (int l = 0; l < LANES; l++) {
        if (!(w.active >> l & 1))
            continue;
        if (!(masks[l] >> l & 1))
            fail_lane(w, i, l, "lane %d takes part, and should be in mask %x", l, masks[l]);
        if (masks[l] & ~w.active)
            return false;
    }
    return true;
}

template <enum shuffle_mode mode> static void run_shuffle(warp &w, const instruction &i)
{
    gather(w);
    if (!complete(w, i)) {
        wait_at(w, w.at - 1);
        return;
    }
    auto *a = lanes<uint32_t>(w, i.from[0]), *b = lanes<uint32_t>(w, i.from[1]);
    auto *c = lanes<uint32_t>(w, i.from[2]), *masks = lanes<uint32_t>(w, i.from[3]);
    uint32_t out[LANES], inside = 0;
    for (int l = 0; l < LANES; l++) {
        bool within;
        int from = source_lane(mode, l, (int)b[l], (int)c[l], &within);
        if (w.active >> l & 1 && !(masks[l] >> from & 1))
            fail_lane(w, i, l, "lane %d reads from lane %d, and both should be in mask %x", l, from,
                      masks[l]);
        out[l] = a[from];
        inside |= (uint32_t)within << l;
    }
    put(w, i.to[0], out);
    if (i.writes == 2)
        predicate(w, i.to[1]) = (predicate(w, i.to[1]) & ~w.active) | (inside & w.active);
}

void ptx::run_vote_any(warp &w, const instruction &i)
{
    gather(w);
    if (!complete(w, i)) {
        wait_at(w, w.at - 1);
        return;
    }
    auto *masks = lanes<uint32_t>(w, i.from[1]);
    uint32_t given = predicate(w, i.from[0]), out = 0;
    for (int l = 0; l < LANES; l++)
        out |= (uint32_t)((given & masks[l]) != 0) << l;
    predicate(w, i.to[0]) = (predicate(w, i.to[0]) & ~w.active) | (out & w.active);
}

runner *ptx::shuffle_named(const std::string &mode)
{
    return mode == "up"     ? run_shuffle<UP>
           : mode == "down" ? run_shuffle<DOWN>
           : mode == "bfly" ? run_shuffle<BUTTERFLY>
           : mode == "idx"  ? run_shuffle<INDEX>
                            : NULL;
}

static void execute(warp &w, const instruction &i)
{
    for (int n = 0; n < i.reads; n++) {
        uint32_t fresh = w.active & ~w.written[(size_t)i.from[n]];
        if (fresh)
            fail_lane(w, i, lowest(fresh), "reads a register that it has not written");
    }
    if (w.counters)
        count_instruction(w, i);
    w.at++;
    i.run(w, i);
    for (int n = 0; n < i.writes; n++)
        w.written[(size_t)i.to[n]] |= w.active;
}

void ptx::warp_run(warp &w)
{
    choose(w);
    while (w.active) {
        execute(w, w.of->code[(size_t)w.at]);
        if (!w.active || w.at >= w.next)
            choose(w);
    }
    if (w.lanes && !w.at_barrier) {
        int lane = lowest(w.waiting);
        fail_lane(w, w.of->code[(size_t)w.lane_at[lane]], lane,
                  "waits at this instruction for lanes that never arrive");
    }
}
