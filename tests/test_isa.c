/*
 * Instruction sets: one is chosen only where the processor has each instruction that its kernels may use, and
 * the system keeps the registers, as simulated processors show, which lack one of them; GTMARK_ISA names one
 * that there is.
 */
#include "kernels/backend.h"
#include "kernels/cpu/instructions.h"
#include "tests/records.h"
#include "tests/refusals.h"
#include "tests/test.h"
#include "tests/values.h"

#define PLACE(name, leaf, reg, bit) {#name, leaf, reg, bit},
static const struct place {
    const char *name;
    uint32_t leaf;
    int reg, bit;
} places[] = {INSTRUCTIONS(PLACE)};
enum { PLACES = sizeof places / sizeof *places };

static const struct place *lacking;

static uint32_t read_simulated(uint32_t leaf, int reg)
{
    return leaf == lacking->leaf && reg == lacking->reg ? ~(1u << lacking->bit) : UINT32_MAX;
}

static bool is_needed(const unsigned char *needs, const struct place *p)
{
    for (int i = 0; i < PLACES; i++)
        if (needs[i] && places[i].leaf == p->leaf && places[i].reg == p->reg && places[i].bit == p->bit)
            return true;
    return false;
}

/* Whether kernels of this set may use what `name` names. */
static bool uses(const struct backend *b, const char *name)
{
    for (int i = 0; i < PLACES; i++)
        if (b->needs[i] && strcmp(places[i].name, name) == 0)
            return true;
    return false;
}

TEST(test_simulated)
{
    static const struct place none = {"", 0, 0, 0};
    for (const struct backend *const *b = backend_cpu_all(); *b; b++) {
        lacking = &none;
        assert_true(instructions_suffice((*b)->needs, read_simulated));
        for (lacking = places; lacking < places + PLACES; lacking++)
            assert_int_equal(instructions_suffice((*b)->needs, read_simulated),
                             !is_needed((*b)->needs, lacking));
        static const char *const v3[] = {"AVX", "AVX2", "BMI", "BMI2", "F16C", "FMA", "LZCNT", "MOVBE"};
        for (size_t i = 0; i < sizeof v3 / sizeof *v3; i++)
            assert_int_equal(uses(*b, v3[i]), uses(*b, "AVX2"));
        if (strcmp((*b)->name, "cpu-avx2") == 0)
            assert_true(uses(*b, "AVX2") && !uses(*b, "AVX512F"));
        if (strcmp((*b)->name, "cpu-avx512") == 0)
            assert_true(uses(*b, "AVX2") && uses(*b, "AVX512F") && uses(*b, "AVX512VL"));
        assert_int_equal(uses(*b, "AMX_TILE") && uses(*b, "AMX_BF16") && uses(*b, "AVX512F"),
                         strcmp((*b)->name, "cpu-amx") == 0);
    }
}

#define SMALL "--device meta --nodes 20 --hidden 8 --heads 1 --layers 1 --phase forward "

TEST(test_named)
{
    static const char *const bad[] = {"foo", "avx", "avx22", "AVX2", "cpu-base", "base,avx2"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char line[64];
        snprintf(line, sizeof line, "GTMARK_ISA=%s: this build and processor have ", bad[i]);
        setenv("GTMARK_ISA", bad[i], 1);
        refuses(*state, SMALL, NULL, line, "base");
        unsetenv("GTMARK_ISA");
    }
    const struct backend *const *all = backend_cpu_all();
    for (int i = 0; all[i]; i++) {
        setenv("GTMARK_ISA", strchr(all[i]->name, '-') + 1, 1);
        assert_ptr_equal(backend_cpu(), all[i]);
        struct record *record = run_json(*state, SMALL, 0);
        unsetenv("GTMARK_ISA");
        assert_string_equal(text_in(value_get(record_head(record), "host"), "instruction_set"), all[i]->doc);
        record_free(record);
    }
    setenv("GTMARK_ISA", "", 1);
    assert_ptr_equal(backend_cpu(), all[0]);
    unsetenv("GTMARK_ISA");
}

GROUP("tests", house_setup, house_teardown)
