/*
 * The CUDA backend, as far as it can be tested without a GPU: no op falls back to the reference, and what
 * needs an op without a kernel is refused; scratch sizes depend on shapes alone, and whole programs can be
 * planned; the command line prints one line if there is no GPU, or no CUDA in the build. The former tests are
 * skipped in builds without CUDA, the latter on machines with a GPU.
 */
#include "bench/audit/operands.h"
#include "models/layers/model.h"
#include "tests/batches.h"
#include "tests/refusals.h"
#include "tests/test.h"

/* Null in a build without CUDA; any other reason fails the test. */
static const struct backend *cuda(void)
{
    char why[256];
    const struct backend *b = backend_cuda(why, sizeof why);
    if (!b && HAVE_CUDA)
        fail_msg("%s", why);
    return b;
}

/* Prints, without failing, which ops have no kernel, without options and with each. */
TEST(test_rows)
{
    const struct backend *b = cuda();
    if (!b)
        skip();
    assert_null(b->base);
    for (int i = 0; form_at(i).op < OPS; i++) {
        struct form f = form_at(i);
        bool usual = __builtin_popcount(f.options) <= 1 && !op_info(f.op)->host;
        if (usual && !backend_form_kernel(b, f.op, f.options, F32, NULL))
            print_message("cuda has no kernel for %s\n", form_name(f));
    }
    for (int i = 0; i < b->count; i++) {
        const struct kernel *k = &b->kernels[i];
        assert_ptr_equal(backend_kernel(b, k->op, k->dtype, k->variant), k);
    }
}

/* Message passing of any kind is listed, even without a GPU, or refused in one line. */
TEST(test_missing_kernels)
{
    const struct backend *b = cuda();
    if (!b)
        skip();
    for (enum mpnn_kind kind = MPNN_NONE + 1; kind < MPNN_KINDS; kind++) {
        struct model_config c = {.layers = 1, .hidden = 12, .heads = 3, .ffn = 12, .mpnn = kind};
        const char *missing = program_missing(PROGRAM_STEP, &c, b);
        char words[128], says[160];
        snprintf(words, sizeof words, "--device cuda --list tape --nodes 8 --model gin --mpnn %s",
                 mpnn_name(kind));
        snprintf(says, sizeof says, "--device cuda --mpnn %s: that device has no kernel for %s;",
                 mpnn_name(kind), missing ? missing : "");
        if (missing)
            refuses(*state, words, NULL, says, "possible there: --mpnn ");
        else
            assert_ends(*state, words, 0, "layer1", "");
    }
}

/* For every case of a sample: scratch sizes without data are the same, and not negative. */
static int check_scratch(const struct kernel *k, const struct sample *base)
{
    static struct sample cases[CASES_MAX];
    int count = operands_cases(base, true, cases), checked = 0;
    for (int c = 0; c < count; c++) {
        struct operands *o = operands_new(&cases[c], F32);
        if (!o || !kernel_supports(k, op_options(k->op, &o->args))) {
            operands_free(o);
            continue;
        }
        int64_t with_data = k->scratch(&o->args);
        const struct op_info *info = op_info(k->op);
        for (int i = 0; i < info->operand_count; i++)
            if (operand_is_mat(&info->operands[i]))
                operand_mat(&info->operands[i], &o->args)->data = NULL;
        if (k->scratch(&o->args) != with_data || with_data < 0)
            fail_msg("%s %s: %lld bytes of scratch without data, %lld with", info->name, k->variant,
                     (long long)k->scratch(&o->args), (long long)with_data);
        checked++;
        operands_free(o);
    }
    return checked;
}

TEST(test_scratch_needs_shapes_alone)
{
    const struct backend *b = cuda();
    if (!b)
        skip();
    static const int64_t shapes[][DIMS] = {{1, 2, 1, 1, 1, 1, 1, 1, 0}, {1, 2, 67, 129, 40, 5, 4, 333, 0}};
    for (int i = 0; i < b->count; i++) {
        int checked = 0;
        for (int s = 0; s < 2 && b->kernels[i].scratch; s++) {
            struct sample base = {.op = b->kernels[i].op, .seed = 1};
            memcpy(base.dims, shapes[s], sizeof base.dims);
            checked += check_scratch(&b->kernels[i], &base);
        }
        if (b->kernels[i].scratch && !checked) /* linear attention has no sample of the first shape */
            fail_msg("%s: no sample", op_info(b->kernels[i].op)->name);
    }
}

