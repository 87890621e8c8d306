/*
 * Under a small address space (`ulimit -v`) programs end as they do where other memory is short. OpenBLAS
 * asks for its buffers for ever if they are refused: a program that waits for it is ended by its alarm.
 */
#include "kernels/blas.h"

#include <omp.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/files.h"
#include "tests/records.h"
#include "tests/sanitized.h"
#include "tests/test.h"

#define SIZED "--hidden 16 --heads 2 --layers 1 --runs 3 --warmup 1 --repetitions 1 --output x.json "
#define TINY  SIZED "--nodes 8 "

/* Sets the soft limit of the address space in KiB, as ulimit -v does; returns the one before. */
static rlim_t limit_to(rlim_t kib)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
    rlim_t before = limit.rlim_cur == RLIM_INFINITY ? RLIM_INFINITY : limit.rlim_cur >> 10;
    limit.rlim_cur = kib == RLIM_INFINITY ? RLIM_INFINITY : kib << 10;
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    return before;
}

/* The address space that this process takes, in KiB. */
static rlim_t taken(void)
{
    long pages = 0;
    FILE *in = fopen("/proc/self/statm", "r");
    assert_true(in && fscanf(in, "%ld", &pages) == 1);
    fclose(in);
    return (rlim_t)(pages * sysconf(_SC_PAGESIZE) >> 10);
}

/* Runs the program under the limit. Its exit status must be the one given, and its output contain a text. */
static void check(const struct house *h, rlim_t kib, const char *words, int status, const char *says)
{
    rlim_t before = limit_to(kib);
    struct ended e = program_run(h, words, NULL);
    limit_to(before);
    char *out = unwrapped(e.out);
    if (e.status != status || (!strstr(out, says) && !strstr(e.err, says)))
        fail_msg("%llu KiB: %s: status %d, not %d, or no '%s'\n%s%s", (unsigned long long)kib, words,
                 e.status, status, says, e.out, e.err);
    free(out);
    ended_free(&e);
}

TEST(test_programs)
{
    static const rlim_t limits[] = {100000, 300000};
    if (SANITIZED)
        skip(); /* it takes terabytes for itself */
    for (size_t i = 0; i < 2; i++) {
        check(*state, limits[i], "--help", 0, "usage: ");
        check(*state, limits[i], "--version", 0, "cpu backend: ");
        check(*state, limits[i], "--list ops", 0, "linear");
        check(*state, limits[i], "--nodes nonsense", 2, "--nodes nonsense: ");
        check(*state, limits[i], "--nodes 100 --dry-run", 0, "1 row: ");
        check(*state, limits[i], "--nodes 100 --device meta", 0, "ok");
        for (int threads = 1; threads <= 2; threads++) {
            char words[256];
            snprintf(words, sizeof words, TINY "--threads %d", threads);
            check(*state, limits[i], words, 0, "ok");
        }
    }
}

/* Where there is no room for the BLAS, a check takes rows; an op and an encoding that need it have no memory.
 */
TEST(test_what_needs_the_blas)
{
    if (SANITIZED || !HAVE_CBLAS || !HAVE_LAPACK)
        skip();
    check(*state, 100000, TINY "--threads 2", 0, "ok");
    struct record *record = record_in(*state, "work/x.json");
    assert_string_equal(text_at(row_at(record, 0), "checked"), "rows");
    record_free(record);
    check(*state, 100000, TINY "--impl linear=blas", 1,
          "oom: BLAS cannot be opened: the address space has no room");
    check(*state, 100000, TINY "--pe lap:4:4 --no-check", 1,
          "oom: BLAS cannot be opened: the address space has no room");
    check(*state, RLIM_INFINITY, TINY "--impl linear=blas --pe lap:4:4", 0, "ok");
}

/* What is not counted beforehand, or is free but beyond the address space, is missing memory too. */
TEST(test_graphs_and_encodings)
{
    if (SANITIZED)
        skip();
    check(*state, 300000, SIZED "--threads 1 --nodes 20M --mem-limit 1TiB", 1, "oom: no memory to ");
    check(*state, 300000,
          SIZED "--threads 1 --nodes 300k --degree 1 --pe rwse:200:4 --mpnn gin --attention none", 1,
          "oom: rwse:200 of 300000 nodes: no memory for ");
}

/* The buffers for four threads are asked for, taken at once, and used by all of them. */
TEST(test_buffers)
{
    enum { CALLERS = 4, SIZE = 192 };
    static float a[SIZE * SIZE], c[CALLERS][SIZE * SIZE];
    char error[256];
    if (SANITIZED || !HAVE_CBLAS)
        skip();
    omp_set_dynamic(0);
#pragma omp parallel num_threads(CALLERS)
    a[omp_get_thread_num()] = 0; /* starts the threads, which take memory of their own */
    rlim_t before = limit_to(taken() + 100000);
    assert_int_equal(blas_open(1, error, sizeof error), BLAS_NO_MEMORY);
    assert_non_null(strstr(error, "the address space has no room"));
    limit_to(before);
    assert_int_equal(blas_open(0, error, sizeof error), BLAS_OPEN);
    if (strncmp(blas_version(), "OpenBLAS", 8) != 0)
        skip();
    before = limit_to(taken() + 300000);
    assert_int_equal(blas_open(CALLERS, error, sizeof error), BLAS_NO_MEMORY);
    assert_non_null(strstr(error, "128 MiB that OpenBLAS takes for each of 4 threads"));
    limit_to(before);
    assert_int_equal(blas_open(CALLERS, error, sizeof error), BLAS_OPEN);
    for (int i = 0; i < SIZE * SIZE; i++)
        a[i] = 1;
    before = limit_to(taken() + 20000);
    alarm(60);
#pragma omp parallel num_threads(CALLERS)
    for (int i = 0; i < 10; i++)
        blas()->sgemm(BLAS_ROW_MAJOR, BLAS_NO_TRANS, BLAS_TRANS, SIZE, SIZE, SIZE, 1, a, SIZE, a, SIZE, 0,
                      c[omp_get_thread_num()], SIZE);
    alarm(0);
    limit_to(before);
    for (int caller = 0; caller < CALLERS; caller++)
        for (int i = 0; i < SIZE * SIZE; i++)
            assert_true(c[caller][i] == SIZE);
}

GROUP("tests", house_setup, house_teardown)
