/* Signals to a program in the middle of a row that takes many minutes. */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/record/record.h"
#include "models/encodings/encoding.h"
#include "tests/events.h"
#include "tests/records.h"
#include "tests/test.h"

/* Starts a program, and returns when it is computing the row. */
static pid_t start_long_row(const struct house *h, const char *words, int *terminal)
{
    int slave, null = open("/dev/null", O_WRONLY);
    open_terminal(100, terminal, &slave);
    pid_t pid = program_start(h, words, NULL, null, slave);
    close(slave);
    close(null);
    assert_true(read_until(*terminal, "\033[K", 1)); /* the graph is made, and the machine was probed */
    wait_for_cpu(pid, 0.2);
    return pid;
}

/* The signal ends the row at once, without a result. */
static void check_signal_in_a_row(const struct house *h, const char *words)
{
    int terminal;
    pid_t pid = start_long_row(h, words, &terminal);
    kill(pid, SIGINT);
    free(read_rest(terminal));
    assert_int_equal(program_wait(pid), 128 + SIGINT); /* rather than by the alarm */
    struct record *record = record_in(h, "work/y.json");
    assert_int_equal(row_count(record), 0);
    record_free(record);
}

/* It waits only for one op or, in encodings that are a single op, for a block of it. */
TEST(test_signal_in_a_row)
{
    check_signal_in_a_row(*state, "--device ref --nodes 2000 --layers 300 --hidden 16 --heads 2 "
                                  "--phase forward --threads 1 --no-check --output y.json");
    check_signal_in_a_row(*state, "--pe rwse:16 --nodes 100k --phase none --output y.json");
    if (!eigensolver_missing_library(SOLVER_ITERATIVE))
        check_signal_in_a_row(*state, "--pe lap:64 --solver iterative --graph er:giant --nodes 150k "
                                      "--phase none --output y.json");
}

/* A second signal does not wait for the row, which is a single op of minutes. */
TEST(test_second_signal)
{
    void *h;
    int terminal, status;
    house_of(&h, "bench_kernels");
    pid_t pid =
        start_long_row(h, "--device ref --op attention --nodes 20k --no-check --output y.json", &terminal);
    kill(pid, SIGTERM);
    wait_for_no_handler(pid, SIGTERM);
    kill(pid, SIGTERM);
    free(read_rest(terminal));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
    record_free(record_in(h, "work/y.json"));
    house_teardown(&h);
}

GROUP("tests", house_setup, house_teardown)
