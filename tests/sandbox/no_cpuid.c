/* Preloaded: CPUID is a fault from before the program's own code on (arch_prctl(2)). */
#define _GNU_SOURCE
#include <asm/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

__attribute__((constructor)) static void forbid(void)
{
    if (syscall(SYS_arch_prctl, ARCH_SET_CPUID, 0))
        _exit(99);
}
