/*
 * Kernels as nvcc compiled them, executed from their PTX: "PTX ISA", NVIDIA's manual, which the comments
 * cite.
 *
 * A kernel's text becomes instructions when it is first loaded (ptx_module.cc, ptx_decode.cc); each holds
 * the function that executes it (ptx_operations.cc, ptx_memory.cc, ptx_matrices.cc, ptx_warp.cc), and the
 * numbers of its registers. A warp has its registers' 32 lanes side by side. What no kernel uses is not
 * implemented, and refused when its kernel is launched: local and constant memory, atomics, recursion.
 */
#ifndef GTMARK_TESTS_EMULATOR_PTX_H
#define GTMARK_TESTS_EMULATOR_PTX_H

#include "tests/emulator/block.h"
#include "tests/emulator/counters.h"

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ptx
{
enum { LANES = 32, OPERANDS = 10 };

/* A register of all lanes, in elements of 4 or 8 bytes; of a predicate, a bit for each lane in the first. */
struct alignas(64) vector {
    unsigned char bytes[LANES * sizeof(uint64_t)];
};

struct warp;
struct instruction;
typedef void runner(warp &, const instruction &);

/* What of an instruction is counted. */
struct counted {
    int flops; /* of a lane */
    bool wide; /* computes with 64-bit integers */
    bool product;
};

struct instruction {
    runner *run;
    struct counted counts;
    int to[OPERANDS], from[OPERANDS]; /* registers */
    int writes, reads;                /* how many */
    int bytes;                        /* of an access to memory, of each element */
    bool wide, is_signed;             /* its registers have 8 bytes; what it loads is extended as signed */
    bool negated;                     /* a branch where the predicate is false */
    int target;                       /* of a branch */
    int64_t offset;                   /* of an address */
    struct source_location source;
};

struct parameter {
    int offset, bytes;
};

struct module;

struct kernel {
    const struct module *module;
    std::string_view name, body;
    std::vector<parameter> parameters;
    int parameter_bytes;
    int threads; /* at most, in a block; 0: no bound */
    /* Known once it is decoded. */
    std::vector<instruction> code;
    std::map<int, uint64_t> constants[2]; /* registers of 4 and 8 bytes with the same value in all lanes */
    std::map<std::string, int> specials;  /* registers as %tid.x */
    int registers, shared_bytes;
};

struct function {
    std::string_view result, body;
    std::vector<std::string_view> parameters;
};

/* Shared memory, as declared. */
struct shared_array {
    int alignment, bytes;
};

/* What nvcc made of one source. */
struct module {
    std::map<std::string_view, function> functions;
    std::map<std::string_view, shared_array> shared;
    std::map<int, std::string> files; /* of the sources, by number */
};

struct warp {
    const kernel *of;
    const char *parameters;
    char *shared;
    kernel_counters *counters;     /* null: nothing is counted */
    int first;                     /* thread of lane 0 */
    std::vector<vector> registers; /* those of `of` */
    std::vector<uint32_t> written; /* the lanes of each register that have a value */
    uint32_t lanes;                /* that have not ended */
    uint32_t active;               /* those that execute instruction `at` */
    uint32_t waiting;              /* those that wait for others */
    bool at_barrier;               /* all of them, for other warps */
    int at, next;                  /* the lowest instruction of other lanes that can run; INT_MAX: none */
    int lane_at[LANES];            /* of lanes that are not active */
};

/* How an instruction of this name is executed, and the bytes of the elements of what it reads. */
struct operation {
    runner *run;
    int bytes[OPERANDS];
};
/* run is null if there is none. */
operation operation_named(const std::string &name);
operation comparison_named(const std::string &how, const std::string &type);
/* The functions of instructions that are not in that table. */
runner run_load_global, run_load_shared, run_load_parameter, run_store_global, run_store_shared;
runner run_branch, run_branch_always, run_exit, run_barrier, run_pack, run_unpack, run_vote_any;
/* Of shfl.sync: "up", "down", "bfly" or "idx"; null: none. */
runner *shuffle_named(const std::string &mode);
/* Of mma, ldmatrix and cp.async; null: none. */
runner *matrices_named(const std::string &name);

/*
 * Whether all lanes of the warp are at this instruction; otherwise they wait, and execute it again. Lanes
 * that have ended are a fault.
 */
bool whole_warp(warp &w, const instruction &i);
/* The lane's first operand, an address in shared memory: these bytes are a fault if they are outside. */
char *shared_address(warp &w, const instruction &i, int lane, size_t bytes, bool writes);

/* A lane of the warp cannot go on: prints one line and aborts. */
[[noreturn]] void fail_lane(const warp &w, const instruction &i, int lane, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Makes instructions of its text, once. */
void decode(kernel &k);

counted counted_as(const std::string &name);
void count_instruction(const warp &w, const instruction &i);

/* An access to memory by the active lanes of a warp: of lane l, `bytes` bytes at at[l]. */
struct request {
    uint32_t active;
    uintptr_t at[LANES];
    size_t bytes;
};
typedef void counter(kernel_counters &c, const request &r);
counter count_sectors, count_passes; /* of device memory, of shared memory */

/* Runs until no lane can: all wait for other warps, or have ended. */
void warp_run(warp &w);

template <class T> struct lanes_of {
    typedef T __attribute__((may_alias)) type;
};

template <class T> inline const typename lanes_of<T>::type *lanes(const warp &w, int number)
{
    return (const typename lanes_of<T>::type *)w.registers[(size_t)number].bytes;
}

template <class T> inline typename lanes_of<T>::type *lanes(warp &w, int number)
{
    return (typename lanes_of<T>::type *)w.registers[(size_t)number].bytes;
}

inline uint32_t &predicate(warp &w, int number)
{
    return *(typename lanes_of<uint32_t>::type *)w.registers[(size_t)number].bytes;
}

/* Replaces the active lanes. */
template <class T> inline void put(warp &w, int number, const T *values)
{
    auto *to = lanes<T>(w, number);
    if (w.active == UINT32_MAX) {
        memcpy(to, values, LANES * sizeof(T));
        return;
    }
    for (int l = 0; l < LANES; l++)
        if (w.active >> l & 1)
            to[l] = values[l];
}
} // namespace ptx

/* The kernel that the host's code launches by this address. */
ptx::kernel &ptx_kernel(const void *function);
/* The names of all kernels, by these addresses. */
std::map<const void *, const char *> ptx_kernels(void);
/* Where to count what it does in blocks of so many threads; null: nowhere. */
kernel_counters *counters_of(const ptx::kernel &k, int threads);
/* Runs block block_now.index: a warp until it waits for the others, then the next one of this order. */
void ptx_block_run(const ptx::kernel &k, const std::vector<char> &parameters, int threads,
                   const std::vector<int> &order);

#endif
