/*
 * --device cuda, cuda:N and cuda:all on machines with GPUs: this program has its own CUDA backend, whose GPUs
 * are the host, and runs the benchmark's main as a user would. Checks the result file.
 */
#include <math.h>
#include <unistd.h>

#include "analysis/record/result_file.h"
#include "bench/machine/device.h"
#include "bench/sweep/harness.h"
#include "tests/fake_device.h"
#include "tests/nvml.h"
#include "tests/records.h"
#include "tests/silence.h"
#include "tests/test.h"
#include "tests/values.h"

/* An op without a kernel on the GPUs; OPS: none. */
static enum op lacking = OPS;

/* Whether there is no library of kernels for GPUs. */
static bool no_library;

/* The number of GPUs, the one that cannot be opened (-1: none), and the number of open ones. */
static int gpus, broken = -1, open_now, most_open;

static int count_gpus(char *error, size_t size)
{
    snprintf(error, size, "no GPU in this test");
    return gpus;
}

static bool describe(int index, struct device_facts *f)
{
    backend_fake.device->facts(0, f);
    f->multiprocessors = 1 + index;
    snprintf(f->bus, sizeof f->bus, "0000:%02d:00.0", 65 + index);
    return index < gpus;
}

static void *open_one(int index, char *error, size_t size)
{
    snprintf(error, size, index < gpus ? "it is broken" : "there are %d GPUs: cuda:0 to cuda:%d", gpus,
             gpus - 1);
    if (index >= gpus || index == broken)
        return NULL;
    open_now++;
    most_open = open_now > most_open ? open_now : most_open;
    return calloc(1, sizeof(struct fake));
}

static void close_one(void *context)
{
    open_now--;
    free(context);
}

/* Blocks of this size are those of the transfer rates: only their time is used, and it takes most of a run's.
 */
enum { BLOCK = 64 << 20 };

static void write_but_blocks(void *context, void *to, const void *from, int64_t bytes)
{
    if (bytes < BLOCK)
        backend_fake.device->write(context, to, from, bytes);
}

static void read_but_blocks(void *context, void *to, const void *from, int64_t bytes)
{
    if (bytes < BLOCK)
        backend_fake.device->read(context, to, from, bytes);
}

const struct backend *backend_cuda(char *error, size_t size)
{
    static struct device device;
    static struct backend backend;
    static struct kernel kernels[8 * OPS]; /* more than ref has types */
    snprintf(error, size, no_library ? "no library in this test" : "there is one");
    if (no_library)
        return NULL;
    device = *backend_fake.device;
    device.beside = 3 << 20;
    device.per_entry = 2e-6;
    device.count = count_gpus;
    device.facts = describe;
    device.open = open_one;
    device.close = close_one;
    device.write = write_but_blocks;
    device.read = read_but_blocks;
    backend = backend_ref;
    backend.device = &device;
    backend.kernels = kernels;
    backend.count = 0;
    for (int i = 0; i < backend_ref.count; i++)
        if (backend_ref.kernels[i].op != lacking)
            kernels[backend.count++] = backend_ref.kernels[i];
    return &backend;
}

enum { PATH_SIZE = 96 };

static void path_of(const struct house *h, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/x.json", h->work);
}

/*
 * Runs the benchmark with these words, on a small model, writing the result to the house; `said` receives its
 * stderr.
 */
static int run(const struct house *h, const char *words, char said[4096])
{
    static const struct bench bench = {.name = "bench_devices", .axis = AXIS_NODES, .values = "8"};
    enum { ARGUMENTS = 32 };
    char all[512], path[PATH_SIZE], *rest = all, *argv[ARGUMENTS + 1] = {"bench_devices"};
    int argc = 1;
    path_of(h, path);
    snprintf(all, sizeof all,
             "--no-cuda-graph --hidden 8 --heads 2 --layers 1 --runs 2 --warmup 1 --budget 0.1 --no-roofline "
             "--output %s %s",
             path, words);
    for (char *word; argc < ARGUMENTS && (word = strsep(&rest, " ")) != NULL;)
        argv[argc++] = word;
    FILE *text = tmpfile();
    struct silence s = silence_begin(text);
    int status = bench_main(&bench, argc, argv);
    silence_end(&s);
    rewind(text);
    said[fread(said, 1, 4095, text)] = '\0';
    fclose(text);
    assert_int_equal(open_now, 0);
    return status;
}

static void refuses(const struct house *h, const char *words, const char *says)
{
    char said[4096], path[PATH_SIZE];
    path_of(h, path);
    unlink(path);
    int status = run(h, words, said);
    if (status != 2 || !strstr(said, says) || strchr(said, '\n') != said + strlen(said) - 1)
        fail_msg("%s: status %d, '%s'", words, status, said);
    assert_int_not_equal(access(path, F_OK), 0);
}

