/*
 * Sources of the events: Intel, "Software Developer's Manual", volume 3B, event C7H, whose units 01 to 80
 * (hex) are scalar double and single, then packed double and single of 128, 256 and 512 bits, a fused
 * multiply-add counted twice; AMD, "Processor Programming Reference", PMCx003, whose units 01 to 08 are
 * additions, multiplications, divisions with square roots, and multiply-adds, in FLOPs. Whether a
 * processor counts these events correctly is decided by loops with a known number of FLOPs.
 */
#include "bench/flops/counters.h"

#include "kernels/cpu/instructions.h"

#if ISA_X86
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

struct event {
    uint64_t code; /* unit mask and event */
    int flops;
};

static const struct event intel[] = {{0x03c7, 1}, {0x04c7, 2},  {0x18c7, 4},
                                     {0x60c7, 8}, {0x80c7, 16}, {0, 0}};
static const struct event amd[] = {{0x0f03, 1}, {0, 0}};

static int open_event(const struct event *e)
{
    struct perf_event_attr a = {.type = PERF_TYPE_RAW,
                                .size = sizeof a,
                                .config = e->code,
                                .disabled = 1,
                                .inherit = 1,
                                .exclude_kernel = 1,
                                .exclude_hv = 1,
                                .read_format =
                                    PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING};
    return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

bool counters_open(struct counters *c, struct message *error)
{
    *c = (struct counters){0};
    uint32_t maker = instructions_read(0, 1); /* "Genu" or "Auth" */
    const struct event *e = maker == 0x756e6547 ? intel : maker == 0x68747541 ? amd : NULL;
    if (!e)
        return complain(error, "no hardware counters of FLOPs are known for this processor");
    for (; e->code; e++) {
        c->file[c->count] = open_event(e);
        if (c->file[c->count] < 0) {
            const char *why = errno == ENOENT   ? "this machine has none (virtual machines seldom do)"
                              : errno == EACCES ? "forbidden by /proc/sys/kernel/perf_event_paranoid"
                                                : strerror(errno);
            counters_close(c);
            return complain(error, "no hardware counters: %s", why);
        }
        c->flops[c->count++] = e->flops;
    }
    return true;
}

void counters_close(struct counters *c)
{
    while (c->count > 0)
        close(c->file[--c->count]);
}

static bool read_all(const struct counters *c, int64_t *flops, struct message *error)
{
    *flops = 0;
    for (int i = 0; i < c->count; i++) {
        struct {
            uint64_t value, enabled, running;
        } r;
        if (read(c->file[i], &r, sizeof r) != sizeof r)
            return complain(error, "hardware counters: cannot be read");
        if (r.running < r.enabled)
            return complain(error, "hardware counters: another program is using them");
        *flops += (int64_t)r.value * c->flops[i];
    }
    return true;
}

static bool count(const struct counters *c, void (*run)(void *context), void *context, int64_t *flops,
                  struct message *error)
{
    int64_t before, after = 0;
    if (!read_all(c, &before, error))
        return false;
    for (int i = 0; i < c->count; i++)
        ioctl(c->file[i], PERF_EVENT_IOC_ENABLE, 0);
    run(context);
    for (int i = 0; i < c->count; i++)
        ioctl(c->file[i], PERF_EVENT_IOC_DISABLE, 0);
    bool good = read_all(c, &after, error);
    *flops = after - before;
    return good;
}

enum { ROUNDS = 1000000 };

/* A loop of ROUNDS iterations over instructions that leave their operands 0. */
#define KNOWN_LOOP(instructions)                                                                             \
    int rounds = ROUNDS;                                                                                     \
    __asm__ volatile("xorps %%xmm0, %%xmm0\n xorps %%xmm1, %%xmm1\n xorps %%xmm2, %%xmm2\n1:\n" instructions \
                     "dec %0\n jnz 1b"                                                                       \
                     : "+r"(rounds)                                                                          \
                     :                                                                                       \
                     : "xmm0", "xmm1", "xmm2", "cc")

static void known_sse(void)
{
    KNOWN_LOOP("addss %%xmm0, %%xmm1\n mulsd %%xmm0, %%xmm2\n addps %%xmm0, %%xmm1\n mulpd %%xmm0, %%xmm2\n");
}

__attribute__((target("avx2,fma"))) static void known_avx2(void)
{
    KNOWN_LOOP("vfmadd231ps %%ymm0, %%ymm0, %%ymm1\n vfmadd231pd %%ymm0, %%ymm0, %%ymm2\n"
               "vaddps %%ymm0, %%ymm0, %%ymm1\n");
    __asm__ volatile("vzeroupper" ::: "xmm0", "xmm1", "xmm2");
}

__attribute__((target("avx512f"))) static void known_avx512(void)
{
    KNOWN_LOOP("vfmadd231ps %%zmm0, %%zmm0, %%zmm1\n vfmadd231pd %%zmm0, %%zmm0, %%zmm2\n"
               "vmulps %%zmm0, %%zmm0, %%zmm1\n");
    __asm__ volatile("vzeroupper" ::: "xmm0", "xmm1", "xmm2");
}

struct known {
    const char *name;
    void (*run)(void);
    int flops; /* of a round */
    int threads;
    int64_t done; /* FLOPs by all threads */
};

static void run_known(void *context)
{
    struct known *k = context;
    int64_t done = 0;
#pragma omp parallel num_threads(k->threads) reduction(+ : done)
    {
        k->run();
        done += (int64_t)ROUNDS * k->flops;
    }
    k->done = done;
}

static bool trusted(const struct counters *c, int threads, struct message *error)
{
    const struct known loops[] = {
        {"SSE", known_sse, 1 + 1 + 4 + 2, threads, 0},
        {"AVX2", instructions_have("FMA") ? known_avx2 : NULL, 16 + 8 + 8, threads, 0},
        {"AVX-512", instructions_have("AVX512F") ? known_avx512 : NULL, 32 + 16 + 16, threads, 0},
    };
    for (size_t i = 0; i < sizeof loops / sizeof *loops; i++) {
        struct known k = loops[i];
        int64_t flops;
        if (!k.run)
            continue;
        if (!count(c, run_known, &k, &flops, error))
            return false;
        if (flops < k.done - k.done / 100 || flops > k.done + k.done / 100)
            return complain(error, "hardware counters: a loop of %lld FLOPs in %s reads %lld",
                            (long long)k.done, k.name, (long long)flops);
    }
    return true;
}

bool counters_measure(const struct counters *c, int threads, void (*run)(void *context), void *context,
                      int64_t *flops, struct message *error)
{
    return trusted(c, threads, error) && count(c, run, context, flops, error);
}
#else
bool counters_open(struct counters *c, struct message *error)
{
    *c = (struct counters){0};
    return complain(error, "no hardware counters of FLOPs are known for this architecture");
}

void counters_close(struct counters *c)
{
    (void)c;
}

bool counters_measure(const struct counters *c, int threads, void (*run)(void *context), void *context,
                      int64_t *flops, struct message *error)
{
    (void)c, (void)threads, (void)run, (void)context, (void)flops;
    return complain(error, "no hardware counters of FLOPs are known for this architecture");
}
#endif
