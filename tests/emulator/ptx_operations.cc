/* The instructions that compute each lane by itself, by name. */
#include "tests/emulator/ptx_lanes.h"

using namespace ptx;

namespace
{
struct comparison {
    const char *how;
    runner *s16, *s32, *u32, *s64, *u64, *f32, *f64;
};

template <class F> constexpr comparison row(const char *how)
{
    return {how,
            run_short_comparison<F>,
            run_comparison<F, int32_t>,
            run_comparison<F, uint32_t>,
            run_comparison<F, int64_t>,
            run_comparison<F, uint64_t>,
            run_comparison<F, float>,
            run_comparison<F, double>};
}

const comparison comparisons[] = {row<eq>("eq"),
                                  row<ne>("ne"),
                                  row<lt>("lt"),
                                  row<le>("le"),
                                  row<gt>("gt"),
                                  row<ge>("ge"),
                                  row<equ>("equ"),
                                  row<neu>("neu"),
                                  row<ltu>("ltu"),
                                  row<leu>("leu"),
                                  row<gtu>("gtu"),
                                  row<geu>("geu"),
                                  row<both_numbers>("num"),
                                  row<either_nan>("nan")};

typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t s32;
typedef int64_t s64;

constexpr operation logic(runner *run)
{
    return {run, {sizeof(u32), sizeof(u32)}};
}

const struct {
    const char *name;
    operation does;
} operations[] = {
    {"mov.u16", unary<same, u32>()},
    {"mov.b32", unary<same, u32>()},
    {"mov.u32", unary<same, u32>()},
    {"mov.f32", unary<same, u32>()},
    {"mov.b64", unary<same, u64>()},
    {"mov.u64", unary<same, u64>()},
    {"mov.f64", unary<same, u64>()},
    {"mov.pred", logic(run_logic<second>)},
    {"cvta.to.global.u64", unary<same, u64>()},
    {"cvta.to.shared.u64", unary<same, u64>()},
    {"cvta.shared.u64", unary<same, u64>()},
    {"add.s32", binary<sum, u32>()},
    {"add.s64", binary<sum, u64>()},
    {"add.f32", binary<sum, float>()},
    {"add.f64", binary<sum, double>()},
    {"add.rn.f64", binary<sum, double>()},
    {"sub.s32", binary<difference, u32>()},
    {"sub.s64", binary<difference, u64>()},
    {"sub.f32", binary<difference, float>()},
    {"sub.f64", binary<difference, double>()},
    {"mul.lo.s32", binary<product, u32>()},
    {"mul.lo.s64", binary<product, u64>()},
    {"mul.hi.s32", binary<high, s32>()},
    {"mul.hi.u32", binary<high, u32>()},
    {"mul.wide.s32", each<wide_product, s64, s32, s32>()},
    {"mul.wide.u16", binary<short_product, u32>()},
    {"mul.wide.u32", each<wide_product, u64, u32, u32>()},
    {"mul.f32", binary<product, float>()},
    {"mul.rn.f32", binary<product, float>()},
    {"mul.f64", binary<product, double>()},
    {"mul.rn.f64", binary<product, double>()},
    {"mad.lo.s32", each<product_and_sum, u32, u32, u32, u32>()},
    {"mad.lo.s64", each<product_and_sum, u64, u64, u64, u64>()},
    {"fma.rn.f32", {run_fused, {4, 4, 4}}},
    {"fma.rm.f32", {run_fused_downward, {4, 4, 4}}},
    {"fma.rn.f64", each<fused, double, double, double, double>()},
    {"div.s32", division<s32, false>()},
    {"div.u32", division<u32, false>()},
    {"div.s64", division<s64, false>()},
    {"div.u64", division<u64, false>()},
    {"rem.s32", division<s32, true>()},
    {"rem.u32", division<u32, true>()},
    {"rem.s64", division<s64, true>()},
    {"rem.u64", division<u64, true>()},
    {"div.rn.f32", binary<quotient, float>()},
    {"div.rn.f64", binary<quotient, double>()},
    {"rcp.rn.f32", unary<reciprocal, float>()},
    {"rcp.rn.f64", unary<reciprocal, double>()},
    {"rcp.approx.ftz.f64", each<approximate_reciprocal, double, u64>()},
    {"sqrt.rn.f32", unary<square_root, float>()},
    {"sqrt.rn.f64", unary<square_root, double>()},
    {"ex2.approx.f32", unary<power_of_two, float>()},
    {"ex2.approx.ftz.f32", unary<flushed_power_of_two, float>()},
    {"min.s32", binary<less, s32>()},
    {"min.u32", binary<less, u32>()},
    {"min.s64", binary<less, s64>()},
    {"min.u64", binary<less, u64>()},
    {"min.f32", binary<less, float>()},
    {"min.f64", binary<less, double>()},
    {"max.s32", binary<greater, s32>()},
    {"max.u32", binary<greater, u32>()},
    {"max.s64", binary<greater, s64>()},
    {"max.u64", binary<greater, u64>()},
    {"max.f32", binary<greater, float>()},
    {"max.f64", binary<greater, double>()},
    {"neg.s32", unary<negative, u32>()},
    {"neg.s64", unary<negative, u64>()},
    {"neg.f32", unary<negative, float>()},
    {"neg.f64", unary<negative, double>()},
    {"abs.f32", unary<absolute, float>()},
    {"abs.f64", unary<absolute, double>()},
    {"copysign.f32", binary<signed_as, float>()},
    {"not.b32", unary<inverse, u32>()},
    {"not.b64", unary<inverse, u64>()},
    {"not.pred", logic(run_logic<not_second>)},
    {"and.b16", binary<both, u32>()},
    {"and.b32", binary<both, u32>()},
    {"and.b64", binary<both, u64>()},
    {"and.pred", logic(run_logic<both>)},
    {"or.b32", binary<either, u32>()},
    {"or.b64", binary<either, u64>()},
    {"or.pred", logic(run_logic<either>)},
    {"xor.b32", binary<one_of, u32>()},
    {"xor.b64", binary<one_of, u64>()},
    {"xor.pred", logic(run_logic<one_of>)},
    {"shl.b32", each<shifted_left, u32, u32, u32>()},
    {"shl.b64", each<shifted_left, u64, u64, u32>()},
    {"shr.u16", each<shifted_right, u32, u32, u32>()},
    {"shr.u32", each<shifted_right, u32, u32, u32>()},
    {"shr.u64", each<shifted_right, u64, u64, u32>()},
    {"shr.s32", each<shifted_right, s32, s32, u32>()},
    {"shr.s64", each<shifted_right, s64, s64, u32>()},
    {"bfi.b32", each<inserted_bits, u32, u32, u32, u32, u32>()},
    {"bfi.b64", each<inserted_bits, u64, u64, u64, u32, u32>()},
    {"prmt.b32", each<permuted_bytes, u32, u32, u32, u32>()},
    {"selp.b32", selection<u32>()},
    {"selp.u32", selection<u32>()},
    {"selp.s32", selection<u32>()},
    {"selp.f32", selection<u32>()},
    {"selp.b64", selection<u64>()},
    {"selp.u64", selection<u64>()},
    {"selp.s64", selection<u64>()},
    {"selp.f64", selection<u64>()},
    {"cvt.s64.s32", each<same, s64, s32>()},
    {"cvt.u64.u32", each<same, u64, u32>()},
    {"cvt.u32.u64", each<same, u32, u64>()},
    {"cvt.u16.u32", unary<lower_half, u32>()},
    {"cvt.u32.u16", unary<lower_half, u32>()},
    {"cvt.f64.f32", each<same, double, float>()},
    {"cvt.sat.f32.f32", unary<saturated, float>()},
    {"cvt.rn.f32.f64", each<same, float, double>()},
    {"cvt.rn.f32.s32", each<same, float, s32>()},
    {"cvt.rn.f32.u32", each<same, float, u32>()},
    {"cvt.rn.f32.s64", each<same, float, s64>()},
    {"cvt.rn.f64.s32", each<same, double, s32>()},
    {"cvt.rn.f64.s64", each<same, double, s64>()},
    {"cvt.rna.tf32.f32", each<to_tf32, u32, float>()},
    {"cvt.rn.bf16x2.f32", each<to_bf16, u32, float, float>()},
    {"cvt.rzi.f64.f64", unary<whole, double>()},
    {"cvt.rzi.u64.f64", each<to_unsigned_64, u64, double>()},
};
} // namespace