/* A device that the parser does not know. */
static void refuses_device(const struct house *h, const char *name)
{
    char words[64], says[256];
    snprintf(words, sizeof words, "--device %s", name);
    snprintf(says, sizeof says, "%s: %s", words, device_allowed);
    refuses(h, words, says);
}

static struct record *result(const struct house *h, const char *words)
{
    char said[4096];
    int status = run(h, words, said);
    if (status != 0)
        fail_msg("%s: status %d: %s", words, status, said);
    return record_in(h, "work/x.json");
}

/* The second row lacks an op, and the first is measured. */
static void expect_skipped(const struct house *h, const char *words, const char *op)
{
    char said[4096], reason[128];
    snprintf(reason, sizeof reason, "--device cuda has no kernel for %s", op);
    assert_int_equal(run(h, words, said), 1);
    struct record *record = record_in(h, "work/x.json");
    assert_int_equal(row_count(record), 2);
    assert_string_equal(text_at(row_at(record, 0), "status"), "ok");
    assert_skipped(row_at(record, 1), reason);
    record_free(record);
}

TEST(test_bad_choices)
{
    gpus = 0;
    refuses(*state, "--device cuda:all", "--device cuda:all: no GPU in this test");
    gpus = 2;
    refuses(*state, "--device cuda:2", "--device cuda:2: there are 2 GPUs: cuda:0 to cuda:1");
    refuses(*state, "--device cuda:999", "--device cuda:999: there are 2 GPUs");
    refuses_device(*state, "cuda:1000");
    refuses_device(*state, "cuda:all2");
    refuses_device(*state, "cuda:");
    refuses(*state, "--device cuda:all --dump x", "--dump: needs one device, not --device cuda:all");
    broken = 1;
    refuses(*state, "--device cuda:all", "--device cuda:all: cuda:1: it is broken");
    refuses(*state, "--device cuda:1", "--device cuda:1: it is broken");
    broken = -1;
}

/* What an op without a kernel is needed for is refused, with what is possible instead; beside other rows it
 * is skipped, and they run. */
TEST(test_missing_kernels)
{
    static const char
        model[] = "--device cuda --attention sparse: that device has no kernel for sparse_attention; "
                  "possible there: --attention none, dense, unfused, performer, performer-relu",
        given[] = "--device cuda --attention sparse: that device has no kernel for "
                  "sparse_attention_backward; possible there: --attention model, none, dense, unfused, "
                  "performer, performer-relu",
        linear[] = "--device cuda --attention performer: that device has no kernel for performer_keys; "
                   "possible there: --attention model, none, dense, sparse, unfused",
        dropped[] = "--device cuda --dropout 0.1: that device has no kernel for dropout; possible there: "
                    "--dropout 0";
    gpus = 1;
    lacking = OP_sparse_attention;
    refuses(*state, "--device cuda --model gps_sparse", model);
    lacking = OP_sparse_attention_backward;
    refuses(*state, "--device cuda --attention sparse", given);
    refuses(*state, "--device cuda --attention dense,sparse --list tape", given);
    expect_skipped(*state, "--device cuda --attention dense,sparse", "sparse_attention_backward");
    record_free(result(*state, "--device cuda --attention sparse --phase forward"));
    lacking = OP_performer_keys;
    refuses(*state, "--device cuda --attention performer", linear);
    lacking = OP_dropout;
    refuses(*state, "--device cuda --dropout 0.1", dropped);
    expect_skipped(*state, "--device cuda --dropout 0,0.1", "dropout");
    lacking = OP_fill;
    refuses(*state, "--device cuda", "--device cuda: it has no kernel for fill, which this model needs");
    lacking = OPS;
    record_free(result(*state, "--device cuda --model gps_sparse --phase forward"));
}

TEST(test_one_of_several)
{
    gpus = 3;
    struct record *record = result(*state, "--device cuda:1 --nodes 8 --phase forward");
    assert_int_equal(row_count(record), 1);
    assert_string_equal(text_at(row_at(record, 0), "device"), "cuda:1");
    const struct value *devices = value_get(record_head(record), "devices");
    assert_int_equal(value_size(devices), 1);
    assert_int_equal(count_in(value_at(devices, 0), "multiprocessors"), 2);
    record_free(record);
}

/* A plan has the scratch of a GPU's kernels, and says which it lacks, if their library is there; no GPU is
 * needed. */
