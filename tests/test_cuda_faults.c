/*
 * What a first user's machine does: every call to CUDA and its libraries fails once on the emulated GPU, GPUs
 * refuse to be opened, break in the middle of a sweep, or belong to another program. A run then ends with one
 * line, or with a row that says why and has no times; the rows so far are kept. Skipped on other devices.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/record/record.h"
#include "kernels/backend.h"
#include "tests/files.h"
#include "tests/records.h"
#include "tests/refusals.h"
#include "tests/test.h"

/* A calibration takes longer than all else. */
#define MEASURED "--device cuda --hidden 16 --heads 2 --layers 1 --runs 2 --warmup 1 --output x.json "
#define WORDS    MEASURED "--peaks peak=1TFLOP/s,dram=1TB/s "

static bool emulated(void)
{
    char why[256];
    struct device_facts f = {0};
    const struct backend *b = backend_cuda(why, sizeof why);
    return b && b->device->facts(0, &f) && strstr(f.name, "Emulated");
}

static void let_fail(const char *name, int call, int status)
{
    char text[128];
    snprintf(text, sizeof text, "%s %d %d", name, call, status);
    setenv("GTMARK_EMULATED_FAULT", text, 1);
}

/* The name of the index-th function that the library calls; null: there are no more. */
static const char *function_at(size_t index)
{
    void *library = dlopen("libgtmark_cuda.so", RTLD_NOW | RTLD_NOLOAD);
    const char *(*name_of)(size_t);
    *(void **)&name_of = dlsym(library, "emulator_call");
    const char *name = name_of(index);
    dlclose(library);
    return name;
}

static struct ended run(const struct house *h, const char *words)
{
    struct ended e = program_run(h, words, NULL);
    unsetenv("GTMARK_EMULATED_FAULT");
    return e;
}

static size_t times_in(const char *text, const char *part)
{
    size_t times = 0;
    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        times++;
    return times;
}

/* Rows of which one at most is not ok, which then is without a time of the program that failed. */
static void expect_rows(const struct house *h, size_t least, size_t most, int status, const char *what)
{
    struct record *record = record_in(h, "work/x.json");
    size_t bad = 0, count = row_count(record);
    for (size_t i = 0; i < count; i++) {
        const struct row *row = row_at(record, i);
        const char *state = text_at(row, "status");
        double forward, step;
        bool timed = row_get_real(row, "forward.time.median", &forward) &&
                     row_get_real(row, "step.time.median", &step);
        bool ok = strcmp(state, "ok") == 0;
        bad += !ok;
        if (timed != ok || (!ok && strcmp(state, "oom") != 0 && strcmp(state, "failed") != 0))
            fail_msg("%s: row %zu is %s, %s times: %s", what, i, state, timed ? "with" : "without",
                     text_at(row, "reason"));
    }
    if (count < least || count > most || bad > 1 || (bad > 0) > (status != 0))
        fail_msg("%s: %zu rows, %zu of them bad, status %d", what, count, bad, status);
    record_free(record);
}

/* Runs two rows with a failing call. Whether it was noticed. */
static bool fails_well(const struct house *h, const char *name, int call, int status)
{
    static const char words[] =
        WORDS "--nodes 8,12 --model gin --impl spmm=cusparse --repetitions 1 --no-charts";
    char what[128];
    snprintf(what, sizeof what, "%s, call %d, status %d", name, call, status);
    let_fail(name, call, status);
    struct ended e = run(h, words);
    if (e.status > 2)
        fail_msg("%s: ended with %d: %s", what, e.status, e.err);
    if (e.status == 2 && (!strstr(e.err, "--device cuda: ") || times_in(e.err, "\n") != 1))
        fail_msg("%s: %s", what, e.err);
    if (e.status < 2)
        expect_rows(h, 2, 2, e.status, what);
    bool noticed = e.status != 0;
    ended_free(&e);
    return noticed;
}

/* Each function's first call, and some later ones until one is not reached or not needed. */
TEST(test_every_call_fails_once)
{
    if (!emulated())
        skip();
    size_t functions = 0;
    int last = env_set("GTMARK_SMALL") ? 1 : INT_MAX / 4;
    for (; function_at(functions); functions++)
        for (int k = 1; k <= last && fails_well(*state, function_at(functions), k, 801); k *= 4)
            ;
    assert_true(functions > 40);
}

/* Without peak rates there are rows still. */
TEST(test_calibration_fails)
{
    if (!emulated())
        skip();
    let_fail("cublasLtMatmul", 1, 801);
    struct ended e = run(*state, MEASURED "--peaks measure --nodes 8,12 --repetitions 1 --no-charts");
    if (e.status != 0 || !strstr(e.err, "note: calibration: cuda:0: "))
        fail_msg("status %d: %s", e.status, e.err);
    expect_rows(*state, 2, 2, 0, "calibration");
    ended_free(&e);
}

static void expect_refusal(const struct house *h, const char *name, int status, const char *says)
{
    let_fail(name, 1, status);
    refuses(h, WORDS "--nodes 8", NULL, "--device cuda: no usable GPU: ", says);
    unsetenv("GTMARK_EMULATED_FAULT");
}

