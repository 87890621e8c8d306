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

/* Whether an environment variable is set and not 0. */
static inline bool env_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value && strcmp(value, "0") != 0;
}

#endif
