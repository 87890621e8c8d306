/* Numbers with units: parsing, refusals, and output. */
#include "bench/base/quantity.h"
#include "tests/test.h"

TEST(test_reading)
{
    static const struct {
        const char *text;
        enum quantity_kind quantity;
        double value;
    } good[] = {{"8GiB", QUANTITY_BYTES, 8.0 * (1 << 30)},
                {"1.5KiB", QUANTITY_BYTES, 1536},
                {"7B", QUANTITY_BYTES, 7},
                {".5KiB", QUANTITY_BYTES, 512},
                {".1s", QUANTITY_SECONDS, 0.1},
                {"2kB", QUANTITY_BYTES, 2000},
                {"100ms", QUANTITY_SECONDS, 0.1},
                {"3s", QUANTITY_SECONDS, 3},
                {"2min", QUANTITY_SECONDS, 120},
                {"5us", QUANTITY_SECONDS, 5e-6},
                {"1.5k/s", QUANTITY_PER_SECOND, 1500},
                {"60GFLOP", QUANTITY_FLOP, 60e9},
                {"1.5TFLOP", QUANTITY_FLOP, 1.5e12},
                {"60GFLOP/s", QUANTITY_FLOP_PER_SECOND, 60e9},
                {"1.5TFLOP/s", QUANTITY_FLOP_PER_SECOND, 1.5e12},
                {"20GB/s", QUANTITY_BYTES_PER_SECOND, 20e9},
                {"400Gb/s", QUANTITY_LINK_RATE, 50e9},
                {"1.6Tb/s", QUANTITY_LINK_RATE, 200e9},
                {"12GB/s", QUANTITY_LINK_RATE, 12e9},
                {"1e-4", QUANTITY_RATIO, 1e-4}};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        double value;
        if (!quantity_parse(good[i].text, good[i].quantity, &value))
            fail_msg("%s was refused", good[i].text);
        assert_true(value > good[i].value * (1 - 1e-12) && value < good[i].value * (1 + 1e-12));
    }
}

TEST(test_refusing)
{
    static const char *const never[] = {"",   "s",    "B",     "-1s", "0s",   "0B",  "1e999s", "nan",
                                        "ms", "1 ms", "1 GiB", "/s",  "-1/s", "inf", "0x10B",  "1sB"};
    for (size_t i = 0; i < sizeof never / sizeof *never; i++)
        for (enum quantity_kind q = 0; q < QUANTITIES; q++) {
            double value;
            if (quantity_parse(never[i], q, &value))
                fail_msg("\"%s\" was read as %s", never[i], quantity_allowed(q));
        }
    double value;
    assert_false(quantity_parse("8GiB", QUANTITY_SECONDS, &value));
    assert_false(quantity_parse("100ms", QUANTITY_BYTES, &value));
    assert_false(quantity_parse("100", QUANTITY_SECONDS, &value));
    assert_false(quantity_parse("60GFLOP/s", QUANTITY_FLOP, &value));
    assert_false(quantity_parse("400Gb/s", QUANTITY_BYTES_PER_SECOND, &value));
}

TEST(test_writing)
{
    char text[QUANTITY_TEXT];
    quantity_format(text, 0x1p31, QUANTITY_BYTES);
    assert_string_equal(text, "2.00 GiB");
    quantity_format(text, 0.1, QUANTITY_SECONDS);
    assert_string_equal(text, "100 ms");
    quantity_format(text, 1e-4, QUANTITY_RATIO);
    assert_string_equal(text, "0.0001");
}
