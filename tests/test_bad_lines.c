/*
 * Wrong command lines generated from the table of flags: each flag with values of the wrong type, out of
 * range, too large for any number, empty and too long, without a value, with a value it does not take, twice,
 * and misspelt. Each is run and must be refused (tests/refusals.h). Other wrong lines are in test_usage.c.
 * GTMARK_SMALL=1 omits them: with sanitizers, fuzz_command_line passes many more through the same parsers.
 */
#include "bench/cli/flags.h"
#include "bench/machine/device.h"
#include "tests/refusals.h"
#include "tests/test.h"

enum { TEXT = 1200 };

static const struct bench bench = {.name = "bench", .doc = "", .axis = AXIS_NODES, .values = "8"};

/* Properties of a flag to be tested. */
struct flag_case {
    const char *name;
    bool number, whole, seconds, size, path;
    double min, max;
    const char *good;   /* a valid value; null: none is known */
    char allowed[TEXT]; /* the message's description of allowed values */
};

static void join(char text[TEXT], const char *const *names, const char *last)
{
    text[0] = '\0';
    for (int i = 0; names[i]; i++)
        snprintf(text + strlen(text), TEXT - strlen(text), "%s%s",
                 !i             ? ""
                 : names[i + 1] ? ", "
                                : last,
                 names[i]);
}

static void set_axis(struct flag_case *t, const struct axis_info *a)
{
    const char *names[64] = {NULL};
    t->good = a->standard;
    t->whole = a->kind == AXIS_WHOLE;
    t->number = t->whole || a->kind == AXIS_NUMBER;
    t->min = a->min;
    t->max = a->max;
    for (int i = 0; a->choice && a->choice(i); i++)
        names[i] = a->choice(i);
    if (t->number)
        snprintf(t->allowed, sizeof t->allowed, "%s from %.10g to %.10g, or a list or range",
                 t->whole ? "a whole number" : "a number", a->min, a->max);
    else
        join(t->allowed, names, ", ");
}

/* Values allowed by flags with parsers of their own. */
static const char *allowed_by_reader(const char *name)
{
    static const char *const allowed[][2] = {
        {"columns", "no such column; docs/fields.md lists them"},
        {"device", device_allowed},
        {"impl", "--list ops"},
        {"op", "one or more of the ops of --list ops"},
        {"peaks", "peak=60GFLOP/s,dram=20GB/s"},
        {"data", "features=FILE, edge-features=FILE or labels=FILE; FILE may be none"},
        {"gate", "exact, strict, allow-uncompared, allow-unchecked"},
        {"phase", "forward, step, forward,step or none"},
        {"flop-convention", "one or more of full, simple, torch, fvcore and deepspeed, each once"},
        {"seed", "a whole number from 0 to 2^53 - 1"},
        {"tag", "KEY=VALUE, with a key of letters, digits, - and _"},
        {"find", "then =memory, =memory:SIZE as =memory:4GiB, or =latency:TIME as =latency:100ms"},
        {"shard", "I/N, the I-th of N parts, I from 1 to N"},
        {"threshold", "latency:TIME, p99:TIME, throughput:RATE, memory:SIZE, flops:COUNT, error:NUMBER, "
                      "most.METRIC:NUMBER"},
        {"baseline", "cannot be read"},
    };
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (strcmp(name, allowed[i][0]) == 0)
            return allowed[i][1];
    fail_msg("--%s: what does it allow?", name);
    return NULL;
}

static void set_flag(struct flag_case *t, const struct flag *f)
{
    static const char *const allowed[] = {
        [FLAG_WHOLE] = "a whole number from %.0f to %.0f",
        [FLAG_SHARE] = "from 0 to 1, or from 0%% to 100%%",
        [FLAG_SECONDS] = "seconds, from %.10g to %.10g, or a number with ns, us, ms, s or min",
        [FLAG_SIZE] = "a number with B, KiB, MiB, GiB or TiB",
        [FLAG_PATH] = "needs the name of",
    };
    t->whole = f->kind == FLAG_WHOLE;
    t->seconds = f->kind == FLAG_SECONDS;
    t->number = t->whole || t->seconds || f->kind == FLAG_SHARE;
    t->size = f->kind == FLAG_SIZE;
    t->path = f->kind == FLAG_PATH;
    t->min = f->min;
    t->max = f->max;
    t->good = t->number ? "1" : f->kind == FLAG_CHOICE ? f->choices[0] : NULL;
    if (f->kind == FLAG_CHOICE)
        join(t->allowed, f->choices, " or ");
    else if (f->kind == FLAG_LIST || f->kind == FLAG_OTHER)
        snprintf(t->allowed, sizeof t->allowed, "%s", allowed_by_reader(f->name));
    else
        snprintf(t->allowed, sizeof t->allowed, allowed[f->kind], f->min, f->max);
}

static int refuses_value(const struct house *h, const struct flag_case *t, const char *value)
{
    char joined[TEXT], names[TEXT];
    snprintf(joined, sizeof joined, "--%s=%s", t->name, value);
    snprintf(names, sizeof names, "--%s %.100s", t->name, value);
    refuses(h, "", MORE(joined), names, t->allowed);
    return 1;
}

static int refuses_values(const struct house *h, const struct flag_case *t, const char *const *values)
{
    int lines = 0;
    for (; *values; values++)
        lines += refuses_value(h, t, *values);
    return lines;
}

static int refuses_numbers(const struct house *h, const struct flag_case *t)
{
    char below[TEXT], above[TEXT];
    snprintf(below, sizeof below, "%.17g", t->min - 1);
    snprintf(above, sizeof above, "%.17g", t->max * 2 + 1);
    return refuses_values(h, t,
                          MORE("-1", "1e999", "99999999999999999999999999", "nan", "inf", "0x10", "1 ",
                               t->number ? below : "5", t->number ? above : "GiB"));
}

