/* cmocka, with the headers that it needs and those of the C library that most tests use. */
#ifndef GTMARK_TESTS_TEST_H
#define GTMARK_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Instead of assert_in_range, which cmocka 2 deprecates for others that cmocka 1 does not have. */
#undef assert_in_range
#define assert_between(value, least, most)                                                                   \
    do {                                                                                                     \
        intmax_t found_ = (intmax_t)(value), least_ = (intmax_t)(least), most_ = (intmax_t)(most);           \
        if (found_ < least_ || found_ > most_)                                                               \
            fail_msg("%s is %jd, not from %jd to %jd", #value, found_, least_, most_);                       \
    } while (0)

/*
 * A test, which runs in its place in the file: TEST(test_it) { ... }. TEST_BETWEEN has a set-up and a
 * tear-down of its own; GROUP gives those of all tests of a file, and their name. A file with a main of its
 * own lists its tests itself.
 */
#define TEST_BETWEEN(name, setup, teardown)                                                                  \
    static void name(void **state);                                                                          \
    __attribute__((constructor)) static void add_##name(void)                                                \
    {                                                                                                        \
        test_add((struct CMUnitTest){#name, name, setup, teardown, NULL}, __LINE__);                         \
    }                                                                                                        \
    static void name(__attribute__((unused)) void **state)
#define TEST(name) TEST_BETWEEN(name, NULL, NULL)
#define GROUP(name, setup, teardown)                                                                         \
    __attribute__((constructor)) static void add_group(void)                                                 \
    {                                                                                                        \
        test_group(name, setup, teardown);                                                                   \
    }
void test_add(struct CMUnitTest test, int line);
void test_group(const char *name, CMFixtureFunction setup, CMFixtureFunction teardown);

/* Whether an environment variable is set and not 0. */
static inline bool env_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value && strcmp(value, "0") != 0;
}

#endif
