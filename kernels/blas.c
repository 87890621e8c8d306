#include "kernels/blas.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "kernels/cpu/instructions.h"

/* The names of the shared libraries that the build found, in the order of their opening. */
static const char *const libraries[] = {BLAS_LIBRARIES NULL};

/* Address space in MiB: of the libraries (OpenBLAS 0.3.21 with LAPACK and ARPACK takes 50), and of a buffer
 * of OpenBLAS (BUFFER_SIZE in its common_x86_64.h). */
enum { LIBRARIES_MIB = 64, BUFFER_MIB = 128 };

/* Functions that only OpenBLAS has. */
struct openblas {
    void (*set_num_threads)(int threads);
    char *(*get_config)(void);
    char *(*get_corename)(void);
    void *(*memory_alloc)(int unused);
    void (*memory_free)(void *buffer);
};

struct opened {
    struct blas functions;
    struct openblas own;
};

/* A process opens its libraries once: what is known of them is static. */
static struct opened opened;
static bool is_open;
static int buffers; /* that OpenBLAS has taken; it keeps them */
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;

static const struct symbol {
    const char *name;
    size_t place;
    bool needed;
} symbols[] = {
    {"cblas_sgemm", offsetof(struct opened, functions.sgemm), HAVE_CBLAS},
    {"cblas_dgemm", offsetof(struct opened, functions.dgemm), HAVE_CBLAS},
    {"dsyevr_", offsetof(struct opened, functions.dsyevr), HAVE_LAPACK},
    {"dsyevd_", offsetof(struct opened, functions.dsyevd), HAVE_LAPACK},
    {"dsaupd_", offsetof(struct opened, functions.dsaupd), HAVE_ARPACK},
    {"dseupd_", offsetof(struct opened, functions.dseupd), HAVE_ARPACK},
    {"openblas_set_num_threads", offsetof(struct opened, own.set_num_threads), false},
    {"openblas_get_config", offsetof(struct opened, own.get_config), false},
    {"openblas_get_corename", offsetof(struct opened, own.get_corename), false},
    {"blas_memory_alloc", offsetof(struct opened, own.memory_alloc), false},
    {"blas_memory_free", offsetof(struct opened, own.memory_free), false},
};

/* Whether a mapping of this size would succeed now. */
static bool has_room(size_t mib)
{
    void *at = mmap(NULL, mib << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at != MAP_FAILED && munmap(at, mib << 20) == 0;
}

static enum blas_state refuse(enum blas_state state, char *error, size_t size, const char *what)
{
    snprintf(error, size, "BLAS cannot be opened: %s", what);
    return state;
}

/*
 * OpenBLAS starts its threads when it is loaded, unless it is to have one. The libraries are opened for all
 * to see: those of a BLAS in layers (MKL) take their functions from each other, and ARPACK takes the BLAS
 * that was opened first.
 */
static enum blas_state load(char *error, size_t size)
{
    if (!libraries[0])
        return refuse(BLAS_MISSING, error, size, "this build has none");
    if (ISA_X86 && !instructions_read(0, 0))
        return refuse(BLAS_MISSING, error, size, "it asks the processor (CPUID), which is a fault here");
    if (!has_room(LIBRARIES_MIB + BUFFER_MIB))
        return refuse(BLAS_NO_MEMORY, error, size, "the address space has no room for it (ulimit -v)");
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    for (const char *const *name = libraries; *name; name++)
        if (!dlopen(*name, RTLD_LAZY | RTLD_GLOBAL))
            return refuse(BLAS_MISSING, error, size, dlerror());
    for (const struct symbol *s = symbols; s < symbols + sizeof symbols / sizeof *symbols; s++) {
        void *found = dlsym(RTLD_DEFAULT, s->name);
        if (!found && s->needed)
            return refuse(BLAS_MISSING, error, size, dlerror());
        *(void **)((char *)&opened + s->place) = found;
    }
    if (opened.own.set_num_threads)
        opened.own.set_num_threads(1);
    return BLAS_OPEN;
}

/* Has OpenBLAS take its buffers now, each after a look whether there is room; later calls find them. */
static bool take_buffers(int wanted)
{
    void **held = calloc((size_t)wanted + 1, sizeof *held);
    int n = 0;
    for (; held && n < wanted && (n < buffers || has_room(BUFFER_MIB)); n++)
        held[n] = opened.own.memory_alloc(0);
    for (int i = 0; i < n; i++)
        opened.own.memory_free(held[i]);
    free(held);
    buffers = n > buffers ? n : buffers;
    return n == wanted;
}

static enum blas_state open_for(int callers, char *error, size_t size)
{
    enum blas_state state = is_open ? BLAS_OPEN : load(error, size);
    if (state != BLAS_OPEN)
        return state;
    __atomic_store_n(&is_open, true, __ATOMIC_RELEASE);
    if (callers <= buffers || !opened.own.memory_alloc || !opened.own.memory_free || take_buffers(callers))
        return BLAS_OPEN;
    snprintf(error, size,
             "the address space has no room for the %d MiB that OpenBLAS takes for each of %d thread%s "
             "(ulimit -v)",
             BUFFER_MIB, callers, callers == 1 ? "" : "s");
    return BLAS_NO_MEMORY;
}

enum blas_state blas_open(int callers, char *error, size_t error_size)
{
    pthread_mutex_lock(&opening);
    enum blas_state state = open_for(callers, error, error_size);
    pthread_mutex_unlock(&opening);
    return state;
}

const struct blas *blas(void)
{
    char error[256];
    if (!__atomic_load_n(&is_open, __ATOMIC_ACQUIRE) && blas_open(0, error, sizeof error) != BLAS_OPEN) {
        fprintf(stderr, "%s\n", error);
        abort();
    }
    return &opened.functions;
}

static const char *ask(char *(*const *question)(void))
{
    char error[256];
    bool asks = blas_open(0, error, sizeof error) == BLAS_OPEN && *question;
    return asks ? (*question)() : "unknown";
}

const char *blas_version(void)
{
    return ask(&opened.own.get_config);
}

const char *blas_core(void)
{
    return ask(&opened.own.get_corename);
}
