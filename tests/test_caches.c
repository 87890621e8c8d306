/* Cache sizes, kinds and names of processors from synthetic trees like /sys and /proc. */
#include "bench/base/kinds.h"
#include "bench/machine/caches.h"
#include "bench/machine/processor.h"
#include "tests/test.h"

#include <sched.h>

/* Lists of processors for shared and for private caches. */
#define ALL  "0-1,2-1023"
#define NONE ""

struct planted {
    const char *type, *level, *size, *shared;
};

static void run(const char *command)
{
    assert_int_equal(system(command), 0);
}

/* Creates these caches, and no others, for the first processor that the tests may use. */
static void plant(const char *root, const struct planted *caches, int count)
{
    cpu_set_t granted;
    sched_getaffinity(0, sizeof granted, &granted);
    int cpu = 0;
    while (!CPU_ISSET((size_t)cpu, &granted))
        cpu++;
    char command[512];
    snprintf(command, sizeof command, "rm -rf %s/cpu*", root);
    run(command);
    for (int i = 0; i < count; i++) {
        snprintf(
            command, sizeof command,
            "mkdir -p %s/cpu%d/cache/index%d && cd %s/cpu%d/cache/index%d && echo %s >type && echo %s >level "
            "&& echo %s >size && echo '%s' >shared_cpu_list",
            root, cpu, i, root, cpu, i, caches[i].type, caches[i].level, caches[i].size, caches[i].shared);
        run(command);
    }
}

static int make_root(void **state)
{
    char *root = malloc(64);
    *state = root;
    snprintf(root, 64, "/tmp/gtmark-caches-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", (char *)*state);
    free(*state);
    return system(command);
}

TEST_BETWEEN(test_shared, make_root, remove_root)
{
    const struct planted caches[] = {{"Data", "1", "32K", ALL},
                                     {"Instruction", "1", "32K", ALL},
                                     {"Unified", "2", "1024K", ALL},
                                     {"Unified", "3", "32768K", ALL}};
    plant(*state, caches, 4);
    for (int threads = 1; threads <= 3; threads++) {
        struct caches c = caches_find(*state, threads);
        assert_int_equal(c.l2, 1 << 20);
        assert_int_equal(c.llc, 32 << 20);
    }
}

TEST_BETWEEN(test_private, make_root, remove_root)
{
    const struct planted caches[] = {{"Unified", "2", "2M", NONE}, {"Unified", "3", "64G", ALL}};
    cpu_set_t granted;
    sched_getaffinity(0, sizeof granted, &granted);
    plant(*state, caches, 2);
    assert_int_equal(caches_find(*state, 1).l2, 2 << 20);
    assert_int_equal(caches_find(*state, 100000).l2, (int64_t)(2 << 20) * CPU_COUNT(&granted));
    assert_int_equal(caches_find(*state, 100000).llc, INT64_C(64) << 30);
}

TEST_BETWEEN(test_missing, make_root, remove_root)
{
    const struct planted small[] = {{"Unified", "2", "2M", ALL}, {"Unified", "3", "2M", ALL}};
    plant(*state, small, 2);
    assert_int_equal(caches_find(*state, 1).llc, 0); /* it adds nothing to the second level */
    plant(*state, small, 1);
    assert_int_equal(caches_find(*state, 1).l2, 2 << 20);
    assert_int_equal(caches_find(*state, 1).llc, 0);
    plant(*state, NULL, 0);
    assert_int_equal(caches_find(*state, 1).l2, 0);
    assert_int_equal(caches_find(*state, 1).llc, 0);
}

/* A machine of these lists of Intel's, or of these capacities from processor 0 on; null: none. */
static void plant_kinds(const char *root, const char *core, const char *atom, const int *capacity, int count)
{
    char command[512];
    snprintf(command, sizeof command, "rm -rf %s/devices && mkdir -p %s/devices/system/cpu", root, root);
    run(command);
    const char *const lists[][2] = {{"core", core}, {"atom", atom}};
    for (int i = 0; i < 2 && lists[i][1]; i++) {
        snprintf(command, sizeof command, "mkdir %s/devices/cpu_%s && echo %s >%s/devices/cpu_%s/cpus", root,
                 lists[i][0], lists[i][1], root, lists[i][0]);
        run(command);
    }
    for (int i = 0; i < count; i++) {
        snprintf(command, sizeof command,
                 "mkdir %s/devices/system/cpu/cpu%d && echo %d >%s/devices/system/cpu/cpu%d/cpu_capacity",
                 root, i, capacity[i], root, i);
        run(command);
    }
}

