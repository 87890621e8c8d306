/*
 * Wrong command lines, each tested by running the program: exit status 2, one line on stderr that names the
 * flag, the value and what is allowed, nothing on stdout, and no files written (tests/refusals.h). Those
 * generated from the table of flags are in test_bad_lines.c.
 */
#include "bench/machine/device.h"
#include "tests/refusals.h"
#include "tests/test.h"

enum { TEXT = 1200 };

/* Valid command lines, to which invalid arguments are added. */
#define BARE     "--runs 3 --warmup 1 "
#define OWN_SIZE "--hidden 16 --heads 2 --layers 1 --output x.json " BARE
#define TINY     "--nodes 8,16 " OWN_SIZE

/* A house with the result of an earlier run, which must not change. */
static int setup_with_result(void **state)
{
    house_setup(state);
    const struct house *h = *state;
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/x.json", h->work);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs("an earlier result\n", file) >= 0 && fclose(file) == 0);
    return 0;
}

/* Arguments appended to a valid line. The message begins with them and a colon, unless `names` is given. */
struct line {
    const char *words, *allowed, *names;
};

static void refuses_lines(const struct house *h, const char *context, const struct line *lines)
{
    for (; lines->words; lines++) {
        char all[TEXT], names[TEXT];
        snprintf(all, sizeof all, "%s%s", context, lines->words);
        snprintf(names, sizeof names, "%s%s", lines->names ? lines->names : lines->words,
                 lines->names ? "" : ": ");
        refuses(h, all, NULL, names, lines->allowed);
    }
}

TEST(test_values)
{
    static const struct line lines[] = {
        {"--nodes --runs", "a whole number", NULL},
        {"--nodes 8,1k-500", "the range 1k-500 runs backwards; write 500-1k*2", NULL},
        {"--nodes 100-500+", "the range 100-500 has no step", NULL},
        {"--nodes 100-500+0", "the step of a range is above 0", NULL},
        {"--nodes 100-500+50x", "a list or range of up to", NULL},
        {"--budget 100us", "seconds, from 0.001 to 1000000", NULL},
        {"--columns step,step.tiem.median", "did you mean step.time.median?", "--columns step.tiem.median: "},
        {"--columns step,", "no such column", "--columns : "},
        {"--act none", "gelu, gelu_tanh, relu", NULL},
        {"--graph file:", "pattern, cluster, NAME:giant, file:PATH, undirected:PATH, unique:PATH, names:PATH",
         NULL},
        {"--graph er,sbm:blok=8", "'blok=8' is no parameter of sbm, which has blocks=4", NULL},
        {"--graph sbm:blocks=8,p_in=2,er", "p_in is '2', must be a number from 0 to 1", NULL},
        {"--graph er,sbm,sbm:blocks=4", "sbm is given twice", NULL},
        {"--graph sbm,blocks=8", "a colon begins the parameters: sbm:blocks=8", NULL},
        {"--graph zinc:rings=1", "'rings=1' is no parameter of zinc, which has none", NULL},
        {"--pe lap", "lap:K[:WIDTH]", NULL},
        {"--pe lap:8:0", "lap:K[:WIDTH]", NULL},
        {"--device cuda:x", device_allowed, NULL},
        {"--plan-for cuda:1", "cpu or cuda", NULL},
        {"--phase forward,", "forward, step", NULL},
        {"--seed 9007199254740993", "a whole number from 0 to", NULL}, /* 2^53 + 1, which is not a double */
        {"--impl linear=magic", "--list ops", NULL},
        {"--find nodes=memory:4", "memory:4GiB", NULL},
        {"--find nodes=latency:4GiB", "latency:100ms", NULL},
        {"--find heads=memory", "nodes, batch, layers or hidden", NULL},
        {"--find attention", "attention=dense,sparse", NULL},
        {"--find encoding=kernel", "or encoding=step", NULL},
        {"--data label=y.csv", "labels=FILE", NULL},
        {"--data labels=", "labels=FILE", NULL},
        {"--data labels=y --data labels=z", "labels is given twice", "--data labels=z: "},
        {"--peaks link=1Gb/s", "as 400Gb/s,2us", NULL},
        {"--peaks measure --peaks measure", "given twice", "--peaks measure: "},
        {"--gate strict,lax", "exact, strict, allow-uncompared", "--gate lax: "},
        {"--against ./nothing", "needs an executable file", NULL},
        {"--baseline nothing.json", "No such file or directory", NULL},
        {NULL, NULL, NULL}};
    refuses_lines(*state, TINY, lines);
}

