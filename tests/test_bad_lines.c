/*
 * Wrong command lines made from the table of flags and the axes: for each flag its value of the wrong type,
 * out of range, too large for any number, empty or missing, the flag twice, misspelt, and with a value it
 * does not take. Each is run: exit 2, one line on stderr that names the flag, nothing on stdout, nothing
 * written.
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/cli/flags.h"
#include "tests/program.h"

enum { TEXT_SIZE = 80 };

static const struct bench bench = {.name = "bench", .doc = "", .axis = AXIS_NODES, .values = "8"};

/* What is tried of every flag, axes among them. */
struct target {
    const char *name;
    bool takes_value, repeats, number, whole, seconds, size, path;
    double min, max;
    char good[TEXT_SIZE]; /* a value that is allowed; empty: none is known */
};

struct counter {
    const struct house *house;
    char *before; /* what stood there */
    int lines;
};

static bool is_one_line(const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i + 1 < length; i++)
        if (iscntrl((unsigned char)text[i]))
            return false;
    return length > 1 && text[length - 1] == '\n';
}

static void refuses(struct counter *c, const char *name, const char *const *more)
{
    char flag[TEXT_SIZE];
    snprintf(flag, sizeof flag, "--%s", name);
    struct ended e = program_run(c->house, "", more);
    char *after = house_list(c->house);
    if (e.status != 2 || *e.out || !is_one_line(e.err) || !strstr(e.err, flag) ||
        strcmp(c->before, after) != 0)
        fail_msg("%s %s: status %d, stdout '%s', stderr '%s'", more[0], more[1] ? more[1] : "", e.status,
                 e.out, e.err);
    free(after);
    ended_free(&e);
    c->lines++;
}

static void refuses_value(struct counter *c, const struct target *t, const char *value)
{
    char joined[3 * TEXT_SIZE];
    snprintf(joined, sizeof joined, "--%s=%s", t->name, value);
    refuses(c, t->name, MORE(joined));
}

static void refuses_number(struct counter *c, const struct target *t, double value)
{
    char text[TEXT_SIZE];
    snprintf(text, sizeof text, "%.17g", value);
    refuses_value(c, t, text);
}

static void try_values(struct counter *c, const struct target *t)
{
    char flag[TEXT_SIZE];
    snprintf(flag, sizeof flag, "--%s", t->name);
    refuses(c, t->name, MORE(flag));
    refuses(c, t->name, MORE(flag, ""));
    if (t->path)
        return;
    refuses_value(c, t, "no such value");
    if (*t->good && !t->repeats)
        refuses(c, t->name, MORE(flag, t->good, flag, t->good));
    if (t->number || t->size)
        for (const char *const *v = MORE("-1", "1e999", "99999999999999999999999999", "nan", "0x10", "1 ");
             *v; v++)
            refuses_value(c, t, *v);
    if (t->number) {
        refuses_number(c, t, t->max * 2 + 1);
        refuses_number(c, t, t->min - 1);
    }
    if (t->whole)
        refuses_value(c, t, "1.5");
    for (const char *const *v = MORE("1k", "1m", "1 s", "1e9s", "-1s", "s"); t->seconds && *v; v++)
        refuses_value(c, t, *v);
}

static void try_flag(struct counter *c, const struct target *t)
{
    char text[TEXT_SIZE];
    snprintf(text, sizeof text, "--x%s", t->name);
    refuses(c, text + 2, MORE(text, *t->good ? t->good : NULL));
    snprintf(text, sizeof text, "--%s", t->name);
    if (t->takes_value) {
        try_values(c, t);
        return;
    }
    refuses(c, t->name, MORE(text, text));
    for (const char *const *v = MORE("", "1", "true"); *v; v++)
        refuses_value(c, t, *v);
}

static struct target target_of_flag(const struct flag *f)
{
    bool number = f->kind == FLAG_WHOLE || f->kind == FLAG_SHARE || f->kind == FLAG_SECONDS;
    struct target t = {.name = f->name,
                       .takes_value = f->argument,
                       .repeats = f->repeats,
                       .number = number,
                       .whole = f->kind == FLAG_WHOLE,
                       .seconds = f->kind == FLAG_SECONDS,
                       .size = f->kind == FLAG_SIZE,
                       .path = f->kind == FLAG_PATH,
                       .min = f->min,
                       .max = f->max};
    if (number)
        snprintf(t.good, sizeof t.good, "%.17g", f->max);
    else if (f->kind == FLAG_CHOICE)
        snprintf(t.good, sizeof t.good, "%s", f->choices[0]);
    return t;
}

static struct target target_of_axis(const struct axis_info *a)
{
    bool number = a->kind == AXIS_WHOLE || a->kind == AXIS_NUMBER;
    struct target t = {.name = a->name,
                       .takes_value = true,
                       .number = number,
                       .whole = a->kind == AXIS_WHOLE,
                       .min = a->min,
                       .max = a->max};
    snprintf(t.good, sizeof t.good, "%s", a->standard);
    return t;
}

static void test_lines_from_the_table(void **state)
{
    struct counter c = {*state, house_list(*state), 0};
    struct flag flags[FLAGS_MAX];
    flags_all(&bench, flags);
    for (const struct flag *f = flags; f->name; f++) {
        bool axis = f->group == AXES_LISTED;
        struct target t = axis ? target_of_axis(axis_info((enum axis)f->value)) : target_of_flag(f);
        try_flag(&c, &t);
        if (!axis)
            continue;
        char twice[2 * TEXT_SIZE];
        snprintf(twice, sizeof twice, "%s,%s", t.good, t.good);
        refuses_value(&c, &t, twice);
        refuses_value(&c, &t, ",");
    }
    print_message("%d command lines refused\n", c.lines);
    assert_true(c.lines >= 300);
    free(c.before);
}

/* The table itself: no name twice; what takes a value says what it is. */
static void test_table(void **state)
{
    (void)state;
    struct flag flags[FLAGS_MAX];
    flags_all(&bench, flags);
    for (const struct flag *f = flags; f->name; f++) {
        bool alone = f->kind == FLAG_ON || f->kind == FLAG_OFF || f->kind == FLAG_SET;
        bool reader = f->kind == FLAG_LIST || f->kind == FLAG_OTHER;
        assert_true(f->group >= 0 && f->group < FLAG_GROUPS);
        assert_true(!alone || !f->argument);
        assert_true(alone || f->kind == FLAG_OTHER || f->argument);
        assert_true(!reader || f->read);
        for (const struct flag *other = flags; other < f; other++)
            assert_string_not_equal(other->name, f->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_from_the_table),
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, house_setup, house_teardown);
}
