/* The work hashes of some command lines. If one changes, new results no longer match those of older files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/cli/command_line.h"
#include "bench/cli/config.h"

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
    {&programs, "--nodes 1k --degree 1e2 --batch 2 --seed 7", "e8314135ab0fa71c"},
    {&programs, "--nodes 30 --pe lap:4 --solver iterative --threads 3", "2a9cf707a32a668c"},
    {&programs, "--nodes 30 --pe lap-pyg:3:8", "5b79a2df8662d210"},
    {&programs, "--nodes 30 --pe rwse:16", "5ee413030ee682c9"},
    {&programs, "--nodes 30 --pe rwse:5:32 --seed 9007199254740991", "3322ff4bf2cb6552"},
    {&programs, "--graph file:graph.txt", "7a936b55d8bee698"},
    {&programs, "--graph undirected:graph.txt --pe rwse:2 --task node", "b8af5d078f070875"},
    {&kernels, "--op linear", "738af60fdb5e823a"},
    {&kernels, "--nodes 64 --op spmm --hidden 32 --heads 2 --pe rwse:4", "4b4532dde6ed4352"},
};

/* The hash of the first row; words are split at blanks. */
static void work_of(const struct bench *b, const char *words, char work[17])
{
    char text[256], *rest = text, *argv[32] = {text};
    int argc = 1;
    struct options o;
    struct message error;
    snprintf(text, sizeof text, "%s", words);
    for (char *word; argc < 31 && (word = strsep(&rest, " ")) != NULL;)
        if (*word)
            argv[argc++] = word;
    if (!options_parse(b, argc, argv, &o, &error))
        fail_msg("%s: %s", words, error.text);
    struct config c = config_at(&o, 0);
    config_work(&c, o.seed, work);
    options_free(&o);
}

static void test_hashes(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hashes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
