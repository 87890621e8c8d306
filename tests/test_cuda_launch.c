/*
 * The partition of CUDA kernels' work into blocks, teams and shares, from the kernels' own source on the
 * host: every entry, row, edge and head is processed exactly once, and no size overflows a grid or 64 bits.
 */
#include "kernels/cuda/edge_plan.h"
#include "kernels/cuda/heads.h"
#include "kernels/cuda/moments.h"
#include "kernels/cuda/product_plan.h"
#include "kernels/rng.h"
#include "tests/test.h"

#include <math.h>

/* A view that is never read: only its shape and address matter. */
static struct mat view(int64_t rows, int64_t cols, int64_t ld, uintptr_t address)
{
    return (struct mat){.data = (void *)address, .rows = rows, .cols = cols, .ld = ld, .dtype = F32};
}

static bool power_of_two(int64_t n)
{
    return n > 0 && (n & (n - 1)) == 0;
}

static void assert_launchable(struct launch l)
{
    assert_between(l.grid_x, 1, LAUNCH_MAX_X);
    assert_between(l.grid_y, 1, LAUNCH_MAX_Y);
    assert_int_equal(l.grid_z, 1);
    assert_int_equal(l.block, BLOCK);
    assert_int_equal(l.shared, 0);
}

static struct mat in_bf16(struct mat m)
{
    m.dtype = BF16;
    return m;
}

TEST(test_width)
{
    const struct {
        struct mat m;
        int width;
    } cases[] = {
        {view(3, 8, 8, 4096), WIDE},
        {view(3, 8, 12, 4112), WIDE},
        {view(3, 8, 9, 4096), 1},
        {view(1, 8, 9, 4096), WIDE},
        {view(3, 6, 8, 4096), 1},
        {view(3, 8, 8, 4100), 1},
        {view(3, 8, 16, 4104), 1},
        {(struct mat){0}, WIDE},
        {view(1, 1, 1, 4096), 1},
        {view(2, 4, 4, 4096), WIDE},
        {in_bf16(view(3, 8, 8, 4104)), WIDE},
        {in_bf16(view(3, 8, 8, 4100)), 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(width_of(&cases[i].m, 1), cases[i].width);
        const struct mat both[] = {view(3, 8, 8, 4096), cases[i].m};
        assert_int_equal(width_of(both, 2), cases[i].width);
    }
}

TEST(test_lanes)
{
    for (int64_t count = 1; count < 600; count++)
        for (int most = 1; most <= BLOCK; most *= 2) {
            int lanes = lanes_for(count, most);
            assert_true(power_of_two(lanes) && lanes <= most);
            assert_true(lanes >= count || lanes == most);
            assert_true(lanes == 1 || lanes / 2 < count);
        }
    assert_int_equal(lanes_for(INT64_MAX, WARP), WARP);
}

/*
 * Counts how often each entry of a rows x cols matrix with leading dimension ld is reached; padding must not
 * be.
 */
static void expect_lines_cover(int64_t rows, int64_t cols, int64_t ld, uintptr_t address)
{
    struct mat m = view(rows, cols, ld, address);
    struct lines l = lines_of(&m, 1);
    assert_int_equal(l.total, rows * cols);
    assert_int_equal(l.packed, rows == 1 || ld == cols);
    assert_launchable(lines_launch(l));
    int *reached = calloc((size_t)(rows * ld), sizeof *reached);
    for (int64_t i = 0; i < l.rows; i++) {
        int64_t end = min_of(l.cols, l.total - i * l.cols);
        for (int lane = 0; lane < l.lanes; lane++)
            for (int64_t k = (int64_t)lane * l.width; k < end; k += (int64_t)l.lanes * l.width)
                for (int v = 0; v < l.width && k + v < end; v++)
                    reached[i * lines_view(l, m).ld + k + v]++;
        assert_true(l.width == 1 || (i * lines_view(l, m).ld % WIDE == 0 && (l.packed || end % WIDE == 0)));
    }
    if (l.packed) /* also where a few entries remain */
        assert_int_equal(l.width, address % (WIDE * sizeof(float)) ? 1 : WIDE);
    for (int64_t at = 0; at < rows * ld; at++)
        assert_int_equal(reached[at], at % ld < cols);
    free(reached);
}

TEST(test_lines)
{
    static const int64_t rows[] = {1, 2, 3, 31, 257}, cols[] = {1, 3, 4, 16, 64, 300, 1024, 1028};
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 8; k++)
            for (int64_t pad = 0; pad < 6; pad++)
                for (uintptr_t shift = 0; shift < 2; shift++)
                    expect_lines_cover(rows[i], cols[k], cols[k] + pad, 4096 + 4 * shift);
}

