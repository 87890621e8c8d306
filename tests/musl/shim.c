/*
 * What Debian's libraries, which were built for glibc, call of it and musl has not, so that a program for
 * musl runs with them (tests/musl.sh).
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FORWARD(call)                                                                                        \
    va_list list;                                                                                            \
    va_start(list, format);                                                                                  \
    int result = call;                                                                                       \
    va_end(list);                                                                                            \
    return result

int __printf_chk(int flag, const char *format, ...)
{
    (void)flag;
    FORWARD(vprintf(format, list));
}

int __fprintf_chk(FILE *out, int flag, const char *format, ...)
{
    (void)flag;
    FORWARD(vfprintf(out, format, list));
}

int __sprintf_chk(char *to, int flag, size_t size, const char *format, ...)
{
    (void)flag;
    FORWARD(vsnprintf(to, size, format, list));
}

int __snprintf_chk(char *to, size_t most, int flag, size_t size, const char *format, ...)
{
    (void)flag, (void)size;
    FORWARD(vsnprintf(to, most, format, list));
}

int __vsnprintf_chk(char *to, size_t most, int flag, size_t size, const char *format, va_list list)
{
    (void)flag, (void)size;
    return vsnprintf(to, most, format, list);
}

int __vfprintf_chk(FILE *out, int flag, const char *format, va_list list)
{
    (void)flag;
    return vfprintf(out, format, list);
}

void *__memcpy_chk(void *to, const void *from, size_t n, size_t size)
{
    (void)size;
    return memcpy(to, from, n);
}

char *__strcpy_chk(char *to, const char *from, size_t size)
{
    (void)size;
    return strcpy(to, from);
}

char *__strcat_chk(char *to, const char *from, size_t size)
{
    (void)size;
    return strcat(to, from);
}

char *__strncpy_chk(char *to, const char *from, size_t n, size_t size)
{
    (void)size;
    return strncpy(to, from, n);
}

_Noreturn void __longjmp_chk(jmp_buf to, int value)
{
    longjmp(to, value);
}

long __sysconf(int name)
{
    return sysconf(name);
}

int pthread_attr_setaffinity_np(void *attributes, size_t size, const cpu_set_t *set)
{
    (void)attributes, (void)size, (void)set;
    return ENOSYS;
}
