/*
 * The type of call.context on CUDA. The library handles use `stream`, read scalars from the host
 * (CUBLAS_POINTER_MODE_HOST), compute in f32 without TF32 (CUBLAS_DEFAULT_MATH) and without atomics
 * (CUBLAS_ATOMICS_NOT_ALLOWED); `blas` has a preallocated workspace (cublasSetWorkspace), because nothing may
 * be allocated during stream capture.
 */
#ifndef GTMARK_KERNELS_CUDA_CONTEXT_H
#define GTMARK_KERNELS_CUDA_CONTEXT_H

#include <stdbool.h>

#include "kernels/backend.h"

#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
/* In C, its deprecated names cause warnings at every use, including in its own declarations. */
#define DISABLE_CUSPARSE_DEPRECATED
#include <cusparse.h>

/* A matrix prepared for cuSPARSE in the scratch buffer at this address (spmm_cusparse.cu). */
struct cuda_csr {
    const void *scratch;
    cusparseConstSpMatDescr_t matrix;
    struct cuda_csr *next;
};

/*
 * What was chosen when something was computed for the first time, for all later times in this context: the
 * library's algorithm of a product (matmul.cu), or one of several ways.
 */
enum { CHOICE_WORDS = 9, CHOICE_TEXT = 256 };

/* cublasLt.h allows to store an algorithm and to use it again with the same version. */
struct cuda_chosen {
    int64_t key[CHOICE_WORDS]; /* what it depends on */
    int64_t way;               /* of a product: the parts of its depth, or 0 */
    cublasLtMatmulAlgo_t algorithm;
};

struct cuda_choice {
    struct cuda_chosen is;
    bool refused; /* by the library */
    bool used;    /* since they were told last */
    bool timed;   /* since lines were told last */
    char text[CHOICE_TEXT];
    struct cuda_choice *next; /* in the order of first use */
};

struct cuda_context {
    cudaStream_t stream;                  /* of launches: the first of these, or in a capture one of them */
    cudaStream_t streams[DEVICE_STREAMS]; /* the handles belong to the first */
    char *workspaces, *workspace;         /* of products: of all streams; of the stream */
    int64_t product_workspace;            /* bytes of one that products may use */
    int product_algorithms;               /* to choose from */
    bool limited;                         /* the environment said what there is to choose from */
    char line[320];                       /* what lines of choices begin with (choices.c) */
    struct cuda_choice *choices;
    cublasHandle_t blas;
    cublasLtHandle_t blas_lt;
    cusparseHandle_t sparse;
    int device, multiprocessors;
    enum run_part part;        /* of what is launched */
    bool loads;                /* launchers load the code of their kernels and launch nothing */
    bool captures;             /* what is launched becomes a graph */
    struct fault fault;        /* after one nothing more is launched */
    struct cuda_csr *matrices; /* a list, freed with the context */
};

/* Whether library calls are left out. */
static inline bool cuda_is_idle(const struct cuda_context *c)
{
    return c->loads || c->fault.kind;
}

#endif