TEST(test_row_teams)
{
    for (int64_t cols = 1; cols < 3000; cols++)
        for (int width = 1; width <= WIDE; width += WIDE - 1) {
            if (cols % width)
                continue;
            struct row_teams t = row_teams_of(1000, cols, width);
            int64_t held = (int64_t)t.lanes * t.items * width;
            assert_true(power_of_two(t.lanes) && t.lanes <= WARP);
            assert_true(t.items == 0 ? width < WIDE || cols > (int64_t)WARP * width * ITEMS_MOST
                                     : width == WIDE && held >= cols && held < 2 * cols + WIDE);
            assert_launchable(row_teams_launch(t, LAUNCH_MAX_X));
        }
    struct row_teams narrow = row_teams_of(1000, 64, WIDE);
    assert_int_equal(narrow.lanes, 16);
    assert_int_equal(narrow.items, 1);
    assert_int_equal(row_teams_launch(narrow, LAUNCH_MAX_X).grid_x, 63);
    assert_int_equal(row_teams_launch(narrow, 10).grid_x, 10);
}

TEST(test_columns)
{
    static const int64_t rows[] = {1, 63, 64, 65, 1000, 16384, 16385, 1000003, INT64_C(1) << 40};
    static const int64_t cols[] = {1, 3, 4, 64, 129, 1280, INT64_C(1) << 33};
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 7; k++)
            for (int width = 1; width <= WIDE; width += WIDE - 1) {
                struct columns c = columns_of(rows[i], cols[k], width);
                assert_between(c.chunks, 1, CHUNKS);
                assert_true((c.chunks - 1) * c.chunk < rows[i] && rows[i] <= c.chunks * c.chunk);
                assert_true((c.strips - 1) * c.lanes * width < cols[k] &&
                            cols[k] <= c.strips * c.lanes * width);
                assert_int_equal(c.chunk, columns_of(rows[i], cols[k], 1).chunk);
                assert_launchable(columns_launch(c));
            }
}

/* Shapes that exceed 2^31 in every way. */
TEST(test_huge)
{
    static const int64_t big = INT64_C(1) << 33;
    const struct mat tall = view(big, 3, 3, 4096), wide = view(3, big, big + 4, 4096);
    struct lines l = lines_of(&tall, 1);
    assert_int_equal(l.total, 3 * big);
    assert_int_equal(l.rows, 3 * big / LINE);
    assert_launchable(lines_launch(l));
    l = lines_of(&wide, 1);
    assert_false(l.packed);
    assert_int_equal(l.lanes, BLOCK);
    assert_launchable(lines_launch(l));
    assert_int_equal(lines_launch(lines_by_row(big, 1, 1)).grid_x, big / BLOCK);
    assert_int_equal(lines_launch(lines_by_row(big * 1024, 1, 1)).grid_x, LAUNCH_MAX_X);
    assert_launchable(row_teams_launch(row_teams_of(big * 16, big, 1), LAUNCH_MAX_X));
    assert_launchable(launch_blocks(big, big));
    assert_launchable(launch_blocks(0, 0));
    assert_int_equal(scratch_bytes(big, sizeof(double)), 8 * big);
    assert_int_equal(scratch_bytes(1, sizeof(float)), SCRATCH_ALIGNMENT);
}

