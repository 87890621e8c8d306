/* Programs under valgrind, for tests that run themselves there. */
#ifndef GTMARK_TESTS_EXECUTED_H
#define GTMARK_TESTS_EXECUTED_H

#include <stdbool.h>

#include "bench/flops/executed.h"

/* Skips the test where valgrind or objdump is missing, and in sanitized programs, which valgrind cannot run.
 */
void needs_valgrind(void);

/* Fails if a child of this process is left. */
void assert_no_child(void);

/* Counts the run in a directory of its own, and checks that neither that nor a child is left. */
bool count_calls(struct valgrind_run run, struct executed_flops *flops, struct message *error);

#endif
