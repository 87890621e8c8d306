/*
 * Calls of code that others wrote. The locale of the thread and its modes of floating-point arithmetic
 * (rounding, flushing to zero, traps) are after a call what they were before, and who is called stands in a
 * note, which another process may share to learn whose code ended this one.
 */
#ifndef GTMARK_KERNELS_GUEST_H
#define GTMARK_KERNELS_GUEST_H

#include <fenv.h>
#include <locale.h>
#include <stdbool.h>

#ifndef __GLIBC__ /* there the modes are part of the environment, and no traps are set by a function */
typedef fenv_t femode_t;
#define fegetmode     fegetenv
#define fesetmode     fesetenv
#define fegetexcept() 0
#define FE_DFL_MODE   FE_DFL_ENV
#endif

enum { GUEST_NAME = 64 };

struct guest_note {
    const char *doing;   /* a literal of this program: "run"; null: no call so far */
    char of[GUEST_NAME]; /* the entry: "add=mine"; "": the library */
    bool inside;         /* the call lasts */
    volatile int status; /* the exit status of a process that has reached its end; before, -1 */
};

struct guest {
    struct guest_note before;
    locale_t locale;
    femode_t modes;
};

/* Around a call, which may be within another. */
struct guest guest_enter(const char *doing, const char *of);
void guest_leave(const struct guest *g);

/* From now on the note is in memory that this process shares with its children. */
struct guest_note *guest_share(void);

/* Whether the modes are those that programs begin with, on each of the threads of OpenMP; then they are. */
bool guest_resets(int threads);

#endif