TEST(test_plan)
{
    static const char words[] =
        "--device meta --plan-for cuda --phase forward --nodes 8 --attention dense,sparse "
        "--profile --peaks H100";
    gpus = most_open = 0;
    lacking = OP_sparse_attention;
    for (int i = 0; i < 2; i++) {
        char said[4096];
        no_library = i;
        assert_int_equal(run(*state, words, said), !no_library);
        struct record *record = record_in(*state, "work/x.json");
        const struct row *row = row_at(record, 0);
        assert_int_equal(
            strstr(said, "note: this plan has no scratch of the GPU's kernels, and all ops: no library in "
                         "this test\n") != NULL,
            no_library);
        assert_string_equal(text_at(row, "device"), "meta:cuda");
        assert_int_equal(count_at(row, "forward.memory.libraries"),
                         no_library ? backend_cuda_plan.device->beside : 3 << 20);
        assert_int_equal(row_has(row, "forward.memory.workspace"), !no_library);
        double entries = (double)row->forward.profile.op.count,
               launches = real_at(row, "forward.predicted.launches");
        assert_true(fabs(launches - (no_library ? 5e-6 : 2e-6) * entries) < 1e-12);
        if (no_library)
            assert_string_equal(text_at(row_at(record, 1), "status"), "ok");
        else
            assert_skipped(row_at(record, 1),
                           "--device meta --plan-for cuda has no kernel for sparse_attention");
        record_free(record);
    }
    no_library = false;
    lacking = OPS;
    assert_int_equal(most_open, 0);
}

/* Variables that change the arithmetic of a GPU are removed and named; others stay. */
TEST(test_environment)
{
    static const char *const cleared[] = {"NVIDIA_TF32_OVERRIDE", "CUBLAS_EMULATE_SINGLE_PRECISION",
                                          "CUBLAS_EMULATION_STRATEGY"};
    gpus = 1;
    for (int i = 0; i < 3; i++)
        setenv(cleared[i], "1", 1);
    setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8", 1);
    struct record *record = result(*state, "--device cuda --nodes 8 --phase forward");
    const struct value *gpu = value_at(value_get(record_head(record), "devices"), 0);
    for (int i = 0; i < 3; i++) {
        assert_non_null(strstr(text_in(gpu, "ignored_environment"), cleared[i]));
        assert_null(getenv(cleared[i]));
    }
    assert_null(strstr(text_in(gpu, "ignored_environment"), "WORKSPACE"));
    assert_string_equal(getenv("CUBLAS_WORKSPACE_CONFIG"), ":16:8");
    unsetenv("CUBLAS_WORKSPACE_CONFIG");
    record_free(record);
    record = result(*state, "--device cuda --nodes 8 --phase forward");
    gpu = value_at(value_get(record_head(record), "devices"), 0);
    assert_string_equal(text_in(gpu, "ignored_environment"), "");
    record_free(record);
}

/* One GPU after another, each with rows of the same work; only one is open at a time. */
TEST(test_all)
{
    gpus = 3;
    most_open = 0;
    struct record *record = result(*state, "--device cuda:all --nodes 8,12 --phase forward");
    assert_int_equal(row_count(record), 6);
    assert_int_equal(value_size(value_get(record_head(record), "devices")), 3);
    assert_int_equal(most_open, 1);
    for (size_t i = 0; i < 6; i++) {
        char name[16];
        snprintf(name, sizeof name, "cuda:%zu", i / 2);
        assert_string_equal(text_at(row_at(record, i), "device"), name);
        assert_int_equal(count_at(row_at(record, i), "nodes"), i % 2 ? 12 : 8);
        assert_string_equal(text_at(row_at(record, i), "work"), text_at(row_at(record, i % 2), "work"));
        assert_null_because(row_at(record, i), "forward.gpu.energy_per_graph", "NVML");
        assert_null_because(row_at(record, i), "forward.gpu.clock", "NVML");
        assert_null_because(row_at(record, i), "forward.time.discarded", "NVML");
        assert_absent(row_at(record, i), "step.gpu.clock");
        const struct value *told = value_at(value_get(record_head(record), "devices"), i / 2);
        assert_string_equal(text_in(told, "device"), name);
    }
    record_free(record);
}