/* Of these processors those are kept, which are of this kind. */
static void expect_kept(const char *root, const char *of, const char *kept, const char *kind)
{
    cpu_set_t set, wanted;
    char name[KIND_NAME];
    kinds_list(of, &set);
    kinds_list(kept, &wanted);
    assert_int_equal(kinds_fastest(root, &set, name), strcmp(of, kept) == 0);
    assert_true(CPU_EQUAL(&set, &wanted));
    assert_string_equal(name, kind);
}

TEST_BETWEEN(test_kinds, make_root, remove_root)
{
    static const int big_little[] = {446, 446, 871, 871, 1024}, alike[] = {1024, 1024};
    plant_kinds(*state, "0-3", "4-11", NULL, 0);
    expect_kept(*state, "0-11", "0-3", "cpu_core");
    expect_kept(*state, "2-5,8", "2-3", "cpu_core");
    expect_kept(*state, "1", "1", "cpu_core");
    expect_kept(*state, "4-7", "4-7", "cpu_atom");
    plant_kinds(*state, "0-1", NULL, NULL, 0);
    expect_kept(*state, "0-1", "0-1", "");
    plant_kinds(*state, NULL, NULL, big_little, 5);
    expect_kept(*state, "0-4", "4", "cpu_capacity 1024");
    expect_kept(*state, "0-3", "2-3", "cpu_capacity 871");
    expect_kept(*state, "0-1", "0-1", "cpu_capacity 446");
    plant_kinds(*state, NULL, NULL, alike, 2);
    expect_kept(*state, "0-1", "0-1", "");
    plant_kinds(*state, NULL, NULL, NULL, 0);
    expect_kept(*state, "0-1023", "0-1023", "");
}

/* As boards of ARM describe them. */
TEST_BETWEEN(test_arm, make_root, remove_root)
{
    const struct planted grace[] = {{"Data", "1", "64K", NONE},
                                    {"Instruction", "1", "64K", NONE},
                                    {"Unified", "2", "1024K", NONE},
                                    {"Unified", "3", "116736K", ALL}};
    const struct planted a64fx[] = {
        {"Data", "1", "64K", NONE}, {"Instruction", "1", "64K", NONE}, {"Unified", "2", "8192K", ALL}};
    plant(*state, grace, 4);
    assert_int_equal(caches_find(*state, 1).l2, 1 << 20);
    assert_int_equal(caches_find(*state, 1).llc, 114 << 20);
    plant(*state, a64fx, 3);
    assert_int_equal(caches_find(*state, 2).l2, 8 << 20);
    assert_int_equal(caches_find(*state, 2).llc, 0);
}

/* The name where a file under the root has this text. */
static void expect_name(const char *root, const char *path, const char *text, const char *name)
{
    char command[512], found[64];
    snprintf(command, sizeof command, "mkdir -p $(dirname %s%s) && printf '%s' >%s%s", root, path, text, root,
             path);
    run(command);
    processor_name(root, found, sizeof found);
    assert_string_equal(found, name);
}

TEST_BETWEEN(test_names, make_root, remove_root)
{
    static const char cpuinfo[] = "/proc/cpuinfo",
                      midr[] = "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1";
    char name[64];
    processor_name(*state, name, sizeof name);
    assert_string_equal(name, "unknown");
    expect_name(*state, cpuinfo, "processor\\t: 0\\nBogoMIPS\\t: 50.00\\n", "unknown");
    expect_name(*state, cpuinfo, "model name\\t: Intel(R) Xeon(R)\\nflags\\t: fpu\\n", "Intel(R) Xeon(R)");
    expect_name(*state, cpuinfo,
                "processor\\t: 0\\nCPU implementer\\t: 0x41\\nCPU architecture: 8\\nCPU variant\\t: 0x0\\n"
                "CPU part\\t: 0xd4f\\nCPU revision\\t: 0\\n",
                "Neoverse V2");
    expect_name(*state, cpuinfo, "CPU implementer\\t: 0x46\\nCPU part\\t: 0x001\\n", "Fujitsu A64FX");
    expect_name(*state, cpuinfo, "CPU implementer\\t: 0x41\\nCPU part\\t: 0xfff\\n",
                "ARM implementer 0x41, part 0xfff");
    expect_name(*state, midr, "0x00000000413fd0c1\\n", "Neoverse N1");
    expect_name(*state, midr, "0x00000000611f0230\\n", "Apple M1");
    expect_name(*state, midr, "0x00000000c00fac30\\n", "AmpereOne");
}
