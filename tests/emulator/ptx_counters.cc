/*
 * Counts of what warps execute (counters.h). A request of a warp to device memory moves whole sectors of 32
 * bytes. Shared memory has 32 banks of 4 bytes: lanes are served together if words that differ are in banks
 * that differ; 16 lanes at a time of accesses of 8 bytes, 8 lanes of 16 bytes.
 */
#include "tests/emulator/counters.h"
#include "tests/emulator/ptx.h"

#include <algorithm>

using namespace ptx;

enum { SECTOR = 32, BANKS = 32, WORD = 4 };

static struct {
    bool wanted;
    std::map<std::string, kernel_counters> of;
} counters;

kernel_counters *counters_of(const kernel &k, int threads)
{
    if (!counters.wanted)
        return NULL;
    kernel_counters &c = counters.of[std::string(k.name)];
    c.threads = threads;
    c.shared = k.shared_bytes;
    return &c;
}

int emulated_counters(struct kernel_counters *list, int most)
{
    static std::map<std::string, kernel_counters> last;
    int count = 0;
    last.swap(counters.of);
    counters.of.clear();
    counters.wanted = true;
    for (auto &[name, c] : last)
        if (count < most) {
            list[count] = c;
            list[count++].name = name.c_str();
        }
    return count;
}

/* By the name of an instruction, as "fma.rn.f32". */
counted ptx::counted_as(const std::string &name)
{
    std::string what = name.substr(0, name.find('.')), type = name.substr(name.rfind('.') + 1);
    counted c = {0, false, what == "mma"};
    for (const char *one : {"add", "sub", "mul", "div", "rcp", "sqrt", "ex2"})
        if (type[0] == 'f' && what == one)
            c.flops = 1;
    if (type[0] == 'f' && what == "fma")
        c.flops = 2;
    if (c.product)
        c.flops = 2 * 16 * 8 / LANES * (name.find("k16") == name.npos ? 8 : 16);
    c.wide = type[0] != 'f' && type.compare(1, 2, "64") == 0 && what != "mov" && what != "cvt";
    return c;
}

void ptx::count_instruction(const warp &w, const instruction &i)
{
    kernel_counters &c = *w.counters;
    int active = __builtin_popcount(w.active);
    c.instructions++;
    c.lanes += active;
    c.flops += active * i.counts.flops;
    c.wide += i.counts.wide;
    c.products += i.counts.product;
}

/* How many of these there are without repetitions, which they lose. */
static int distinct(uintptr_t *first, int count)
{
    std::sort(first, first + count);
    return (int)(std::unique(first, first + count) - first);
}

void ptx::count_sectors(kernel_counters &c, const request &r)
{
    uintptr_t pieces[LANES], sectors[LANES];
    int count = 0;
    for (int l = 0; l < LANES; l++)
        if (r.active >> l & 1) {
            pieces[count] = r.at[l] / r.bytes;
            sectors[count++] = r.at[l] / SECTOR;
        }
    c.sectors += distinct(sectors, count);
    c.fewest += (distinct(pieces, count) * (int64_t)r.bytes + SECTOR - 1) / SECTOR;
}

void ptx::count_passes(kernel_counters &c, const request &r)
{
    int words = std::max(1, (int)r.bytes / WORD), together = LANES / words;
    for (int first = 0; first < LANES; first += together) {
        uintptr_t all[LANES];
        int count = 0, ways[BANKS] = {};
        for (int n = 0; n < LANES; n++)
            if (n / words < together && r.active >> (first + n / words) & 1)
                all[count++] = r.at[first + n / words] / WORD + (uintptr_t)(n % words);
        count = distinct(all, count);
        for (int n = 0; n < count; n++)
            ways[all[n] % BANKS]++;
        c.passes += *std::max_element(ways, ways + BANKS);
        c.least += count > 0;
    }
}
