/*
 * JSON as gtmark reads and writes it: what is refused, what is kept to the byte, and that 64-bit counts are
 * exact.
 */
#include <float.h>
#include <glob.h>
#include <unistd.h>

#include "analysis/record/file.h"
#include "analysis/record/result_file.h"
#include "analysis/record/scan.h"
#include "tests/test.h"
#include "tests/test_analysis_rows.h"
#include "tests/values.h"

static struct value *parsed(const char *text)
{
    char error[MESSAGE_SIZE];
    struct value *v = value_parse(text, error);
    if (!v)
        fail_msg("%.200s: %s", text, error);
    return v;
}

static void assert_prints(struct value *v, const char *wanted)
{
    char *text = value_print(v);
    assert_string_equal(text, wanted);
    free(text);
    value_free(v);
}

TEST(test_counts_are_exact)
{
    static const int64_t counts[] = {0, -1, INT64_C(9007199254740993), INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct value *v = value_new_count(counts[i]);
        char *text = value_print(v);
        struct value *back = parsed(text);
        int64_t count = 7;
        double real = 7;
        assert_true(value_read_count(v, &count) && count == counts[i]);
        assert_true(value_read_count(back, &count) && count == counts[i]);
        assert_true(value_read_real(back, &real) && real == (double)counts[i]);
        assert_true(value_equal(v, back));
        value_free(v);
        value_free(back);
        free(text);
    }
    struct value *one = value_new_count(INT64_MAX), *other = value_new_count(INT64_MAX - 1);
    assert_false(value_equal(one, other)); /* as doubles they are equal */
    value_free(one);
    value_free(other);
}

/* Numbers of 1 to 25 digits, with a point in any place or none and exponents about those of the powers of ten
 * that doubles hold: the value is that of strtod. */
TEST(test_numbers_are_those_of_strtod)
{
    uint64_t random = 1;
    for (int digits = 1; digits <= 25; digits++)
        for (int i = 0; i < 400; i++) {
            char text[SCAN_NUMBER], *at = text;
            *at++ = '-';
            for (int k = 0; k < digits; k++) {
                random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
                *at++ = (char)('1' + (random >> 33) % 9);
                if (k == i % digits && k + 1 < digits)
                    *at++ = '.';
            }
            snprintf(at, (size_t)(text + sizeof text - at), "e%d", i / 5 - 40);
            struct value *v = parsed(text + i % 2);
            double real = 0;
            assert_true(value_read_real(v, &real));
            if (real != strtod(text + i % 2, NULL))
                fail_msg("%s is read as %.17g", text + i % 2, real);
            value_free(v);
        }
    assert_prints(parsed("-0.0"), "-0.0");
}

TEST(test_reals_are_seen_to_be_reals)
{
    static const struct {
        double real;
        const char *text;
    } reals[] = {
        {5, "5.0"},
        {-0.0, "-0.0"},
        {0.1, "0.1"},
        {1e100, "1e100"},
        {1e-5, "1e-5"},
        {1.5e20, "1.5e20"},
        {1. / 3, "0.333333333333333"},
        {123456789012345678., "1.23456789012346e17"},
        {2e-300, "2e-300"},
        {DBL_MAX, "1.7976931348623157e308"},
        {NAN, "null"},
        {-INFINITY, "null"},
    };
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        assert_prints(value_new_real(reals[i].real), reals[i].text);
    struct value *five = parsed("5"), *real = parsed("5.0"), *same = parsed("50e-1");
    int64_t count;
    assert_false(value_read_count(real, &count) || value_equal(five, real));
    assert_true(value_equal(real, same));
    value_free(five);
    value_free(real);
    value_free(same);
}