/* Row pointers of a graph, with stride `ld`: degrees are small, except for `hubs` rows with many edges. */
static int64_t *row_pointers(int64_t rows, int64_t ld, int hubs, int64_t hub, uint64_t seed)
{
    int64_t *at = malloc((size_t)((rows + 1) * ld) * sizeof *at), edges = 0;
    for (int64_t r = 0; r <= rows; r++) {
        for (int64_t pad = 0; pad < ld; pad++)
            at[r * ld + pad] = pad ? -1 : edges;
        uint64_t bits = rng_bits(seed, (uint64_t)r);
        bool large = (int64_t)(bits >> 8) % rows < hubs;
        edges += large ? hub - (int64_t)(bits >> 40) % 7 : (int64_t)(bits % 4);
    }
    return at;
}

/* Processed parts of a row. */
struct done {
    int64_t edges, next; /* number; start of the next part */
    int64_t share;       /* of the latest part */
    int parts, whole;
};

static void do_piece(struct done *d, struct split s, int64_t share, int64_t r, int64_t begin, int64_t end,
                     int64_t *unfinished)
{
    struct piece p = piece_of(s, share, r, begin, end);
    if (p.kind == PIECE_NONE)
        return;
    assert_true(begin <= p.first && p.first <= p.end && p.end <= end);
    assert_int_equal(p.first, d->parts || d->whole ? d->next : begin);
    assert_int_equal(p.kind == PIECE_FIRST, d->parts > 0);
    if (d->parts)
        assert_int_equal(share, d->share + 1);
    d->edges += p.end - p.first;
    d->next = p.end;
    d->share = share;
    d->whole += p.kind == PIECE_WHOLE;
    d->parts += p.kind != PIECE_WHOLE;
    if (p.kind == PIECE_LAST) {
        assert_int_equal(*unfinished, -1);
        *unfinished = r;
    }
}

/*
 * Visits all shares as the kernels do; every row must be processed once, whole or in parts of consecutive
 * shares, and no share may have more than twice its size of work.
 */
static void expect_split(const int64_t *at, int64_t ld, int64_t rows, struct split s)
{
    struct done *done = calloc((size_t)rows, sizeof *done);
    int64_t most = 0;
    bool cut = false;
    assert_int_equal(s.items, rows + at[rows * ld]);
    assert_true((s.count - 1) * s.size < s.items && s.items <= s.count * s.size);
    for (int64_t share = 0; share < s.count; share++) {
        int64_t unfinished = -1, before = 0, work = 0;
        int64_t last = row_of_item(at, ld, rows, share_end(s, share) - 1);
        for (int64_t r = row_of_item(at, ld, rows, share_first(s, share)); r <= last; r++) {
            before = done[r].edges;
            do_piece(&done[r], s, share, r, at[r * ld], at[(r + 1) * ld], &unfinished);
            work += done[r].edges - before + 1;
        }
        assert_true(work <= 2 * s.size + 1);
    }
    for (int64_t r = 0; r < rows; r++) {
        int64_t begin = at[r * ld], end = at[(r + 1) * ld], first = (begin + r) / s.size;
        assert_int_equal(done[r].edges, end - begin);
        assert_int_equal(done[r].whole, end - begin <= s.size);
        assert_int_equal(done[r].parts, done[r].whole ? 0 : share_of_end(s, r, end) - first + 1);
        most = max_of(most, end - begin);
        cut = cut || done[r].parts > 0;
    }
    assert_int_equal(most > 0 && has_cut_rows(s, most), cut);
    assert_true(has_cut_rows(s, 0));
    free(done);
}

