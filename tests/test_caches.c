/* Cache sizes from a synthetic tree like /sys/devices/system/cpu. */
#include "bench/machine/caches.h"
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
