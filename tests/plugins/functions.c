/*
 * A plug-in with functions that say when they are closed, or report what cannot be (tests/test_functions.sh).
 */
#include <math.h>
#include <stdio.h>

#include <gtmark_plugin.h>

static const char *run(const struct gtmark_call *call)
{
    (void)call;
    return NULL;
}

static void end(void *state)
{
    (void)state;
    fputs("closed\n", stderr);
}

static const char *begin(const struct gtmark_call *call, void **state)
{
    (void)call;
    (void)state;
    return NULL;
}

static const char *refuse(const struct gtmark_call *call, void **state)
{
    (void)call;
    (void)state;
    return "there are no records";
}

static const char *leave_open(const struct gtmark_call *call)
{
    call->enter(call, "read", NULL);
    return NULL;
}

static const char *close_twice(const struct gtmark_call *call)
{
    call->enter(call, "read", NULL);
    call->leave(call, "read");
    call->leave(call, "read");
    return NULL;
}

static const char *close_outer(const struct gtmark_call *call)
{
    call->enter(call, "read", NULL);
    call->enter(call, "decode", NULL);
    call->leave(call, "read");
    call->leave(call, "decode");
    return NULL;
}

static const char *record_nan(const struct gtmark_call *call)
{
    call->record(call, "hit_rate", NAN, GTMARK_MEAN);
    return NULL;
}

static const char *record_both(const struct gtmark_call *call)
{
    call->record(call, "hits", 1, GTMARK_MEAN);
    call->record(call, "hits", 1, GTMARK_SUM);
    return NULL;
}

static const char *name_long(const struct gtmark_call *call)
{
    call->enter(call, "a_section_of_a_name_that_is_too_long", NULL);
    return NULL;
}

static const char *nest(const struct gtmark_call *call)
{
    for (int i = 0; i < 9; i++)
        call->enter(call, "read", NULL);
    return NULL;
}

static const char *name_each(const struct gtmark_call *call)
{
    char name[16];
    for (int i = 0; i < 257; i++) {
        snprintf(name, sizeof name, "record%d", i);
        call->enter(call, name, NULL);
        call->leave(call, name);
    }
    return NULL;
}

#define FUNCTION(name, function, ...)                                                                        \
    {                                                                                                        \
        .op = "function", .variant = name, .device = "cpu", .run = function, __VA_ARGS__                     \
    }
static const struct gtmark_entry entries[] = {FUNCTION("closed", run, .setup = begin, .teardown = end),
                                              FUNCTION("refuses", run, .setup = refuse),
                                              FUNCTION("open", leave_open),
                                              FUNCTION("twice", close_twice),
                                              FUNCTION("outer", close_outer),
                                              FUNCTION("nan", record_nan),
                                              FUNCTION("both", record_both),
                                              FUNCTION("long", name_long),
                                              FUNCTION("deep", nest),
                                              FUNCTION("many", name_each)};
GTMARK_PLUGIN(entries);