TEST(test_split)
{
    static const int64_t rows[] = {1, 2, 5, 16, 17, 100, 1000}, hubs[] = {15, 16, 17, 40, 1000, 5000};
    for (int i = 0; i < 7; i++)
        for (int h = 0; h < 6; h++)
            for (int count = 0; count < 4; count++)
                for (int64_t wanted = 1; wanted <= 1 << 14; wanted *= 8) {
                    int64_t ld = 1 + count % 2;
                    int64_t *at = row_pointers(rows[i], ld, count, hubs[h], (uint64_t)(100 * h + i));
                    expect_split(at, ld, rows[i], split_of(rows[i], at[rows[i] * ld], wanted));
                    free(at);
                }
}

TEST(test_split_without_edges)
{
    int64_t at[2001] = {0};
    static const int64_t rows[] = {1, 15, 16, 17, 2000};
    for (int i = 0; i < 5; i++) {
        struct split s = split_of(rows[i], 0, 1 << 14);
        assert_int_equal(s.size, SHARE_MIN);
        expect_split(at, 1, rows[i], s);
    }
}

/* Row pointers above 2^31. */
TEST(test_split_of_huge_rows)
{
    static const int64_t big = INT64_C(1) << 40;
    const int64_t at[] = {0, 3, big, big, big + 5, 3 * big, 3 * big + 1};
    for (int64_t wanted = 1; wanted <= 1 << 18; wanted *= 4)
        expect_split(at, 1, 6, split_of(6, at[6], wanted));
}

TEST(test_edge_plan)
{
    static const int64_t sizes[] = {1, 20, 500, 100000, INT64_C(1) << 31, INT64_C(1) << 40};
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 6; k++)
            for (int lanes = 2; lanes <= WARP; lanes *= 2)
                for (int64_t tiles = 1; tiles < 1 << 20; tiles *= 16) {
                    struct mat row = view(sizes[i] + 1, 1, 1, 4096), col = view(sizes[k], 1, 1, 4096);
                    struct edge_plan p = edge_plan_of(row, k ? col : (struct mat){0}, lanes, tiles);
                    assert_int_equal(p.split.items, sizes[i] + (k ? sizes[k] : 0));
                    assert_true(p.split.count <= max_of(1, EDGE_WARPS * WARP / lanes / tiles) + 1);
                    assert_launchable(edge_launch(p));
                    int64_t bytes = cut_rows_bytes(p, 32);
                    assert_true(bytes >= p.split.count * (8 + tiles * lanes * 256) &&
                                bytes % SCRATCH_ALIGNMENT == 0);
                    assert_true(bytes < (INT64_C(1) << 31) || tiles > EDGE_WARPS);
                }
}

/* Every entry of every head belongs to one lane of one tile. */
static void expect_heads(int64_t count, int64_t size, int width)
{
    struct heads h = heads_of(count * size, count, width);
    int lanes = heads_lanes(h);
    assert_true(power_of_two(lanes) && lanes >= 2 && lanes <= WARP);
    assert_true(power_of_two(h.items) && h.items <= HEAD_ITEMS && h.items * width <= HEAD_ENTRIES);
    int *reached = calloc((size_t)(count * size), sizeof *reached);
    int *first = calloc((size_t)count, sizeof *first);
    for (int64_t tile = 0; tile < heads_tiles(h); tile++)
        for (int lane = 0; lane < lanes; lane++) {
            struct head_place p = head_place_of(h, tile, lane);
            assert_true(p.head >= 0 && p.active == (p.head < count));
            for (int n = 0; n < h.items && p.active; n++)
                for (int v = 0; v < width && head_entry(h, p, n) < size; v++)
                    reached[p.head * size + head_entry(h, p, n) + v]++;
            if (p.active && p.first == 0)
                first[p.head]++;
        }
    for (int64_t at = 0; at < count * size; at++)
        assert_int_equal(reached[at], 1);
    for (int64_t head = 0; head < count; head++)
        assert_int_equal(first[head], 1);
    assert_true(h.parts == 1 || h.group == WARP);
    free(reached);
    free(first);
}

