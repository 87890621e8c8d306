/*
 * BLAS, LAPACK and ARPACK: libraries that are opened when one of them is first needed.
 *
 * OpenBLAS maps a buffer for every thread that is in a call, and asks again for ever while the address space
 * has no room for it (blas_memory_alloc in its driver/others/memory.c). Linked with a program, it would do so
 * before main. So programs are not linked with it: blas_open asks for the memory first.
 */
#ifndef GTMARK_KERNELS_BLAS_H
#define GTMARK_KERNELS_BLAS_H

#include <stddef.h>

/* The enumerations of CBLAS. */
enum { BLAS_ROW_MAJOR = 101, BLAS_NO_TRANS = 111, BLAS_TRANS = 112 };

/* Functions with the interfaces of CBLAS, LAPACK and ARPACK; null where the build has no such library. */
struct blas {
    void (*sgemm)(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a,
                  int lda, const float *b, int ldb, float beta, float *c, int ldc);
    void (*dgemm)(int order, int trans_a, int trans_b, int m, int n, int k, double alpha, const double *a,
                  int lda, const double *b, int ldb, double beta, double *c, int ldc);
    void (*dsyevr)(const char *jobz, const char *range, const char *uplo, const int *n, double *a,
                   const int *lda, const double *vl, const double *vu, const int *il, const int *iu,
                   const double *abstol, int *m, double *w, double *z, const int *ldz, int *isuppz,
                   double *work, const int *lwork, int *iwork, const int *liwork, int *info);
    void (*dsyevd)(const char *jobz, const char *uplo, const int *n, double *a, const int *lda, double *w,
                   double *work, const int *lwork, int *iwork, const int *liwork, int *info);
    void (*dsaupd)(int *ido, const char *bmat, const int *n, const char *which, const int *nev,
                   const double *tol, double *resid, const int *ncv, double *v, const int *ldv, int *iparam,
                   int *ipntr, double *workd, double *workl, const int *lworkl, int *info);
    void (*dseupd)(const int *rvec, const char *howmny, const int *select, double *d, double *z,
                   const int *ldz, const double *sigma, const char *bmat, const int *n, const char *which,
                   const int *nev, const double *tol, double *resid, const int *ncv, double *v,
                   const int *ldv, int *iparam, int *ipntr, double *workd, double *workl, const int *lworkl,
                   int *info);
};

enum blas_state { BLAS_OPEN, BLAS_NO_MEMORY, BLAS_MISSING };

/*
 * Opens the libraries, unless they are open, and takes the memory for `callers` threads that call them at the
 * same time; each call runs in its caller's thread. With a message if the result is not BLAS_OPEN.
 */
enum blas_state blas_open(int callers, char *error, size_t error_size);

/* The functions; opens the libraries where nobody has. Prints a message and aborts if that is not possible.
 */
const struct blas *blas(void);

/* What OpenBLAS says of itself; "unknown" for another BLAS, or if it cannot be opened. */
const char *blas_version(void);

/* The processor that OpenBLAS chose its kernels for, "Haswell"; "unknown" likewise. */
const char *blas_core(void);

#endif
