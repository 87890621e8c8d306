/* Times of sections, by a clock that this test plays: it goes on by a second with every look. */
#include "bench/time/sections.h"

#include "bench/base/clock.h"
#include "tests/test.h"

static double played;

double __wrap_clock_now(void);
double __wrap_clock_now(void)
{
    return played += 1;
}

void __wrap_plugin_listen(struct plugin *p, const struct plugin_listener *l);
void __wrap_plugin_listen(struct plugin *p, const struct plugin_listener *l)
{
    (void)p;
    (void)l;
}

static void report(struct sections *s, enum plugin_report what, const char *name, double work)
{
    s->listener.hear(s->listener.context, what, name, NULL, 0);
    played += work;
}

/* Reports take no time of the sections around them; in each call sections begin at the time that it is. */
TEST(test_reports)
{
    struct sections s;
    sections_begin(&s, NULL);
    for (int call = 0; call < 2; call++) {
        double begun = played;
        report(&s, PLUGIN_ENTER, "read", 20);
        report(&s, PLUGIN_SUM, "bytes", 0);
        report(&s, PLUGIN_ENTER, "decode", 3);
        report(&s, PLUGIN_SUM, "bytes", 4);
        report(&s, PLUGIN_LEAVE, "decode", 500);
        report(&s, PLUGIN_ENTER, "nothing", 0);
        report(&s, PLUGIN_LEAVE, "nothing", 0);
        report(&s, PLUGIN_LEAVE, "read", 0);
        report(&s, PLUGIN_END, NULL, 0);
        const struct section *read = &s.list[3 * call], *decode = read + 1, *nothing = read + 2;
        assert_true(read->begin == begun + 1 && read->end == read->begin + 20 + 3 + 4 + 500);
        assert_true(decode->begin == read->begin + 20 && decode->end == decode->begin + 3 + 4);
        assert_true(nothing->begin == decode->end + 500 && nothing->end == nothing->begin);
    }
    assert_string_equal(s.fault.text, "");
    sections_end(&s, NULL);
}