/* Nothing is laid out, but all scratch sizes are known and aligned. */
static void expect_planned(const struct backend *b, const struct batch *batch, const struct model *m,
                           const char *pe)
{
    struct model_config c = {.layers = 1,
                             .hidden = 256,
                             .heads = 8,
                             .ffn = 512,
                             .act = ACT_GELU,
                             .attention = m->attention,
                             .mpnn = m->mpnn};
    struct tape_config t = {.backend = b, .dtype = F32, .threads = 1, .seed = 1};
    assert_true(encoding_parse(pe, &c.pe));
    struct recording r = program_record(PROGRAM_STEP, &c, batch, NULL, t);
    const struct plan *p = tape_plan(r.tape);
    assert_true(p->arena > batch->adj.nodes * 256 * 4);
    assert_int_equal(p->arena % b->device->alignment, 0);
    for (int e = 0; e < tape_entry_count(r.tape); e++)
        assert_true(tape_entry(r.tape, e)->scratch.cols >= 0);
    tape_free(r.tape);
}

/* Programs with more than 2^31 elements; with encodings, in the matrix of eigenpairs alone. */
TEST(test_programs_are_planned)
{
    const struct backend *b = cuda();
    if (!b)
        skip();
    static const char *const encodings[] = {"none", "rwse:20", "lap:8", "lap-pyg:10:32"};
    struct graph_config g = {.family = "er", .nodes = 20000000, .degree = 5, .graphs = 1, .seed = 1};
    struct batch batch;
    char error[256];
    assert_true(batch_shape(&batch, &g, error, sizeof error));
    for (const struct model *m = models; m->name; m++)
        for (size_t e = 0; e < sizeof encodings / sizeof *encodings; e++)
            expect_planned(b, &batch, m, encodings[e]);
    batch_free(&batch);
}

static int gpus(void)
{
    char why[256];
    const struct backend *b = backend_cuda(why, sizeof why);
    return b ? b->device->count(why, sizeof why) : 0;
}

TEST(test_no_gpu_is_one_line)
{
    if (gpus() > 0)
        skip();
    const char *why =
        HAVE_CUDA ? "no usable GPU: " : "built without CUDA, as `make probe` explains: make DEVICE=cuda";
    char says[100];
    snprintf(says, sizeof says, "--device cuda: %s", why);
    refuses(*state, "--device cuda --nodes 8 --output x.json", NULL, says, NULL);
    snprintf(says, sizeof says, "--device cuda:3: %s", why);
    refuses(*state, "--device cuda:3 --nodes 8 --output x.json", NULL, says, NULL);
    snprintf(says, sizeof says, "--device cuda:all: %s", why);
    refuses(*state, "--device cuda:all --nodes 8 --output x.json", NULL, says, NULL);
}

TEST(test_devices_are_listed)
{
    struct ended e = program_run(*state, "--list devices", NULL);
    assert_int_equal(e.status, 0);
    assert_string_equal(e.err, "");
    assert_int_equal(strncmp(e.out, "cpu ", 4), 0);
    assert_non_null(strstr(e.out, gpus() > 0 ? "\ncuda:0 " : "\ncuda     none: "));
    assert_null(strstr(e.out, " 0.00 Hz")); /* reported by drivers for unknown clocks */
    ended_free(&e);
}

#define EIGHT "--device cuda --list tape --nodes 8 --heads 4 "

/* Heads too wide for the CUDA attention are refused even without a GPU, and accepted on other devices. */
TEST(test_wide_heads_are_one_line)
{
    if (!cuda())
        skip();
    static const char *const good[] = {EIGHT "--hidden 512", EIGHT "--hidden 516 --attention unfused",
                                       EIGHT "--hidden 516 --attention sparse"};
    refuses(*state, EIGHT "--hidden 516", NULL, "--device cuda --hidden 516 --heads 4: heads of 129 columns",
            NULL);
    for (int i = 0; i < 3; i++) {
        struct ended e = program_run(*state, good[i], NULL);
        assert_int_equal(e.status, 0);
        ended_free(&e);
    }
}

/* Tapes for a GPU can be listed without one. */
TEST(test_tapes_are_listed)
{
    if (!cuda())
        skip();
    static const char *const words[] = {
        "--device cuda --list tape --nodes 8", "--device cuda:all --list tape --nodes 8",
        "--device cuda --list tape --nodes 8 --pe rwse:4", "--device cuda --list tape --nodes 8 --pe lap:4"};
    for (int i = 0; i < 4; i++) {
        struct ended e = program_run(*state, words[i], NULL);
        assert_int_equal(e.status, 0);
        assert_non_null(strstr(e.out, "layer6.ffn.down"));
        ended_free(&e);
    }
}

GROUP("tests", house_setup, house_teardown)
