/* Runs the tests that a file has added (TEST in tests/test.h), in the order of its lines. */
#include "tests/test.h"

#include <stdlib.h>

enum { TESTS_MAX = 128 };
static struct group {
    const char *name;
    CMFixtureFunction setup, teardown;
    size_t count;
    struct CMUnitTest tests[TESTS_MAX];
    int lines[TESTS_MAX];
} all = {.name = "tests"};

void test_add(struct CMUnitTest test, int line)
{
    size_t at = all.count++;
    if (at == TESTS_MAX)
        abort();
    for (; at > 0 && all.lines[at - 1] > line; at--) {
        all.tests[at] = all.tests[at - 1];
        all.lines[at] = all.lines[at - 1];
    }
    all.tests[at] = test;
    all.lines[at] = line;
}

void test_group(const char *name, CMFixtureFunction setup, CMFixtureFunction teardown)
{
    all.name = name;
    all.setup = setup;
    all.teardown = teardown;
}

/* As run.sh: a benchmark that runs within a test would start the test's program again, for another way of
 * waiting. */
__attribute__((constructor)) static void keep_waiting(void)
{
    setenv("OMP_WAIT_POLICY", "passive", 0);
}

__attribute__((weak)) int main(void)
{
    return _cmocka_run_group_tests(all.name, all.tests, all.count, all.setup, all.teardown);
}
