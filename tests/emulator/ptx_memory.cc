/* Loads and stores: each lane's access is checked (access.cc). */
#include "tests/emulator/block.h"
#include "tests/emulator/ptx.h"

using namespace ptx;

namespace
{
template <class T> uint64_t load_as(const char *from)
{
    T value;
    memcpy(&value, from, sizeof value);
    return (uint64_t)value;
}

/* Extended to 8 bytes. */
uint64_t load(const char *from, const instruction &i)
{
    switch (i.bytes) {
    case 1:
        return i.is_signed ? load_as<int8_t>(from) : load_as<uint8_t>(from);
    case 2:
        return i.is_signed ? load_as<int16_t>(from) : load_as<uint16_t>(from);
    case 4:
        return i.is_signed ? load_as<int32_t>(from) : load_as<uint32_t>(from);
    default:
        return load_as<uint64_t>(from);
    }
}

void store(char *to, uint64_t value, int bytes)
{
    if (bytes == sizeof(uint32_t))
        memcpy(to, &value, sizeof(uint32_t));
    else
        memcpy(to, &value, (size_t)bytes);
}

void set(warp &w, int number, bool wide, int lane, uint64_t value)
{
    if (wide)
        lanes<uint64_t>(w, number)[lane] = value;
    else
        lanes<uint32_t>(w, number)[lane] = (uint32_t)value;
}

uint64_t get(const warp &w, int number, bool wide, int lane)
{
    return wide ? lanes<uint64_t>(w, number)[lane] : lanes<uint32_t>(w, number)[lane];
}

char *global_address(warp &w, const instruction &i, int lane, size_t bytes, bool writes)
{
    char *at = (char *)lanes<uint64_t>(w, i.from[0])[lane] + i.offset;
    access_expect_aligned(at, bytes, writes);
    access_device(at, bytes, writes);
    return at;
}

char *checked_shared_address(warp &w, const instruction &i, int lane, size_t bytes, bool writes)
{
    char *at = shared_address(w, i, lane, bytes, writes);
    access_expect_aligned(at, bytes, writes);
    access_shared(at, bytes, writes);
    return at;
}

char *parameter_address(warp &w, const instruction &i, int lane, size_t bytes, bool)
{
    int64_t at = (int64_t)lanes<uint64_t>(w, i.from[0])[lane] + i.offset;
    if (at < 0 || at + (int64_t)bytes > w.of->parameter_bytes || at % (int64_t)bytes)
        fail_lane(w, i, lane, "reads %zu bytes at %lld of %d of parameters", bytes, (long long)at,
                  w.of->parameter_bytes);
    return (char *)w.parameters + at;
}

void count_nothing(kernel_counters &, const request &)
{
}

typedef char *find(warp &, const instruction &, int lane, size_t bytes, bool writes);

/* Calls `access` with each active lane and its address. */
template <find address, counter count, class F>
void each_address(warp &w, const instruction &i, int elements, bool writes, F access)
{
    request r = {w.active, {}, (size_t)(i.bytes * elements)};
    block_now.at = i.source;
    for (int l = 0; l < LANES; l++)
        if (w.active >> l & 1) {
            block_now.thread = w.first + l;
            char *at = address(w, i, l, r.bytes, writes);
            r.at[l] = (uintptr_t)at;
            access(l, at);
        }
    block_now.thread = -1;
    if (w.counters)
        count(*w.counters, r);
}

template <find address, counter count> void load_lanes(warp &w, const instruction &i)
{
    each_address<address, count>(w, i, i.writes, false, [&](int lane, const char *at) {
        for (int n = 0; n < i.writes; n++)
            set(w, i.to[n], i.wide, lane, load(at + n * i.bytes, i));
    });
}

template <find address, counter count> void store_lanes(warp &w, const instruction &i)
{
    each_address<address, count>(w, i, i.reads - 1, true, [&](int lane, char *at) {
        for (int n = 0; n < i.reads - 1; n++)
            store(at + n * i.bytes, get(w, i.from[n + 1], i.wide, lane), i.bytes);
    });
}
} // namespace

char *ptx::shared_address(warp &w, const instruction &i, int lane, size_t bytes, bool writes)
{
    int64_t at = (uint32_t)(lanes<uint32_t>(w, i.from[0])[lane] + i.offset); /* of 32 bits */
    if (at < 0 || at + (int64_t)bytes > w.of->shared_bytes)
        fail_lane(w, i, lane, "%s %zu bytes at %lld of %d of shared memory", writes ? "writes" : "reads",
                  bytes, (long long)at, w.of->shared_bytes);
    return w.shared + at;
}

void ptx::run_load_global(warp &w, const instruction &i)
{
    load_lanes<global_address, count_sectors>(w, i);
}

void ptx::run_load_shared(warp &w, const instruction &i)
{
    load_lanes<checked_shared_address, count_passes>(w, i);
}

void ptx::run_load_parameter(warp &w, const instruction &i)
{
    load_lanes<parameter_address, count_nothing>(w, i);
}

void ptx::run_store_global(warp &w, const instruction &i)
{
    store_lanes<global_address, count_sectors>(w, i);
}

void ptx::run_store_shared(warp &w, const instruction &i)
{
    store_lanes<checked_shared_address, count_passes>(w, i);
}
