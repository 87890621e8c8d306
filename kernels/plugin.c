/*
 * The CUDA backend, loaded on demand.
 *
 * It is a separate library because the libraries it depends on take a tenth of a second and a gigabyte of
 * address space to load, which host-only programs should not pay, and so that no program requires them to
 * start. Once loaded it stays.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "kernels/backend.h"

#if HAVE_CUDA
/*
 * The first op, excluding host-only ones, without a float kernel in a backend that has no base; otherwise
 * OPS.
 */
static enum op missing_row(const struct backend *b)
{
    enum op op = 0;
    while (op < OPS && (op_info(op)->host || backend_kernel(b, op, F32, NULL)))
        op++;
    return op;
}

const struct backend *backend_cuda(char *error, size_t error_size)
{
    void *library = dlopen("libgtmark_cuda.so", RTLD_NOW | RTLD_LOCAL);
    const struct backend *b = library ? dlsym(library, "gtmark_cuda") : NULL;
    if (!b) {
        snprintf(error, error_size, "the CUDA backend cannot be loaded: %s", dlerror());
        return NULL;
    }
    enum op missing = missing_row(b);
    if (missing != OPS) {
        snprintf(error, error_size, "the CUDA backend has no kernel for %s", op_info(missing)->name);
        return NULL;
    }
    return b;
}
#else
const struct backend *backend_cuda(char *error, size_t error_size)
{
    snprintf(error, error_size, "this build has no CUDA (`make probe` says why)");
    return NULL;
}
#endif
