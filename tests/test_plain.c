/* Texts of result files and names of files never reach a terminal with control characters. */
#include "analysis/record/plain.h"

#include <unistd.h>

#include "analysis/record/result_file.h"
#include "tests/records.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"

/* A title, a colour by C1's introducer, a deletion, a bell. */
#define HOSTILE                                                                                              \
    "\033]0;owned\007\xc2\x9b"                                                                               \
    "31m\177"

static void assert_shown(const char *text, const char *wanted)
{
    char *shown = NULL;
    size_t size;
    FILE *out = open_memstream(&shown, &size);
    plain_put(out, text);
    fclose(out);
    assert_string_equal(shown, wanted);
    free(shown);
}

TEST(test_characters)
{
    assert_shown("", "");
    assert_shown("a b\xc3\xbc\xe2\x82\xac~", "a b\xc3\xbc\xe2\x82\xac~");
    assert_shown("\n\r\t\033[0m\x7f", "????[0m?");
    assert_shown("\xc2\x7f\xc2\x80\xc2\x9f\xc2\xa0\xc2", "\xc2???\xc2\xa0\xc2");
    assert_shown(HOSTILE, "?]0;owned??31m?");
}

static void assert_plain(const char *program, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if ((*c < ' ' && *c != '\n') || *c == 0x7f || (*c == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f))
            fail_msg("%s prints a control character: %s", program, (const char *)c + 1);
}

static void assert_prints_plain(const struct house *h, const char *words, const char *const *more, int status,
                                const char *in_err)
{
    struct ended e = program_run(h, words, more);
    if (e.status != status || !strstr(e.err, in_err))
        fail_msg("%s: status %d, not %d\n%s%s", words, e.status, status, e.out, e.err);
    assert_plain(words, e.out);
    assert_plain(words, e.err);
    ended_free(&e);
}

/* A record whose texts are hostile; `which` tells two apart. */
static void save_hostile(const struct house *h, const char *name, const char *which)
{
    char path[PATH_MAX], error[MESSAGE_SIZE], text[64];
    struct record *record = empty_record();
    struct value *head = record_head(record);
    snprintf(text, sizeof text, "%s" HOSTILE, which);
    value_set_text(value_get(head, "host"), "cpu", text);
    value_set_text(head, "commit", text);
    value_set_text(head, "compiler", text);
    for (int64_t nodes = 100; nodes <= 400; nodes *= 2) {
        struct row *row = nodes == 400 ? failed_row(nodes, "failed", HOSTILE) : good_row(nodes);
        row_set_text(row, "device", HOSTILE);
        row_set_text(row, "model", nodes == 200 ? HOSTILE : "gps");
        add_row(record, row);
    }
    snprintf(path, sizeof path, "%s/%s", h->work, name);
    if (!record_save(record, path, error))
        fail_msg("%s", error);
    record_free(record);
}

static void check_tool(const char *program, const char *words, const char *const *more, int status)
{
    void *h;
    house_of(&h, program);
    save_hostile(h, HOSTILE "a.json", "a");
    save_hostile(h, HOSTILE "b.json", "b");
    assert_prints_plain(h, words, more, status, "");
    house_teardown(&h);
}

TEST(test_tools)
{
    const char *const *both = MORE(HOSTILE "a.json", HOSTILE "b.json");
    check_tool("compare", "", both, 0);
    check_tool("compare", "--format md", both, 0);
    check_tool("compare", "--fail-on slower,faster,same,inconclusive", both, 1);
    check_tool("compare", "", MORE(HOSTILE "a.json", HOSTILE "none.json"), 2);
    check_tool("findings", "", both, 0);
    check_tool("plot", "", MORE(HOSTILE "a.json"), 0);
    check_tool("plot", "", MORE(HOSTILE "a.json", HOSTILE "none/x"), 1);
}

/* The name of the result file, of its charts and of the graph. */
TEST(test_benchmark)
{
    struct house *h = *state;
    static const char tiny[] =
        "--hidden 16 --heads 2 --layers 1 --runs 3 --warmup 1 --threads 1 --no-check --repetitions 1";
    char path[PATH_MAX];
    h->charts = true;
    assert_prints_plain(h, tiny, MORE("--nodes", "8,16,24", "--output", HOSTILE ".json"), 0,
                        "results: ?]0;owned??31m?.json\n");
    assert_prints_plain(h, tiny, MORE("--nodes", "8,16,24", "--output", HOSTILE "none/x.json"), 2,
                        "none/x.json");
    snprintf(path, sizeof path, "%s/" HOSTILE ".txt", h->work);
    FILE *graph = fopen(path, "w");
    assert_non_null(graph);
    fputs("1 2\n2 3\n", graph);
    fclose(graph);
    assert_prints_plain(h, tiny, MORE("--graph", "file:" HOSTILE ".txt", "--output", "x.json"), 0,
                        "results: x.json\n");
    assert_prints_plain(h, tiny, MORE("--graph", "file:" HOSTILE ".txt", "--dry-run"), 0, "");
}

GROUP("tests", house_setup, house_teardown)
