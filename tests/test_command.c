/* Command lines as text, in shell syntax. */
#include "bench/base/child.h"
#include "tests/test.h"

static void assert_text(char *const *words, int count, const char *expected)
{
    char *text = command_text(count, words);
    assert_string_equal(text, expected);
    free(text);
}

TEST(test_plain_words_stay)
{
    char *words[] = {"build/bench_x", "--nodes", "1k,2k..", "--graph=file:a+b@c_%.npz"};
    assert_text(words, 4, "build/bench_x --nodes 1k,2k.. --graph=file:a+b@c_%.npz");
}

/* A shell splits the text into the same words. */
TEST(test_shell_reads_it)
{
    char *words[] = {"printf", "%s|",  "a b", "",   "it's", "$HOME",     "*",
                     "~",      "a\nb", "\"",  "\\", "#x",   "Gr\xc3\xbc"};
    int count = sizeof words / sizeof *words;
    char *text = command_text(count, words), expected[128] = "", found[128] = "";
    for (int i = 2; i < count; i++)
        snprintf(expected + strlen(expected), sizeof expected - strlen(expected), "%s|", words[i]);
    FILE *shell = popen(text, "r");
    assert_non_null(shell);
    found[fread(found, 1, sizeof found - 1, shell)] = '\0';
    assert_int_equal(pclose(shell), 0);
    assert_string_equal(found, expected);
    free(text);
}
