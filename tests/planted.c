#include "tests/planted.h"

#include <unistd.h>

#include "analysis/record/result_file.h"
#include "tests/silence.h"
#include "tests/test.h"

enum { WORDS_MAX = 64 };

static int quietly(int (*program)(int, char **), int argc, char **argv)
{
    struct silence s = silence_begin(NULL);
    int status = program(argc, argv);
    silence_end(&s);
    return status;
}

static void copy_text(const char *text, char *to, size_t size)
{
    snprintf(to, size, "%s", text ? text : "");
}

static struct planted_row read_row(const char *file)
{
    char error[MESSAGE_SIZE];
    struct planted_row planted;
    struct record *record = record_load(file, error);
    if (!record)
        fail_msg("%s", error);
    const struct row *row = rows_at(record_rows(record), 0);
    copy_text(row->status, planted.status, sizeof planted.status);
    copy_text(row->checked, planted.checked, sizeof planted.checked);
    copy_text(row->encoding.checked, planted.encoding, sizeof planted.encoding);
    copy_text(row_is_ok(row) ? row->error.exceptions : row->reason, planted.reason, sizeof planted.reason);
    record_free(record);
    return planted;
}

struct planted_row planted_run(int (*program)(int argc, char **argv), const char *words)
{
    char path[] = "/tmp/gtmark-planted-XXXXXX", line[1024], *argv[WORDS_MAX + 1], *next;
    int argc = 0;
    assert_non_null(mkdtemp(path));
    snprintf(line, sizeof line, "bench_planted --output %s/r.json --no-roofline --budget 0.1 %s", path,
             words);
    for (char *word = strtok_r(line, " ", &next); word; word = strtok_r(NULL, " ", &next)) {
        assert_true(argc < WORDS_MAX);
        argv[argc++] = word;
    }
    const char *file = argv[2];
    argv[argc] = NULL;
    int status = quietly(program, argc, argv);
    struct planted_row row = read_row(file);
    row.exit = status;
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(path), 0);
    return row;
}
