/*
 * Failing calls. GTMARK_EMULATED_FAULT="NAME CALL STATUS" lets the CALL-th call of a function return the
 * status and do nothing; after a status that CUDA cannot clear all later calls of the runtime return it too.
 *
 * The library calls the functions through its table of addresses, in which each then has a stub of a few
 * instructions, so that no function is left out.
 */
#include "tests/emulator/emulator.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>

namespace
{
struct call {
    void *real; /* the first member, for the stubs */
    const char *name;
    void **slot; /* in the table */
};

/* What fails, and what all calls return since. */
struct {
    char name[64];
    int countdown, status, lost;
} planned;

bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

/* The functions that return a status. */
bool is_call(const char *name)
{
    static const char *const libraries[] = {"cuda", "cublas", "cusparse"};
    for (const char *library : libraries) {
        char next = begins(name, library) ? name[strlen(library)] : 0;
        if (next >= 'A' && next <= 'Z')
            return !strstr(name, "String") && strcmp(name, "cublasLtGetVersion") != 0;
    }
    return false;
}

bool is_sticky(int status)
{
    return status == cudaErrorECCUncorrectable || status == cudaErrorIllegalAddress ||
           status == cudaErrorLaunchFailure;
}

/* What the manual says of the end of a capture also happens when it fails: the stream leaves it. */
void end_capture(cudaStream_t stream, const struct call *c)
{
    cudaGraph_t graph = NULL;
    if (((cudaError_t(*)(cudaStream_t, cudaGraph_t *))c->real)(stream, &graph) == cudaSuccess)
        cudaGraphDestroy(graph);
}

void add_calls(std::vector<call> &calls, const link_map *module, const ElfW(Rela) * rela, size_t bytes,
               const ElfW(Sym) * symbols, const char *names)
{
    for (const ElfW(Rela) *end = rela + bytes / sizeof *rela; rela && rela < end; rela++) {
        size_t type = ELF64_R_TYPE(rela->r_info);
        const char *name = names + symbols[ELF64_R_SYM(rela->r_info)].st_name;
        void **slot = (void **)(module->l_addr + rela->r_offset);
        if ((type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) && is_call(name))
            calls.push_back({*slot, name, slot});
    }
}

/* Those in the tables of addresses of this library. */
std::vector<call> find_calls(void)
{
    std::vector<call> calls;
    Dl_info info;
    link_map *module;
    uintptr_t at[DT_NUM] = {};
    if (!dladdr1((void *)&planned, &info, (void **)&module, RTLD_DL_LINKMAP))
        emulator_fail("no tables of addresses");
    for (const ElfW(Dyn) *d = module->l_ld; d->d_tag != DT_NULL; d++)
        if (d->d_tag < DT_NUM)
            at[d->d_tag] = d->d_un.d_ptr;
    const ElfW(Sym) *symbols = (const ElfW(Sym) *)at[DT_SYMTAB];
    const char *names = (const char *)at[DT_STRTAB];
    add_calls(calls, module, (const ElfW(Rela) *)at[DT_JMPREL], at[DT_PLTRELSZ], symbols, names);
    add_calls(calls, module, (const ElfW(Rela) *)at[DT_RELA], at[DT_RELASZ], symbols, names);
    return calls;
}
} // namespace

/* What a call returns; 0: what the function does. */
extern "C" int emulator_injected(const struct call *c, void *first)
{
    bool runtime = begins(c->name, "cuda");
    if (planned.lost)
        return runtime ? planned.lost : 0;
    if (strcmp(c->name, planned.name) != 0 || --planned.countdown != 0)
        return 0;
    if (strcmp(c->name, "cudaStreamEndCapture") == 0)
        end_capture((cudaStream_t)first, c);
    if (runtime && is_sticky(planned.status))
        planned.lost = planned.status;
    return runtime ? emulator_status((cudaError_t)planned.status) : planned.status;
}

/* Keeps the arguments, none of which are in floating point, asks, and returns or goes on; r11: the call. */
extern "C" __attribute__((naked)) void emulator_stub(void)
{
    asm("push %rdi; push %rsi; push %rdx; push %rcx; push %r8; push %r9; push %r11\n\t"
        "mov %rdi, %rsi; mov %r11, %rdi\n\t"
        "call emulator_injected@PLT\n\t"
        "pop %r11; pop %r9; pop %r8; pop %rcx; pop %rdx; pop %rsi; pop %rdi\n\t"
        "test %eax, %eax; jnz 1f\n\t"
        "jmp *(%r11)\n"
        "1: ret");
}

/* "mov r11, call; mov r10, emulator_stub; jmp r10". */
static void write_stub(unsigned char *to, const struct call *c)
{
    void (*stub)(void) = emulator_stub;
    memcpy(to, "\x49\xbb........\x49\xba........\x41\xff\xe2", 23);
    memcpy(to + 2, &c, sizeof c);
    memcpy(to + 12, &stub, sizeof stub);
}

__attribute__((constructor)) static void inject(void)
{
    enum { STUB = 32, PAGE = 4096 };
    const char *fault = getenv("GTMARK_EMULATED_FAULT");
    if (!fault)
        return;
    if (sscanf(fault, "%63s %d %d", planned.name, &planned.countdown, &planned.status) != 3)
        emulator_fail("GTMARK_EMULATED_FAULT=%s: NAME CALL STATUS", fault);
    static std::vector<call> calls = find_calls();
    unsigned char *stubs = (unsigned char *)mmap(
        NULL, calls.size() * STUB, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stubs == MAP_FAILED)
        emulator_fail("no memory for failing calls");
    for (const struct call &c : calls) {
        write_stub(stubs, &c);
        mprotect((void *)((uintptr_t)c.slot / PAGE * PAGE), PAGE, PROT_READ | PROT_WRITE);
        *c.slot = stubs;
        stubs += STUB;
    }
}

/* The names, for tests; an index beyond the last: null. */
extern "C" const char *emulator_call(size_t index)
{
    static const std::vector<call> calls = find_calls();
    return index < calls.size() ? calls[index].name : NULL;
}