/* Names of the version before: each is said once; messages have those of today. */
TEST(test_names_before)
{
    static const char said[] = "--turns: now called --repetitions\n",
                      ceilings[] = "--ceilings: now called --peaks\n";
    const char *words = BARE
        "--nodes 8 --output y.json --device meta --turns 3 --ceilings peak=1TFLOP/s,dram=1TB/s --columns "
        "step.time.turns,forward.predicted.ceilings --format csv";
    struct ended e = program_run(*state, words, NULL);
    assert_true(strstr(e.err, said) && strstr(e.err, ceilings));
    assert_true(strstr(e.out, "step.time.repetitions,forward.predicted.peaks\n"));
    ended_free(&e);
    refuses(*state, TINY "--turns 0", NULL, "--repetitions 0: ", "a whole number from 1 to 1000");
    refuses(*state, TINY "--turns 2 --repetitions 2", NULL, "--repetitions: given twice", NULL);
    refuses(*state, TINY "--turn 2", NULL, "--turn: no such flag", NULL);
}

TEST(test_files)
{
    static const struct line lines[] = {
        {"--output no-such-directory/x.json", "No such file or directory", NULL},
        {"--output .", "not a regular file", NULL},
        {"--output /dev/null", "not a regular file", NULL},
        {"--output /proc/x", "cannot be written", NULL},
        {"--output x.json/y.json", "Not a directory", NULL},
        {"--trace /nonexistent/t.json", "No such file or directory", NULL},
        {"-o .", "not a regular file", "--output .: "},
        {"--output rows.csv", "--format csv >rows.csv", NULL},
        {"--graph file:no-such-file", "No such file or directory", NULL},
        {"--graph file:.", "is a directory", NULL},
        {"--graph file:x.json", "x.json: the file has no edges, but words", NULL},
        {NULL, NULL, NULL}};
    refuses_lines(*state, BARE, lines);
}

/* Flags that are valid alone but not together: the message names them. */
TEST(test_combinations)
{
    static const struct line lines[] = {
        {"--model gin --mpnn none", "a layer needs attention or message passing",
         "--model gin --attention none --mpnn none"},
        {"--hidden 10 --heads 4", "heads must divide hidden", "--heads 4 --hidden 10"},
        {"--hidden 16 --heads 2,3", "must divide", "--heads 3 --hidden 16: "},
        {"--hidden 16 --heads 2 --pe none,rwse:4", "width must be less than the hidden size",
         "--hidden 16 --pe rwse:4:16: "},
        {"--nodes 1-1000+1 --layers 1-1000+1", "100000", "combinations"},
        {"--nodes 8 --graph file:x", "the file determines", "--graph file:x --nodes: "},
        {"--nodes 8 --graph zinc", "the stand-in determines", "--graph zinc --nodes: "},
        {"--nodes 8 --preset zinc", "the stand-in determines", "--preset zinc --nodes: "},
        {"--degree 8 --preset pcqm4m-small,zinc", "unless --graph names", "--preset pcqm4m-small --degree: "},
        {"--degree 8 --graph mnist:giant", "the stand-in determines", "--graph mnist:giant --degree: "},
        {"--graph er,zinc", "needs a run of its own", "--graph zinc: "},
        {"--find nodes=memory --graph zinc", "graphs from files and stand-ins", "--find: "},
        {"--graph er,file:x", "needs a run of its own", "--graph file:x: "},
        {"--graph er,file:x --batch 5", "the file determines", "--graph file:x --batch: "},
        {"--no-cuda-graph", "only on a GPU", NULL},
        {"--energy all", "only on a GPU", NULL},
        {"--device meta --trace t.json", "not with --device meta", "--trace: "},
        {"--op linear", "bench_kernels times ops", "--op: "},
        {"--output - --format csv", "JSON on stdout", "--output -: "},
        {"--output - --resume", "--output - writes no result file", "--resume: "},
        {"--gate strict", "only with --threshold, --baseline, --against or --find", "--gate: "},
        {"--gate allow-unchecked", "only with --threshold, ", "--gate: "},
        {"--find nodes=memory --nodes 8", "--nodes", "--find: "},
        {"--find nodes=memory --dry-run", "--dry-run", "--find: "},
        {"--find nodes=latency:1s --device meta", "--device meta", "--find: "},
        {"--find nodes=memory:1MiB --device meta --output no/x.json",
         "cannot be written: ", "--output no/x.json: "}, /* before any search begins */
        {"--find attention=dense,sparse --attention dense", "not with --attention", "--find: "},
        {"--find attention=dense", "needs two variants", "--find: "},
        {"--find threads=1,2,3,4,5,6,7", "or up to six", "--find: "},
        {"--find attention=dense,nope", "one or more of", "--find: --attention dense,nope: "},
        {"--find attention=dense,sparse --nodes 8", "with several values", "--find: "},
        {"--find attention=dense,sparse --layers 1,2", "with several values", "--find: "},
        {"--find attention=dense,sparse --hidden 16,32", "one value of every other axis", "--find: "},
        {"--find attention=dense,sparse --resume", "--resume", "--find: "},
        {"--find attention=dense,sparse --find layers=memory", "given twice", "--find: "},
        {"--find attention=dense,sparse --against x", "--against", "--find: "},
        {"--find encoding=step", "needs an encoding (--pe, --bias or --expander)", "--find: "},
        {"--find op=linear,nope", "two different ops", "--find "},
        {"--against /bin/true --output x.json", "--output", "--against: "},
        {"--against /bin/true --threshold latency:1s", "--threshold", "--against: "},
        {"--against /bin/true --format csv", "--format", "--against: "},
        {NULL, NULL, NULL}};
    refuses_lines(*state, BARE, lines);
}