TEST(test_heads)
{
    static const int64_t counts[] = {1, 2, 3, 4, 5, 8, 12, 31, 32, 33, 100};
    static const int64_t sizes[] = {1,  2,   3,   4,   5,   8,   16,  18,   32,
                                    64, 100, 128, 129, 256, 512, 516, 1000, 2049};
    for (int i = 0; i < 11; i++)
        for (int k = 0; k < 18; k++) {
            expect_heads(counts[i], sizes[k], 1);
            if (sizes[k] % WIDE == 0)
                expect_heads(counts[i], sizes[k], WIDE);
            if (sizes[k] % 8 == 0)
                expect_heads(counts[i], sizes[k], 8);
        }
    struct heads usual = heads_of(64, 4, WIDE);
    assert_int_equal(heads_lanes(usual), 16);
    assert_int_equal(heads_tiles(usual), 1);
    struct mat m = view(7, 72, 72, 4096);
    assert_int_equal(head_width(18, &m, 1), 1);
    assert_int_equal(head_width(24, &m, 1), WIDE);
    m.dtype = BF16;
    assert_int_equal(head_width(12, &m, 1), 1);
    assert_int_equal(head_width(24, &m, 1), 8);
}

/* Moments merged from parts of numbers near 1e6, compared with two passes over all. */
TEST(test_moments)
{
    enum { COUNT = 3000 };
    static double x[COUNT];
    double mean = 0, m2 = 0;
    for (int i = 0; i < COUNT; i++)
        mean += x[i] = 1e6 + rng_int24(3, (uint64_t)i) * 0x1p-23;
    mean /= COUNT;
    for (int i = 0; i < COUNT; i++)
        m2 += (x[i] - mean) * (x[i] - mean);
    for (int size = 1; size < 2 * COUNT; size = 3 * size + 1) {
        struct moments all = {0, 0, 0};
        for (int begin = 0; begin < COUNT; begin += size) {
            struct moments part = {0, 0, 0};
            for (int i = begin; i < COUNT && i < begin + size; i++)
                part = moments_union(part, (struct moments){1, x[i], 0});
            all = moments_union(moments_union(all, (struct moments){0, 7, 7}), part);
        }
        assert_true(all.count == COUNT);
        assert_true(fabs(all.mean - mean) < 1e-8);
        assert_true(fabs(all.m2 - m2) < 1e-6 * m2);
    }
    struct moments none = moments_union((struct moments){0, 0, 0}, (struct moments){0, 0, 0});
    assert_true(none.count == 0 && none.mean == 0 && none.m2 == 0);
}

TEST(test_choices)
{
    assert_int_equal(choice_fastest((double[]){1}, 1), 0);
    assert_int_equal(choice_fastest((double[]){1, 0.96, 0.99}, 3), 0);
    assert_int_equal(choice_fastest((double[]){1, 0.96, 0.7, 0.6, 0.8}, 5), 3);
    assert_int_equal(choice_fastest((double[]){1, 2, 0.95}, 3), 2);
    assert_int_equal(choice_fastest((double[]){0, 0}, 2), 0);
}

/* Weight gradients on an H100, those of the default model in the middle. */
TEST(test_parts)
{
    enum { ROOM = 32 << 20, H100 = 132 };
    assert_int_equal(product_parts(256, 256, 2000, ROOM, H100), 7);
    assert_int_equal(product_parts(256, 256, 50000, ROOM, H100), 66);
    assert_int_equal(product_parts(768, 256, 50000, ROOM, H100), 22);
    assert_int_equal(product_parts(768, 256, 50000, 4 << 20, H100), 5);
    assert_int_equal(product_parts(256, 256, 511, ROOM, H100), 0);
    assert_int_equal(product_parts(256, 256, 512, ROOM, H100), 2);
    assert_int_equal(product_parts(257, 129, 50000, ROOM, H100), 44);
    assert_int_equal(product_parts(4096, 4096, 50000, ROOM, H100), 0);
    assert_int_equal(product_parts(16, 16, 50000, 0, H100), 0);
    assert_int_equal(product_parts(1, 1, 512 * 1024, ROOM, 2), 4);
}
