/* The terms of the work of real programs over every axis with numbers, as their planned rows have it. */
#include "analysis/fits/law.h"
#include "tests/records.h"
#include "tests/test.h"

enum { POINTS = 8 };

static void assert_terms(const struct record *record, const char *axis, const char *field,
                         const char *expected)
{
    struct law_point work[POINTS];
    char text[LAW_TEXT];
    size_t n = row_count(record);
    assert_true(n <= POINTS);
    for (size_t i = 0; i < n; i++) {
        double x = real_at(row_at(record, i), axis), y = real_at(row_at(record, i), field);
        work[i] = (struct law_point){x, y, y, y};
    }
    law_terms_text(text, law_terms(work, n), "x");
    if (strcmp(text, expected) != 0)
        fail_msg("%s over %s: %s, not %s", field, axis, text, expected);
}

/* Edges in proportion to the nodes; with odd sizes they are rounded, and a batch's sizes are random. */
TEST(test_terms)
{
    static const struct {
        const char *axis, *words, *flops, *bytes; /* of a step */
    } cases[] = {
        {"nodes", "--nodes 100,500,1000,2000,5000", "1 + x + x^2", "1 + x"},
        {"nodes", "--nodes 101,501,1001,2003,5007", "1 + x + x^2", "1 + x"},
        {"nodes", "--nodes 100,500,1000,2000 --graph rmat", "1 + x + x^2", "1 + x"},
        {"nodes", "--nodes 100,500,1000,2000 --attention unfused", "1 + x + x^2", "1 + x + x^2"},
        {"nodes", "--nodes 100,500,1000,2000 --attention sparse", "1 + x", "1 + x"},
        {"layers", "--nodes 500 --layers 1,2,4,8", "1 + x", "1 + x"},
        {"hidden", "--nodes 500 --hidden 32,64,128,256,512", "1 + x + x^2", "1 + x + x^2"},
        {"heads", "--nodes 500 --heads 1,2,4,8", "1 + x", "1 + x"},
        {"ffn", "--nodes 500 --ffn 64,128,256,512", "1 + x", "1 + x"},
        {"degree", "--nodes 500 --degree 1,2,5,10", "1 + x", "1 + x"},
        {"batch", "--nodes 32 --batch 1,2,4,8,16,32", "1 + x", "1 + x"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char words[256];
        snprintf(words, sizeof words, "--device meta --phase step --output x.json %s", cases[i].words);
        struct record *record = run_json(*state, words, 0);
        assert_terms(record, cases[i].axis, "step.flops.analytic", cases[i].flops);
        assert_terms(record, cases[i].axis, "step.bytes", cases[i].bytes);
        record_free(record);
    }
}

GROUP("tests", house_setup, house_teardown)
