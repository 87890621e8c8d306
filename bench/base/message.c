#include "bench/base/message.h"

#include <stdarg.h>
#include <stdio.h>

bool complain(struct message *m, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(m->text, sizeof m->text, format, list);
    va_end(list);
    return false;
}
