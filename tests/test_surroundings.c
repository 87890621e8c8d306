/*
 * The environment of a run: readers that go away, files that are the same, arbitrary file names and
 * terminals. None of it may cost a row.
 */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "analysis/record/record.h"
#include "tests/events.h"
#include "tests/records.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

#define TINY                                                                                                 \
    "--hidden 16 --heads 2 --layers 1 --runs 3 --warmup 1 --repetitions 1 --threads 1 --no-check "           \
    "--no-charts "

/* The reader of stdout exits before the first row, as `head` may: the rows are still written to the file. */
TEST(test_reader_is_gone)
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
    struct record *record = record_in(*state, "work/x.json");
    assert_int_equal(row_count(record), 1);
    record_free(record);
}

/* However the two paths are written. */
TEST(test_trace_over_the_rows)
{
    static const char *const lines[] = {"--output t.json --trace t.json",
                                        "--output t.json --trace ../work/./t.json"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char words[256];
        snprintf(words, sizeof words, TINY "--nodes 8 %s", lines[i]);
        struct ended e = run_words(*state, words, 2);
        assert_non_null(strstr(e.err, "--trace "));
        assert_non_null(strstr(e.err, ".json: this is the result file"));
        ended_free(&e);
    }
    char *files = house_list(*state);
    assert_null(strstr(files, "t.json"));
    free(files);
}

/* Progress that exceeds a narrow terminal would leave lines behind, because only the last line is erased. A
 * terminal that can erase none gets no progress. */
TEST(test_terminals)
{
    enum { COLUMNS = 40 };
    static const char begin[] = "\r\033[K[", *const kinds[] = {"xterm", "dumb"};
    for (int dumb = 0; dumb < 2; dumb++) {
        int master, slave, lines = 0;
        open_terminal(COLUMNS, &master, &slave);
        assert_int_equal(setenv("TERM", kinds[dumb], 1), 0);
        pid_t pid = program_start(*state, TINY "--nodes 8,16 --output x.json", NULL, slave, slave);
        close(slave);
        char *text = read_rest(master);
        assert_int_equal(program_wait(pid), 0);
        for (const char *at = text; (at = strstr(at, begin)) != NULL; lines++) {
            at += strlen(begin) - 1;
            assert_between(strcspn(at, "\r\n"), 1, COLUMNS - 1);
        }
        assert_int_equal(lines == 0, dumb);
        assert_int_equal(strchr(text, '\033') == NULL, dumb);
        free(text);
    }
}

/*
 * File names may contain any bytes, and texts may be truncated within a character; neither may cost the row.
 */
TEST(test_texts_are_utf8)
{
    static const char *const texts[][2] = {{"gr\xc3\xbc\xc3\x9f"
                                            "e",
                                            "gr\xc3\xbc\xc3\x9f"
                                            "e"},
                                           {"lat\xfcin \xc3\xbc", "lat?in \xc3\xbc"},
                                           {"cut \xc3\xbc\xe2\x82", "cut \xc3\xbc??"},
                                           {"\x80\xc3\xbc\x80", "?\xc3\xbc?"}};
    char error[MESSAGE_SIZE] = "";
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct row *row = failed_row(500, "failed", texts[i][0]);
        row_omit(row, "loss", texts[i][0]);
        if (!row_validate(row, error))
            fail_msg("%s", error);
        assert_string_equal(row->reason, texts[i][1]);
        assert_string_equal(row_reason(row, "loss"), texts[i][1]);
        row_free(row);
    }
}

GROUP("tests", house_setup, house_teardown)
