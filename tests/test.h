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

#endif