TEST(test_flags_of_other_benchmarks)
{
    static const struct line lines[] = {
        {"--phase step", "times ops, not programs", "--phase: "},
        {"--op lineal", "did you mean linear?", NULL},
        {"--op attention,foo", "each once; foo is none of them", NULL},
        {"--op spmm,linear,spmm", "each once; spmm is there twice", NULL},
        {"--op add,lineal", "lineal is none of them; did you mean linear?", NULL},
        {NULL, NULL, NULL}};
    (void)state;
    void *h;
    house_of(&h, "bench_kernels");
    refuses_lines(h, "", lines);
    house_teardown(&h);
}

/* Encodings and solvers for which the build lacks a library. */
TEST(test_solvers_of_the_build)
{
    static const struct line lapack[] = {{"--pe lap:4", "this build has no LAPACK; rwse:K needs none", NULL},
                                         {"--pe lap-pyg:4", "this build has no LAPACK; rwse:K needs none",
                                          NULL},
                                         {"--solver lapack", "this build has no LAPACK; auto with", NULL},
                                         {"--solver iterative", "this build has no LAPACK; auto with", NULL},
                                         {NULL, NULL, NULL}},
                             arpack[] = {
                                 {"--solver arpack", "this build has no ARPACK; auto and iterative", NULL},
                                 {NULL, NULL, NULL}};
    if (HAVE_LAPACK && HAVE_ARPACK)
        skip();
    refuses_lines(*state, TINY, HAVE_LAPACK ? arpack : lapack);
}

TEST(test_not_flags)
{
    static const struct line lines[] = {{"--nope", "--help", NULL},
                                        {"--nope=3", "--help", "--nope: "},
                                        {"--node 8", "--help", "--node: "},
                                        {"-- stray", "--help", "stray: "},
                                        {"-n 8", "--help", "-n: "},
                                        {"stray words", "--help", "stray: "},
                                        {NULL, NULL, NULL}};
    refuses_lines(*state, TINY, lines);
    refuses(*state, TINY, MORE(""), ": ", "--help");
}

/* Values are shown as given, but can neither break the line nor send control sequences to the terminal. */
TEST(test_strange_values)
{
    static const struct line lines[] = {{"--nodes 8\n16", "a whole number", "--nodes 8?16: "},
                                        {"--runs \033[2J", "a whole number", "--runs ?[2J: "},
                                        {"--output a\nb/x.json", "No such file", "--output a?b/x.json: "},
                                        {"--device gr\xc3\xbc\xc3\x9f", "cpu, ref", NULL},
                                        {NULL, NULL, NULL}};
    refuses_lines(*state, BARE, lines);
}

/* However long a value is, the message says what is allowed. */
TEST(test_long_values)
{
    static const char *const lines[][2] = {
        {"--impl linear=", "--list ops"},
        {"--threshold latency:", "ns, us, ms"},
        {"--output ", "File name too long"},
        {"--trace ", "File name too long"},
        {"--against ", "needs an executable file"},
        {"--baseline ", "File name too long"},
        {"--graph file:", "File name too long"},
        {"--", "no such flag"},
        {"", "not a flag"},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char all[TEXT], nines[1000];
        memset(nines, '9', sizeof nines - 1);
        nines[sizeof nines - 1] = '\0';
        snprintf(all, sizeof all, BARE "%s%s", lines[i][0], nines);
        refuses(*state, all, NULL, "99999", lines[i][1]);
    }
}

/* For an unknown name the nearest existing one is suggested, unless none is close. */
TEST(test_did_you_mean)
{
    static const struct line lines[] = {
        {"--model gsp", "did you mean gps?", NULL},
        {"--model gin,graph_transfomer", "did you mean graph_transformer?", NULL},
        {"--act GE", "did you mean gelu?", NULL},
        {"--device cdua", "did you mean cuda?", NULL},
        {"--device gpu", "did you mean cuda?", NULL},
        {"--columns nodse", "did you mean nodes?", NULL},
        {"--format jsno", "did you mean json?", NULL},
        {"--impl lienar=blas", "did you mean linear?", NULL},
        {"--impl attention+maks=flash", "did you mean attention+mask?", NULL},
        {"--impl linear=reff", "did you mean ref?", NULL},
        {"--noeds 8", "did you mean --nodes?", "--noeds: "},
        {"--list model", "did you mean models?", NULL},
        {NULL, NULL, NULL}};
    refuses_lines(*state, TINY, lines);
    struct ended e = program_run(*state, "--zzz", NULL);
    assert_null(strstr(e.err, "did you mean"));
    ended_free(&e);
}

GROUP("tests", setup_with_result, house_teardown)