/* Returns the number of command lines tried, like the following functions. */
static int try_values(const struct house *h, const struct flag_case *t)
{
    char flag[TEXT], says[TEXT], nines[1000];
    int lines = 2;
    snprintf(flag, sizeof flag, "--%s", t->name);
    snprintf(says, sizeof says, "--%s: needs a value", t->name);
    refuses(h, "", MORE(flag), says, "--help");
    refuses(h, "", MORE(flag, ""), flag, t->allowed);
    if (t->path)
        return lines;
    memset(nines, '9', sizeof nines - 1);
    nines[sizeof nines - 1] = '\0';
    snprintf(says, sizeof says, "--%s: given twice", t->name);
    if (t->good)
        refuses(h, "", MORE(flag, t->good, flag, t->good), says, NULL);
    lines += refuses_values(h, t, MORE("no such value"));
    if (strcmp(t->name, "baseline") != 0) /* the name of a file */
        lines += refuses_value(h, t, nines);
    if (t->number || t->size)
        lines += refuses_numbers(h, t);
    if (t->whole)
        lines += refuses_value(h, t, "1.5");
    if (t->seconds)
        lines += refuses_values(h, t, MORE("1k", "1m", "1 s", "1e9s", "-1s", "s"));
    return lines + (t->good != NULL);
}

/* What is wrong with a range is said. */
static int try_ranges(const struct house *h, const struct flag_case *t)
{
    static const char *const ranges[][2] = {
        {"10-5*2", "the range 10-5 runs backwards; write 5-10*2"},
        {"1-10*1", "the factor of a range is above 1"},
        {"1-10", "the range 1-10 has no step; write 1-10*2 or 1-10+STEP"}};
    enum { RANGES = sizeof ranges / sizeof *ranges };
    for (int i = 0; i < RANGES; i++) {
        char flag[TEXT], says[TEXT];
        snprintf(flag, sizeof flag, "--%s=%s", t->name, ranges[i][0]);
        snprintf(says, sizeof says, "--%s %s", t->name, ranges[i][0]);
        refuses(h, "", MORE(flag), says, ranges[i][1]);
    }
    return RANGES;
}

static int try_lists(const struct house *h, const struct flag_case *t)
{
    char twice[TEXT], gap[TEXT], joined[TEXT];
    snprintf(joined, sizeof joined, "--%s=%s,%s", t->name, t->good, t->good);
    snprintf(twice, sizeof twice, "--%s %s,%s: %s is given twice", t->name, t->good, t->good, t->good);
    refuses(h, "", MORE(joined), twice, NULL);
    snprintf(gap, sizeof gap, "%s,,%s", t->good, t->good);
    int lines = 1 + refuses_values(h, t, MORE(",", gap));
    return t->number ? lines + try_ranges(h, t) : lines;
}

static int try_alone(const struct house *h, const char *name)
{
    char flag[TEXT], says[TEXT];
    snprintf(flag, sizeof flag, "--%s", name);
    snprintf(says, sizeof says, "--%s: given twice", name);
    refuses(h, "", MORE(flag, flag), says, NULL);
    snprintf(says, sizeof says, "--%s: takes no value", name);
    for (const char *const *value = MORE("=", "=1", "=true"); *value; value++) {
        snprintf(flag, sizeof flag, "--%s%s", name, *value);
        refuses(h, "", MORE(flag), says, NULL);
    }
    return 4;
}

TEST(test_lines_from_the_table)
{
    struct flag flags[FLAGS_MAX];
    int lines = 0;
    if (getenv("GTMARK_SMALL"))
        skip();
    flags_all(&bench, flags);
    for (const struct flag *f = flags; f->name; f++, lines++) {
        struct flag_case t = {.name = f->name};
        char misspelt[TEXT];
        snprintf(misspelt, sizeof misspelt, "--x%s", f->name);
        refuses(*state, "", MORE(misspelt), misspelt, "no such flag");
        if (!f->argument) {
            lines += try_alone(*state, f->name);
            continue;
        }
        if (f->standard)
            set_axis(&t, axis_info((enum axis)f->value));
        else
            set_flag(&t, f);
        lines += try_values(*state, &t);
        if (f->standard)
            lines += try_lists(*state, &t);
    }
    print_message("%d command lines refused\n", lines);
    assert_true(lines >= 400);
}

static bool is_flag(const struct flag *flags, const char *name, size_t length)
{
    while (flags->name && (strlen(flags->name) != length || strncmp(flags->name, name, length) != 0))
        flags++;
    return flags->name != NULL;
}

/* Flags of other tools say what to give, which is a flag. */
TEST(test_hints)
{
    struct flag flags[FLAGS_MAX];
    flags_all(&bench, flags);
    for (const struct hint *h = hints; h->name; h++) {
        const char *instead = strstr(h->instead, "--");
        char word[TEXT], says[TEXT];
        snprintf(word, sizeof word, "--%s", h->name);
        snprintf(says, sizeof says, "--%s: %s", h->name, h->instead);
        refuses(*state, "", MORE(word), says, NULL);
        assert_false(is_flag(flags, h->name, strlen(h->name)));
        for (; instead; instead = strstr(instead + 2, "--"))
            if (!is_flag(flags, instead + 2, strcspn(instead + 2, " ;,)")))
                fail_msg("%s", says);
    }
    refuses(*state, "", MORE("--num_nodes=8"), "--num_nodes: here --nodes", NULL);
}

/* The table itself: names are unique; flags that take a value describe it. */
TEST(test_table)
{
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

GROUP("tests", house_setup, house_teardown)
