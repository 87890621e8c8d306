/*
 * The CUDA backend, loaded on demand.
 *
 * It is a separate library because the libraries it depends on take a tenth of a second and a gigabyte of
 * address space to load, which host-only programs should not pay, and so that no program requires them to
 * start. Once loaded it stays.
 *
 * Programs look for it where it was built, and take it only if it was made from the same sources, since it
 * knows the layout of every op's arguments: a program that was copied, or kept while its checkout changed,
 * must not run the kernels of another version.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "kernels/backend.h"

#if HAVE_CUDA
#define LIBRARY "libgtmark_cuda.so"

const struct backend *backend_cuda(char *error, size_t error_size)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror(); /* which begins with the name of what is missing */
        bool unbuilt = strncmp(why, LIBRARY ":", sizeof LIBRARY) == 0 && strstr(why, "No such file");
        snprintf(error, error_size, "%s%s", unbuilt ? "" : "the CUDA backend cannot be loaded: ",
                 unbuilt ? "built without CUDA: make DEVICE=cuda" : why);
        return NULL;
    }
    const char *id = dlsym(library, "gtmark_cuda_id");
    const struct backend *b = dlsym(library, "gtmark_cuda");
    if (!b || !id || strcmp(id, CUDA_ID) != 0) {
        snprintf(error, error_size, "the CUDA library is of another build (%.40s, not %s): run make",
                 id ? id : "unnamed", CUDA_ID);
        return NULL;
    }
    return b;
}
#else
const struct backend *backend_cuda(char *error, size_t error_size)
{
    snprintf(error, error_size, "built without CUDA, as `make probe` explains: make DEVICE=cuda");
    return NULL;
}
#endif
