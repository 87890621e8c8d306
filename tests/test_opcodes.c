/* FLOPs of instructions, and the parser of profiles. */
#include "bench/flops/disassembly.h"
#include "tests/test.h"

TEST(test_opcodes)
{
    static const struct {
        const char *line;
        int flops, register_bytes;
    } cases[] = {
        {"    1149:\taddss  %xmm0,%xmm1", 1, 16},
        {"    1149:\tmulsd  0x8(%rsp),%xmm1", 1, 16},
        {"    1149:\tsubps  %xmm0,%xmm1", 4, 16},
        {"    1149:\tdivpd  %xmm0,%xmm1", 2, 16},
        {"    1149:\tsqrtsd %xmm0,%xmm0", 1, 16},
        {"    1149:\tvsqrtps %ymm0,%ymm0", 8, 32},
        {"    1149:\tvaddpd (%rax,%rcx,8),%ymm0,%ymm0", 4, 32},
        {"    1149:\tvfmadd231ps (%rax),%ymm1,%ymm2", 16, 32},
        {"    1149:\tvfnmadd132ss %xmm0,%xmm1,%xmm2", 2, 16},
        {"    1149:\tvfmaddsub213pd %xmm0,%xmm1,%xmm2", 4, 16},
        {"    1149:\tvfmsub231pd %zmm0,%zmm1,%zmm2{%k1}{z}", 16, 64},
        {"    1149:\tvmulps (%rax){1to16},%zmm1,%zmm2", 16, 64},
        {"    1149:\t{evex} vaddps %ymm0,%ymm1,%ymm2", 8, 32},
        {"    1149:\tvaddph %xmm0,%xmm1,%xmm2", 8, 16},
        {"    1149:\thaddps %xmm0,%xmm1", 4, 16},
        {"    1149:\tvhsubpd %ymm0,%ymm1,%ymm2", 4, 32},
        {"    1149:\tvaddsubps %ymm0,%ymm1,%ymm2", 8, 32},
        {"    1149:\tdpps   $0xf1,%xmm0,%xmm1", 8, 16},
        {"    1149:\tvrcpps %ymm0,%ymm1", 8, 32},
        {"    1149:\tvrsqrt14ps %zmm0,%zmm1", 16, 64},
        {"    1149:\tfaddp  %st,%st(1)", 1, 0},
        {"    1149:\tfmull  0x10(%rsp)", 1, 0},
        {"    1149:\tfsubrp %st,%st(1)", 1, 0},
        {"    1149:\tfidivs (%rax)", 1, 0},
        {"    1149:\tfsqrt", 1, 0},
        {"    1149:\tfxch   %st(1)", 0, 0},
        {"    1149:\tadd    $0x8,%rax", 0, 0},
        {"    1149:\timul   %rcx,%rax", 0, 0},
        {"    1149:\tvpaddd %ymm0,%ymm1,%ymm2", 0, 32},
        {"    1149:\tpsubsw %xmm0,%xmm1", 0, 16},
        {"    1149:\tvmaxps %ymm0,%ymm1,%ymm2", 0, 32},
        {"    1149:\tvcmpltps %ymm0,%ymm1,%ymm2", 0, 32},
        {"    1149:\tucomisd %xmm0,%xmm1", 0, 16},
        {"    1149:\tvcvtps2pd %xmm0,%ymm1", 0, 32},
        {"    1149:\tvroundps $0x1,%ymm0,%ymm1", 0, 32},
        {"    1149:\tvandnps %ymm0,%ymm1,%ymm2", 0, 32},
        {"    1149:\tvmovaps %ymm0,(%rdi)", 0, 32},
        {"    1149:\tvblendvps %ymm0,%ymm1,%ymm2,%ymm3", 0, 32},
        {"    1149:\tvextractf128 $0x1,%ymm0,%xmm1", 0, 32},
        {"    1149:\tret", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t address = 0;
        const char *instruction = opcode_in_line(cases[i].line, &address);
        assert_non_null(instruction);
        assert_int_equal(address, 0x1149);
        struct opcode o = opcode_of(instruction);
        if (o.flops != cases[i].flops || o.register_bytes != cases[i].register_bytes)
            fail_msg("%s: %d FLOPs in registers of %d bytes", instruction, o.flops, o.register_bytes);
    }
    uint64_t address;
    assert_null(opcode_in_line("0000000000001149 <main>:", &address));
    assert_null(opcode_in_line("Disassembly of section .text:", &address));
    assert_null(opcode_in_line("\n", &address));
}

static bool read_text(const char *text, struct executions *e, struct message *error)
{
    FILE *in = tmpfile();
    assert_non_null(in);
    fputs(text, in);
    rewind(in);
    *e = (struct executions){0};
    bool good = callgrind_read(in, 0, e, error);
    fclose(in);
    executions_sort(e);
    return good;
}

/*
 * A main with two calls of a library, inlined code, names first given by a callee, and all forms of
 * positions.
 */
#define HEAD                                                                                                 \
    "# callgrind format\nversion: 1\ncmd:  ./a --x=1\n\ndesc: I1 cache: \n\npositions: instr line\nevents: " \
    "Ir\n"
#define BODY                                                                                                 \
    "\nob=(1) /home/a b/a.out\nfl=(1) a.c\nfn=(1) main\n0x1149 3 1\n+4 3 1\ncob=(7) "                        \
    "/lib/libx.so.1\ncfi=(2) x.c\n"                                                                          \
    "cfn=(2) twice\ncalls=2 0x2000 10\n* * 30\n* 4 5\nfi=(3) a.h\n-2 9 2\nfe=(1)\n0x1149 3 6\n+16 8\n\n"     \
    "ob=(7)\nfn=(2)\n0x2000 10 20\n+0x10 +1 10\n\nob=(1)\nfn=(3) other\n0x1100 1 4\n"

TEST(test_profile)
{
    static const struct execution wanted[] = {{1, 0x1100, 0, 4}, {1, 0x1149, 0, 7},  {1, 0x114b, 0, 2},
                                              {1, 0x114d, 0, 6}, {7, 0x2000, 0, 20}, {7, 0x2010, 0, 10}};
    struct executions e;
    struct message error = {""};
    bool good = read_text(HEAD BODY "\ntotals: 49\n", &e, &error);
    assert_string_equal(error.text, "");
    assert_true(good);
    assert_int_equal(e.count, sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < e.count; i++) {
        assert_int_equal(e.list[i].object, wanted[i].object);
        assert_int_equal(e.list[i].address, wanted[i].address);
        assert_int_equal(e.list[i].count, wanted[i].count);
    }
    assert_string_equal(e.objects[1], "/home/a b/a.out");
    assert_string_equal(e.objects[7], "/lib/libx.so.1");
    executions_free(&e);
}

TEST(test_profile_refused)
{
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"", "the total is -1"},
        {HEAD BODY, "sum to 49, but the total is -1"},
        {HEAD BODY "totals: 79\n", "sum to 49, but the total is 79"},
        {HEAD "0x1149 3 1\n", "line 9: unexpected: 0x1149 3 1"},
        {HEAD "ob=(4)\n", "unexpected: ob=(4)"},
        {HEAD "ob=(-1) /a\n", "unexpected: ob=(-1) /a"},
        {HEAD "ob=(1) /a\njump=1 0x30 1\n", "unexpected: jump"},
        {HEAD "ob=(1) /a\n+ 1 1\n", "unexpected: + 1 1"},
        {"positions: line\n", "unexpected: positions: line"},
        {"events: Dr Ir\n", "unexpected: events: Dr Ir"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct executions e;
        struct message error = {""};
        assert_false(read_text(cases[i].text, &e, &error));
        if (!strstr(error.text, cases[i].reason))
            fail_msg("%s\nnot: %s", error.text, cases[i].reason);
    }
}

TEST(test_nothing_is_left_out)
{
    char *objects[] = {"???", "/nowhere/to/be/found"};
    struct execution list[] = {{0, 0x1000, 0, 5}, {1, 0x1000, 0, 1}};
    struct executions stray = {objects, 1, list, 1}, lost = {objects, 2, list, 2},
                      none = {objects, 0, list, 0};
    struct executed_flops flops;
    struct message error = {""};
    assert_true(disassembly_flops(&none, 1, &flops, &error));
    assert_int_equal(flops.flops, 0);
    assert_false(disassembly_flops(&stray, 1, &flops, &error));
    assert_non_null(strstr(error.text, "5 executed instructions belong to no file"));
    assert_false(disassembly_flops(&lost, 1, &flops, &error));
    assert_non_null(strstr(error.text, "objdump"));
}