TEST(test_refusals)
{
    static const struct {
        const char *name;
        int status;
        const char *says;
    } cases[] = {
        {"cudaGetDeviceCount", 35, "the driver is for CUDA "},
        {"cudaGetDeviceCount", 802, "fabric manager"},
        {"cudaGetDeviceCount", 803, "restart the machine"},
        {"cudaGetDeviceCount", 804, "cuda-compat"},
        {"cudaGetDeviceCount", 805, "MPS"},
        {"cudaGetDeviceCount", 999, "nvidia-uvm"},
        {"cudaGetDeviceCount", 100, "--gpus all"},
        {"cudaSetDevice", 46, "exclusive mode"},
        {"cudaMalloc", 2, " MiB are free"},
        {"cudaFuncGetAttributes", 209, "make CUDA_ARCH=sm_90"},
        {"cudaFuncGetAttributes", 222, "PTX is too new for the driver"},
        {"cublasCreate_v2", 3, "cuBLAS cannot be initialised: "},
        {"cublasLtCreate", 1, "cuBLASLt cannot be initialised: "},
        {"cusparseCreate", 2, "cuSPARSE cannot be initialised: "},
    };
    if (!emulated())
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect_refusal(*state, cases[i].name, cases[i].status, cases[i].says);
}

/* Errors that nothing clears: the row, the card and the way on, after the rows so far. */
TEST(test_a_lost_device)
{
    static const struct {
        const char *name;
        int call, status;
        const char *row;
    } cases[] = {{"cudaStreamSynchronize", 10, 214, "before the first row: "},
                 {"cudaStreamSynchronize", 44, 214, "row 1 (8 nodes): "},
                 {"cudaGraphLaunch", 3, 700, "row 1 (8 nodes): "},
                 {"cudaGraphInstantiate", 3, 719, "row 2 (12 nodes): "}};
    if (!emulated())
        skip();
    setenv("GTMARK_PRODUCT_ALGORITHMS", "1", 1); /* nothing is timed, so that calls have these numbers */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        let_fail(cases[i].name, cases[i].call, cases[i].status);
        struct ended e = run(*state, WORDS "--nodes 8,12,16 --no-check");
        const char *line = strstr(e.err, cases[i].row);
        if (e.status != 1 || !line || !strstr(line, ": cuda:0 (Emulated GPU 0, 0000:00:00.0) is lost: ") ||
            !strstr(line, "--resume\n") || times_in(line, "\n") != 1)
            fail_msg("%s: status %d: %s", cases[i].name, e.status, e.err);
        ended_free(&e);
        expect_rows(*state, *cases[i].row == 'r', 2, 1, cases[i].name);
        struct record *record = run_json(*state, WORDS "--nodes 8,12,16 --no-check --resume", 0);
        assert_int_equal(row_count(record), 3);
        record_free(record);
    }
    unsetenv("GTMARK_PRODUCT_ALGORITHMS");
}

/* A graph that is not launched, or that runs out of memory, has no time, and the next row runs. */
TEST(test_graphs)
{
    static const struct {
        const char *name;
        int status;
        const char *state, *reason;
    } cases[] = {{"cudaStreamBeginCapture", 801, "failed", "cuda:0: capture_begin: "},
                 {"cudaGraphInstantiate", 801, "failed", "cuda:0: capture_end: "},
                 {"cudaGraphLaunch", 2, "oom", "(out of memory)"}};
    if (!emulated())
        skip();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        let_fail(cases[i].name, 1, cases[i].status);
        struct record *record = run_json(*state, WORDS "--nodes 8,12 --phase forward", 1);
        unsetenv("GTMARK_EMULATED_FAULT");
        assert_string_equal(text_at(row_at(record, 0), "status"), cases[i].state);
        assert_null_because(row_at(record, 0), "forward.time.median", cases[i].reason);
        assert_null_because(row_at(record, 0), "forward.gflops", cases[i].reason);
        assert_string_equal(text_at(row_at(record, 1), "status"), "ok");
        record_free(record);
    }
}

/* Without its properties a GPU has a name in the record, and rows. */
TEST(test_unknown_properties)
{
    if (!emulated())
        skip();
    size_t i = 0;
    while (function_at(i) && strncmp(function_at(i), "cudaGetDeviceProperties", 23) != 0)
        i++; /* some toolkits call it cudaGetDeviceProperties_v2 */
    let_fail(function_at(i), 1, 801);
    struct ended e = run(*state, WORDS "--nodes 8");
    assert_int_equal(e.status, 0);
    ended_free(&e);
    expect_rows(*state, 1, 1, 0, "properties");
}

/* A GPU in exclusive mode is left to the two builds that are compared; without them it says who cannot. */
TEST(test_exclusive_mode)
{
    const struct house *h = *state;
    char lock[128], old[128];
    if (!emulated())
        skip();
    snprintf(lock, sizeof lock, "%s/exclusive", h->root);
    snprintf(old, sizeof old, "%s/old", h->root);
    write_bytes(
        old, BYTES("#!/bin/sh\nflock -n \"$GTMARK_EMULATED_EXCLUSIVE\" echo the GPU is free >&2\nexit 2\n"));
    assert_int_equal(chmod(old, 0755), 0);
    setenv("GTMARK_EMULATED_EXCLUSIVE", lock, 1);
    struct ended e = program_run(h, "--device cuda --nodes 8 --no-check --against", MORE(old));
    if (e.status != 1 || !strstr(e.err, "the GPU is free"))
        fail_msg("status %d: %s", e.status, e.err);
    ended_free(&e);
    int file = open(lock, O_RDWR);
    assert_int_equal(flock(file, LOCK_EX | LOCK_NB), 0);
    refuses(h, WORDS "--nodes 8", NULL, "--device cuda: no usable GPU: ", "exclusive mode");
    close(file);
    unsetenv("GTMARK_EMULATED_EXCLUSIVE");
}

/* Once, however many rows there are. */
TEST(test_no_nvml)
{
    if (!emulated())
        skip();
    struct ended e = run(*state, WORDS "--nodes 8,12 --phase forward --no-check");
    assert_int_equal(times_in(e.err, "warning: clocks, throttling and energy of the GPU are not known: NVML"),
                     1);
    ended_free(&e);
}

GROUP("tests", house_setup, house_teardown)
