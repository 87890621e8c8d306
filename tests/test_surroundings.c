/*
 * What surrounds a run and is not of its making: readers that go away, files that are one and the same, names
 * and terminals of all kinds. Nothing of it may cost a row.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/records.h"

#define TINY "--hidden 16 --heads 2 --layers 1 --runs 3 --warmup 1 --threads 1 --no-check --no-charts "

/* Who reads the rows is gone before the first, as `head` may be: it is in the file all the same. */
static void test_reader_is_gone(void **state)
{
    int ends[2], null = open("/dev/null", O_WRONLY);
    signal(SIGPIPE, SIG_DFL);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    pid_t pid =
        program_start(*state, TINY "--nodes 8,16 --output x.json --format jsonl", NULL, ends[1], null);
    close(ends[1]);
    close(null);
    assert_int_equal(program_wait(pid), 128 + SIGPIPE);
    json_t *record = record_in(*state, "work/x.json");
    assert_int_equal(row_count(record), 1);
    json_decref(record);
}

/* However the two are written. */
static void test_trace_over_the_rows(void **state)
{
    static const char *const lines[] = {"--output t.json --trace t.json",
                                        "--output t.json --trace ../work/./t.json"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char words[256];
        snprintf(words, sizeof words, TINY "--nodes 8 %s", lines[i]);
        struct ended e = run_words(*state, words, 2);
        assert_non_null(strstr(e.err, "--trace "));
        assert_non_null(strstr(e.err, ".json: another file"));
        ended_free(&e);
    }
    char *files = house_list(*state);
    assert_null(strstr(files, "t.json"));
    free(files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reader_is_gone),
        cmocka_unit_test(test_trace_over_the_rows),
    };
    return cmocka_run_group_tests(tests, house_setup, house_teardown);
}