/* The line that is named, a part of what is said, and the text. */
static const struct refusal {
    int line;
    const char *says, *text;
} refusals[] = {
    {1, "expected a value at the end of the text", ""},
    {3, "expected a value at the end of the text", " \n\n"},
    {2, "duplicate key", "{\"a\": 1,\n \"b\": 2, \"a\": 3}"},
    {1, "duplicate key", "{\"a\": 1, \"\\u0061\": 2}"},
    {3, "duplicate key", "{\"c\": {\n\"a\": 1,\n\"a\": 1}}"},
    {1, "unexpected data after", "1 2"},
    {1, "unexpected data after", "{} x"},
    {2, "unexpected data after", "[1]\n,"},
    {1, "unexpected data after", "[1] // one"},
    {1, "unexpected data after", "nullx"},
    {1, "invalid UTF-8", "\"\xff\""},
    {1, "invalid UTF-8", "[\"\xc3(\"]"},
    {1, "invalid UTF-8", "\"\xc0\x80\""},
    {1, "invalid UTF-8", "\"\xe0\x80\xaf\""},
    {1, "invalid UTF-8", "\"\xed\xa0\x80\""},
    {1, "invalid UTF-8", "\"\xf4\x90\x80\x80\""},
    {1, "invalid UTF-8", "{\"\xe2\x82\": 1}"},
    {1, "unexpected data after", "{}\xef\xbb\xbf"},
    {1, "expected a value", "\xef\xbb\xbf\xef\xbb\xbf{}"},
    {1, "UTF-16: save it as UTF-8", "\xff\xfe{"},
    {1, "UTF-16: save it as UTF-8", "\xfe\xff"},
    {1, "unexpected data after", "01"},
    {1, "invalid number", "-"},
    {1, "expected a value", "+1"},
    {1, "invalid number", "1."},
    {1, "expected a value", ".5"},
    {1, "invalid number", "[1e]"},
    {1, "invalid number", "1e+"},
    {1, "invalid number", "-a"},
    {1, "unexpected data after", "0x10"},
    {1, "expected a value", "NaN"},
    {1, "expected a value", "Infinity"},
    {1, "invalid number", "-Infinity"},
    {1, "real number out of range", "1e999"},
    {1, "real number out of range", "-1.0e400"},
    {1, "integer out of range", "9223372036854775808"},
    {1, "integer out of range", "-9223372036854775809"},
    {1, "too many digits", "0.1234567890123456789012345678901234567890123456789012345678901"},
    {1, "control character", "\"a\nb\""},
    {1, "control character", "\"a\tb\""},
    {1, "invalid escape", "\"\\x41\""},
    {1, "invalid escape", "\"\\"},
    {1, "four hexadecimal digits", "\"\\u12\""},
    {1, "four hexadecimal digits", "\"\\u12g4\""},
    {1, "NUL in a string", "\"\\u0000\""},
    {1, "NUL in a string", "{\"\\u0000\": 1}"},
    {1, "unpaired surrogate", "\"\\ud800\""},
    {1, "unpaired surrogate", "\"\\ud800\\u0041\""},
    {1, "unpaired surrogate", "\"\\udc00\""},
    {1, "unterminated string", "\"abc"},
    {1, "expected a value", "'a'"},
    {1, "expected a value", "[1,]"},
    {1, "expected , or ]", "[1 2]"},
    {2, "in an array at the end", "[1\n"},
    {1, "expected a value", "]"},
    {1, "expected :", "{\"a\"}"},
    {1, "expected a value", "{\"a\": }"},
    {1, "expected a string", "{\"a\": 1,}"},
    {1, "expected a string", "{a: 1}"},
    {1, "expected , or }", "{\"a\": 1 \"b\": 2}"},
    {1, "expected a string at the end", "{"},
    {1, "expected a value", "tru"},
    {1, "expected a value", "True"},
    {1, "expected a value", "/* one */ 1"},
};

static void assert_refused(const char *text, int line, const char *says)
{
    char error[MESSAGE_SIZE] = "", begin[64];
    snprintf(begin, sizeof begin, "not JSON: line %d: ", line);
    struct value *v = value_parse(text, error);
    if (v || strncmp(error, begin, strlen(begin)) != 0 || !strstr(error, says))
        fail_msg("%.100s: \"%s\", not \"%s... %s\"", text, error, begin, says);
}

TEST(test_what_is_refused)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
        assert_refused(refusals[i].text, refusals[i].line, refusals[i].says);
}

TEST(test_bytes_of_a_file)
{
    char path[] = "/tmp/gtmark_json_XXXXXX", error[MESSAGE_SIZE] = "";
    int file = mkstemp(path);
    static const char nul[] = "[1,\n\"a\0b\"]", behind[] = "[1]\0";
    assert_true(file >= 0 && write(file, nul, sizeof nul - 1) == sizeof nul - 1);
    assert_null(value_load(path, error));
    assert_true(strstr(error, path) && strstr(error, "not JSON: line 2: control character"));
    assert_true(ftruncate(file, 0) == 0 && pwrite(file, behind, sizeof behind - 1, 0) == sizeof behind - 1);
    assert_null(value_load(path, error));
    assert_non_null(strstr(error, "line 1: unexpected data after"));
    static const char little[] = "{\0}", big[] = "\0{\0}"; /* of UTF-16, without a byte order mark */
    assert_true(ftruncate(file, 0) == 0 && pwrite(file, little, sizeof little, 0) == sizeof little);
    assert_null(value_load(path, error));
    assert_non_null(strstr(error, "UTF-16"));
    assert_true(pwrite(file, big, sizeof big, 0) == sizeof big);
    assert_null(value_load(path, error));
    assert_non_null(strstr(error, "UTF-16"));
    assert_int_equal(unlink(path), 0);
    close(file);
    assert_null(value_load(path, error));
    assert_non_null(strstr(error, "cannot be read: No such file"));
    assert_null(value_load("/tmp", error));
    assert_non_null(strstr(error, "cannot be read: Is a directory"));
}

