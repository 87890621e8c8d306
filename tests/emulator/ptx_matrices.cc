/* Instructions that a whole warp executes together, and asynchronous copies (matrices.h). */
#include "tests/emulator/block.h"
#include "tests/emulator/matrices.h"
#include "tests/emulator/ptx.h"

using namespace ptx;

namespace
{
template <enum matrix_type type> void run_multiply(warp &w, const instruction &i)
{
    struct warp_product p;
    if (!whole_warp(w, i))
        return;
    for (int l = 0; l < LANES; l++) {
        for (int n = 0; n < 4; n++) {
            p.a[l][n] = lanes<uint32_t>(w, i.from[n])[l];
            p.d[l][n] = lanes<float>(w, i.from[6 + n])[l];
        }
        for (int n = 0; n < 2; n++)
            p.b[l][n] = lanes<uint32_t>(w, i.from[4 + n])[l];
    }
    multiply_fragments(&p, type);
    for (int n = 0; n < 4; n++)
        for (int l = 0; l < LANES; l++)
            lanes<float>(w, i.to[n])[l] = p.d[l][n];
}

template <bool transposed> void run_load_matrices(warp &w, const instruction &i)
{
    const char *rows[LANES];
    uint32_t all[LANES][4];
    request r = {(uint32_t)((uint64_t)1 << 8 * i.writes) - 1, {}, 16};
    if (!whole_warp(w, i))
        return;
    block_now.at = i.source;
    for (int l = 0; l < 8 * i.writes; l++) {
        block_now.thread = w.first + l;
        rows[l] = shared_address(w, i, l, 16, false);
        r.at[l] = (uintptr_t)rows[l];
        access_expect_aligned(rows[l], 16, false);
        access_shared(rows[l], 16, false);
    }
    block_now.thread = -1;
    if (w.counters)
        count_passes(*w.counters, r);
    load_fragments(all, rows, i.writes, transposed);
    for (int n = 0; n < i.writes; n++)
        for (int l = 0; l < LANES; l++)
            lanes<uint32_t>(w, i.to[n])[l] = all[l][n];
}

/* Calls `act` as each active lane. */
template <class F> void each_active(warp &w, const instruction &i, F act)
{
    block_now.at = i.source;
    for (int l = 0; l < LANES; l++)
        if (w.active >> l & 1) {
            block_now.thread = w.first + l;
            act(l);
        }
    block_now.thread = -1;
}

void run_copy(warp &w, const instruction &i)
{
    request to = {w.active, {}, 0}, from = {0, {}, 0};
    each_active(w, i, [&](int l) {
        size_t bytes = lanes<uint32_t>(w, i.from[2])[l];
        size_t given = i.reads == 4 ? lanes<uint32_t>(w, i.from[3])[l] : bytes;
        char *at = shared_address(w, i, l, bytes, true);
        const char *source = (const char *)lanes<uint64_t>(w, i.from[1])[l];
        copy_begin(at, source, bytes, given);
        to.bytes = from.bytes = bytes;
        to.at[l] = (uintptr_t)at;
        from.at[l] = (uintptr_t)source;
        from.active |= (uint32_t)(given > 0) << l;
    });
    if (w.counters) {
        count_passes(*w.counters, to);
        count_sectors(*w.counters, from);
    }
}

void run_commit(warp &w, const instruction &i)
{
    each_active(w, i, [](int) { copy_commit_group(); });
}

void run_wait(warp &w, const instruction &i)
{
    each_active(w, i, [&](int l) { copy_wait_group((int)lanes<uint32_t>(w, i.from[0])[l]); });
}

const struct {
    const char *name;
    runner *run;
} instructions[] = {
    {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", run_multiply<MATRIX_TF32>},
    {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", run_multiply<MATRIX_BF16>},
    {"ldmatrix.sync.aligned.m8n8.x1.shared.b16", run_load_matrices<false>},
    {"ldmatrix.sync.aligned.m8n8.x2.shared.b16", run_load_matrices<false>},
    {"ldmatrix.sync.aligned.m8n8.x4.shared.b16", run_load_matrices<false>},
    {"ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16", run_load_matrices<true>},
    {"ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16", run_load_matrices<true>},
    {"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16", run_load_matrices<true>},
    {"cp.async.ca.shared.global", run_copy},
    {"cp.async.cg.shared.global", run_copy},
    {"cp.async.commit_group", run_commit},
    {"cp.async.wait_group", run_wait},
};
} // namespace

runner *ptx::matrices_named(const std::string &name)
{
    for (const auto &i : instructions)
        if (name == i.name)
            return i.run;
    return NULL;
}