operation ptx::operation_named(const std::string &name)
{
    for (const auto &o : operations)
        if (name == o.name)
            return o.does;
    return {};
}

operation ptx::comparison_named(const std::string &how, const std::string &type)
{
    for (const comparison &c : comparisons)
        if (how == c.how) {
            bool is_signed = type[0] == 's', real = type[0] == 'f';
            if (type == "s16" || type == "b16")
                return {c.s16, {4, 4}};
            if (type.compare(1, 2, "64") == 0)
                return {real ? c.f64 : is_signed ? c.s64 : c.u64, {8, 8}};
            return {real ? c.f32 : is_signed ? c.s32 : c.u32, {4, 4}};
        }
    return {};
}

/* "mov packs the elements of a vector into a scalar", the first in its lowest bits, and unpacks them. */
void ptx::run_pack(warp &w, const instruction &i)
{
    auto *a = lanes<uint32_t>(w, i.from[0]), *b = lanes<uint32_t>(w, i.from[1]);
    uint64_t out[LANES];
    for (int l = 0; l < LANES; l++)
        out[l] = (uint64_t)b[l] << 32 | a[l];
    put(w, i.to[0], out);
}

void ptx::run_unpack(warp &w, const instruction &i)
{
    auto *a = lanes<uint64_t>(w, i.from[0]);
    uint32_t low[LANES], upper[LANES];
    for (int l = 0; l < LANES; l++) {
        low[l] = (uint32_t)a[l];
        upper[l] = (uint32_t)(a[l] >> 32);
    }
    put(w, i.to[0], low);
    put(w, i.to[1], upper);
}