/* The first GPU lacks a row and the second has a failed one: these two are measured, the others are kept. */
TEST(test_all_go_on)
{
    static const char again[] = "--device cuda:all --nodes 8,12 --phase forward --resume";
    const struct house *h = *state;
    char path[PATH_SIZE], said[4096], error[MESSAGE_SIZE];
    gpus = 2;
    path_of(h, path);
    struct record *before = result(h, "--device cuda:all --nodes 8,12 --phase forward");
    struct rows *rows = record_rows(before);
    struct row *failed = rows_at(rows, 2);
    row_set_text(failed, "status", "failed");
    row_set_text(failed, "reason", "planted");
    row_free(rows_take(rows, 1));
    assert_true(record_save(before, path, error));
    gpus = 3;
    int status = run(h, again, said);
    if (status != 2 || !strstr(said, "differs in its devices"))
        fail_msg("status %d: %s", status, said);
    gpus = 2;
    struct record *after = result(h, again);
    assert_int_equal(row_count(after), 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(text_at(row_at(after, i), "device"), i < 2 ? "cuda:0" : "cuda:1");
        assert_int_equal(count_at(row_at(after, i), "nodes"), i % 2 ? 12 : 8);
        assert_string_equal(text_at(row_at(after, i), "status"), "ok");
    }
    assert_true(rows_equal(row_at(after, 0), row_at(before, 0)));
    assert_true(rows_equal(row_at(after, 3), row_at(before, 2)));
    record_free(before);
    record_free(after);
}

TEST(test_rows_tell_of_the_gpu)
{
    struct player p = player_open("whole"); /* now this program's libnvidia-ml.so.1 */
    p.played->bus = "0000:66:00.0";
    p.played->reasons =
        (struct played_answers){.answers = {0, 0x20, 0x04}, .count = 3}; /* one for the record */
    p.played->clock = (struct played_answers){.answers = {1500}, .count = 1};
    p.played->temperature = 70;
    p.played->energy_every = 1;
    p.played->energy_step = 2000;
    p.played->kernels_busy = 90;
    gpus = 2;
    struct record *record = result(*state, "--device cuda:1 --nodes 8 --phase forward --repetitions 1");
    const struct row *row = row_at(record, 0);
    assert_int_equal(count_at(row, "forward.time.n"), 2);
    assert_int_equal(count_at(row, "forward.time.discarded"), 2);
    assert_int_equal(count_at(row, "forward.gpu.throttled"), 0);
    assert_string_equal(text_at(row, "forward.gpu.throttle"), "power cap, thermal");
    assert_true(real_at(row, "forward.gpu.clock") == 1500e6 &&
                real_at(row, "forward.gpu.clock_min") == 1500e6);
    assert_true(real_at(row, "forward.gpu.temperature") == 70);
    assert_true(real_at(row, "forward.gpu.busy") == 0.9);
    assert_true(real_at(row, "forward.gpu.energy_per_graph") > 0);
    assert_true(real_at(row, "forward.gpu.power") > 0 && real_at(row, "forward.gpu.energy_span") > 0);
    record_free(record);
    player_close(&p);
}

/* The rows of five whose energy is measured, and why the others have none; null: nobody asked. */
static void assert_energy(const struct house *h, const char *asked, const char *rows, const char *reason)
{
    char words[128];
    struct player p = player_open("whole");
    p.played->bus = "0000:65:00.0";
    p.played->energy_every = 1;
    p.played->energy_step = 2000;
    gpus = 1;
    snprintf(words, sizeof words, "--device cuda --nodes 8,9,10,11,12 --phase forward --turns 1%s", asked);
    struct record *record = result(h, words);
    for (size_t i = 0; i < 5; i++) {
        const struct row *row = row_at(record, i);
        bool measured = rows[i] == 'x';
        assert_int_equal(row_has(row, "forward.gpu.energy_per_graph"), measured);
        assert_int_equal(row_has(row, "forward.gpu.busy"), measured);
        assert_true(row_has(row, "forward.gpu.throttle"));
        const char *why = row_reason(row, "forward.gpu.energy_per_graph");
        assert_int_equal(why != NULL, !measured && reason);
        assert_true(!why || strstr(why, reason));
    }
    record_free(record);
    player_close(&p);
}

TEST(test_rows_with_energy)
{
    assert_energy(*state, "", "x.x.x", "the first, the middle and the last row (--energy all)");
    assert_energy(*state, " --energy all", "xxxxx", NULL);
    assert_energy(*state, " --energy no", ".....", NULL);
}

/* What a user does not see in the rows is said once. */
TEST(test_warnings_of_nvml)
{
    static const struct {
        int init_error, error;
        const char *says;
    } cases[] = {{18, 0, "restart the machine"}, {0, 4, "NVML does not answer"}, {0, 0, NULL}};
    gpus = 1;
    for (int i = 0; i < 3; i++) {
        char said[4096];
        struct player p = player_open("whole");
        p.played->init_error = cases[i].init_error;
        p.played->error = cases[i].error;
        run(*state, "--device cuda --nodes 8,12 --phase forward --repetitions 1 --no-check", said);
        const char *line = strstr(said, "warning: clocks, throttling and energy of the GPU are not known: ");
        assert_true(cases[i].says ? line && strstr(line, cases[i].says) : !line);
        assert_true(!line || !strstr(line + 1, "warning: clocks"));
        player_close(&p);
    }
}

GROUP("tests", house_setup, house_teardown)
