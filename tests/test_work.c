/* The work ids of some command lines. If one changes, new results no longer match those of older files. */
#include <unistd.h>

#include "tests/files.h"
#include "tests/sweeps.h"
#include "tests/test.h"

static const struct bench programs = {.name = "test", .axis = AXIS_NODES, .values = "500"};
static const struct bench kernels = {.name = "test", .axis = AXIS_NODES, .values = "500", .kernels = true};

static const struct {
    const struct bench *bench;
    const char *words, *work;
} lines[] = {
    {&programs, "", "f59c734971982a10"},
    {&programs, "--nodes 1000 --layers 2 --hidden 64 --heads 4 --ffn 100 --act relu", "0d7e56024fd6c76a"},
    {&programs, "--nodes 7 --model gin", "e81049a5a115156a"},
    {&programs, "--nodes 7 --model gps_sparse --mpnn none", "68eb9602d4db331a"},
    {&programs, "--nodes 7 --attention unfused --mpnn gin", "f7f8fc658bcfefb3"},
    {&programs, "--nodes 7 --attention none --norm none --pool sum", "a61ee38b67c187ec"},
    {&programs, "--nodes 7 --norm batch --pool max --task node --act gelu_tanh", "4cf7e717c237e781"},
    {&programs, "--nodes 50 --graph er:giant --degree 2.5", "2c18c29a7c4e012f"},
    {&programs, "--nodes 50 --graph rmat --batch 4", "e41a06828c894beb"},
    {&programs, "--nodes 50 --graph sbm", "480d7aca6dc882e3"},
    {&programs, "--nodes 50 --graph sbm:p_in=1e-1,p_out=.01,blocks=4", "480d7aca6dc882e3"},
    {&programs, "--nodes 50 --graph sbm:blocks=8:giant", "a18918c1de5b52f5"},
    {&programs, "--graph mnist --batch 4", "e0325bf0fc579c0d"},
    {&programs, "--nodes 1k --degree 1e2 --batch 2 --seed 7", "e8314135ab0fa71c"},
    {&programs, "--nodes 30 --pe lap:4 --solver iterative --threads 3 --device meta", "2a9cf707a32a668c"},
    {&programs, "--nodes 30 --pe lap-pyg:3:8 --device meta", "5b79a2df8662d210"},
    {&programs, "--nodes 30 --pe rwse:16", "5ee413030ee682c9"},
    {&programs, "--nodes 30 --pe rwse:5:32 --seed 9007199254740991", "3322ff4bf2cb6552"},
    {&programs, "--graph file:graph.txt", "7a936b55d8bee698"},
    {&programs, "--graph undirected:graph.txt --pe rwse:2 --task node", "b8af5d078f070875"},
    {&kernels, "--op linear", "738af60fdb5e823a"},
    {&kernels, "--nodes 64 --op spmm --hidden 32 --heads 2 --pe rwse:4", "4b4532dde6ed4352"},
};

/* The hash of the first row. Nothing is to run: clang's OpenMP leaks where teams of several sizes are tried.
 */
static void work_of(const struct bench *b, const char *words, char work[17])
{
    char dry[512];
    snprintf(dry, sizeof dry, "%s --dry-run", words);
    struct options o = options_of(b, dry);
    memcpy(work, o.plan.list->work, 17);
    options_free(&o);
}

TEST(test_hashes)
{
    char directory[] = "/tmp/gtmark-work-XXXXXX", work[17];
    assert_non_null(mkdtemp(directory));
    assert_int_equal(chdir(directory), 0);
    FILE *out = fopen("graph.txt", "w");
    assert_non_null(out);
    fputs("0 1\n1 2\n2 0\n", out);
    fclose(out);
    int differing = 0;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        work_of(lines[i].bench, lines[i].words, work);
        if (strcmp(work, lines[i].work) != 0) {
            print_error("'%s' is %s, not %s\n", lines[i].words, work, lines[i].work);
            differing++;
        }
    }
    unlink("graph.txt");
    rmdir(directory);
    assert_int_equal(differing, 0);
}

/* How the work is done does not change the hash. */
TEST(test_same_work)
{
    static const char *const same[] = {"--solver iterative --device meta",
                                       "--threads 7",
                                       "--ffn 512",
                                       "--runs 3",
                                       "--device ref",
                                       "--device meta",
                                       "--impl linear=ref",
                                       "--phase step",
                                       "--nodes 500 --layers 6",
                                       "--attention dense",
                                       "--attention unfused",
                                       "--mpnn gin",
                                       "--checkpoint none",
                                       "--model gps_sparse --attention dense"};
    char work[17], other[17];
    work_of(&programs, "", work);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        work_of(&programs, same[i], other);
        if (strcmp(other, work) != 0)
            fail_msg("%s changes the hash", same[i]);
    }
}

/* Every axis changes the hash, except the threads and the solver, and no two change it alike. */
TEST(test_every_axis)
{
    char work[AXES][17], first[17], words[SWEEP_WORDS];
    for (enum axis a = 0; a < AXES; a++) {
        axis_sweep(a, words);
        struct options o = options_of(&programs, words);
        for (int i = 0; i < 2; i++)
            memcpy(i ? work[a] : first, o.plan.list[i].work, 17);
        options_free(&o);
        bool changes = axis_info(a)->work != WORK_NEVER || a == AXIS_MODEL; /* which sets other axes */
        if ((strcmp(first, work[a]) != 0) != changes)
            fail_msg("%s: the hashes are %s and %s", words, first, work[a]);
        for (enum axis b = 0; changes && b < a; b++)
            assert_string_not_equal(work[a], work[b]);
    }
}

/* The contents of a graph file, not its name, define the work. */
TEST(test_work_of_files)
{
    static const char *const texts[] = {"0 1\n", "0 1\n", "0 1\n1 0\n"};
    char work[3][17], path[] = "/tmp/gtmark-bench-XXXXXX", words[64];
    close(mkstemp(path));
    for (int i = 0; i < 3; i++) {
        FILE *out = fopen(path, "w");
        fputs(texts[i], out);
        fclose(out);
        snprintf(words, sizeof words, "--graph file:%s", path);
        work_of(&programs, words, work[i]);
    }
    unlink(path);
    assert_string_equal(work[0], work[1]);
    assert_string_not_equal(work[0], work[2]);
}

/* The same bytes are another graph in another format, and each file of a folder counts. */
TEST(test_work_of_formats)
{
    static const char *const files[] = {"edges", "edges.graph", "edge.csv", "num-node-list.csv",
                                        "num-edge-list.csv"};
    static const char *const graphs[] = {"/edges", "/edges.graph", ""};
    char work[4][17], root[] = "/tmp/gtmark-bench-XXXXXX", path[64], family[64];
    assert_non_null(mkdtemp(root));
    for (size_t i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "%s/%s", root, files[i]);
        write_bytes(path, "1\n", 2);
    }
    for (int i = 0; i < 4; i++) {
        struct config c = {.parts.checkpoint = "none", .graph.family = family};
        snprintf(family, sizeof family, "file:%s%s", root, graphs[i < 3 ? i : 2]);
        if (i == 3)
            write_bytes(path, "0\n", 2);
        config_work(&c, 42, work[i]);
        for (int other = 0; other < i; other++)
            assert_string_not_equal(work[i], work[other]);
    }
    for (size_t i = 0; i < 5; i++) {
        snprintf(path, sizeof path, "%s/%s", root, files[i]);
        unlink(path);
    }
    rmdir(root);
}
