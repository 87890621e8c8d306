/*
 * refuse ERRNO COMMAND...: runs the command where the system calls that sandboxes refuse fail with this error
 * (seccomp(2)): hardware counters, affinity, locked memory, NUMA policies, and AMX tiles
 * (ARCH_REQ_XCOMP_PERM).
 */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALL(number, error)                                                                                  \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))

int main(int argc, char **argv)
{
    unsigned error = argc > 2 ? (unsigned)atoi(argv[1]) : 0;
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        CALL(SYS_perf_event_open, error),
        CALL(SYS_sched_setaffinity, error),
        CALL(SYS_mlock, error),
        CALL(SYS_mlock2, error),
        CALL(SYS_mbind, error),
        CALL(SYS_set_mempolicy, error),
#ifdef SYS_arch_prctl
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_arch_prctl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        CALL(0x1023, error),
#endif
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof filter / sizeof *filter, filter};
    if (error && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0)
        execvp(argv[2], argv + 2);
    perror("refuse");
    return 99;
}