TEST(test_depth)
{
    char text[2 * SCAN_DEPTH + 3];
    memset(text, '[', SCAN_DEPTH);
    memset(text + SCAN_DEPTH, ']', SCAN_DEPTH);
    text[2 * SCAN_DEPTH] = '\0';
    assert_prints(parsed(text), text);
    memmove(text + 1, text, 2 * SCAN_DEPTH);
    text[2 * SCAN_DEPTH + 1] = ']';
    text[2 * SCAN_DEPTH + 2] = '\0';
    assert_refused(text, 1, "nested too deeply");
}

/* What was read is written with the same numbers, and texts whose escapes mean the same. */
TEST(test_what_is_accepted)
{
    assert_prints(parsed(" \t\r\n[ 1.50 , -0 , 1E5, 2e+07, -1.0e-3 ]\n"), "[1.50,-0,1E5,2e+07,-1.0e-3]");
    assert_prints(parsed("[true, false, null, {}, [], \"\"]"), "[true,false,null,{},[],\"\"]");
    assert_prints(parsed("\"\\u00e9\\ud83d\\ude00\\/\\u001b\\n\""), "\"é😀/\\u001b\\n\"");
    assert_prints(parsed("{\"a\": 1, \"A\": 2, \"\": {\"a\": 3}}"), "{\"a\":1,\"A\":2,\"\":{\"a\":3}}");
    assert_prints(value_new_text("a\"\\\b\f\n\r\t\x7f"), "\"a\\\"\\\\\\b\\f\\n\\r\\t\x7f\"");
    assert_prints(value_new_text("\xff"
                                 "a\xc3"),
                  "\"?a?\"");
}

TEST(test_trees)
{
    struct value *v = parsed("{\"a\": {\"b\": [1, 2.5, \"x\"]}, \"A\": 2}"), *same = value_copy(v);
    int64_t count;
    double real;
    assert_true(value_get_count(v, "A", &count) && count == 2);
    assert_true(value_get(v, "a") && !value_get(v, "a.B") && !value_get(v, "a.b.c") && !value_get(NULL, "a"));
    assert_true(value_read_real(value_at(value_get(v, "a.b"), 1), &real) && real == 2.5);
    assert_null(value_at(value_get(v, "a.b"), 3));
    assert_int_equal(value_size(value_get(v, "a.b")), 3);
    assert_true(value_equal(v, same));
    value_set_text(same, "a", "new"); /* in the place of the old one */
    value_remove(same, "none");
    value_append(value_get(v, "a.b"), value_new_flag(true));
    assert_false(value_equal(v, same));
    assert_prints(same, "{\"a\":\"new\",\"A\":2}");
    struct walk w = value_walk(v);
    assert_true(walk_next(&w) && strcmp(w.key, "a") == 0 && walk_next(&w) && strcmp(w.key, "A") == 0);
    assert_false(walk_next(&w));
    w = value_walk(value_get(v, "a.b"));
    assert_true(walk_next(&w) && !w.key && value_kind(w.value) == VALUE_COUNT);
    assert_prints(v, "{\"a\":{\"b\":[1,2.5,\"x\",true]},\"A\":2}");
}

/* Every file of the repository is read, and written again as it stands. */
TEST(test_results_of_the_repository)
{
    glob_t found;
    assert_int_equal(glob("results/[!l]*/*.jsonl", 0, NULL, &found), 0); /* not results/local */
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char error[MESSAGE_SIZE], *after = NULL;
        size_t size, written;
        struct record *record = record_load(found.gl_pathv[i], error);
        if (!record)
            fail_msg("%s", error);
        FILE *out = open_memstream(&after, &written);
        assert_true(record_write_lines(record, out) && fclose(out) == 0);
        char *before = file_read(found.gl_pathv[i], &size, error);
        assert_string_equal(before, after);
        record_free(record);
        free(before);
        free(after);
    }
    globfree(&found);
}
