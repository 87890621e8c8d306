/* Faults of memory, named. The child that runs the kernel is lost then, so that its handler may call what is
 * not safe in a handler of signals; it has no argument, hence the variables. */
#include <signal.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "bench/audit/audit.h"

static struct audited watched;
static const struct operands *volatile held;

/* "reads", "writes" or, where that is not known, "accesses". */
static const char *access_of(const void *context)
{
#if defined(__x86_64__)
    const ucontext_t *c = context;
    return c->uc_mcontext.gregs[REG_ERR] & 2 ? "writes" : "reads";
#else
    (void)context;
    return "accesses";
#endif
}

static bool in_operand(const struct operands *o, const unsigned char *at, const char *what)
{
    const struct op_info *info = op_info(o->sample.op);
    for (int i = 0; i < info->operand_count; i++) {
        const struct operand_block *b = &o->blocks[i];
        if (!guarded_has(b->pages, at))
            continue;
        bool before = at < b->bytes, after = at >= b->bytes + b->size;
        verdict_set(&watched, OUTCOME_FAIL, "%s %s %s", what,
                    before  ? "before the beginning of"
                    : after ? "past the end of"
                            : "its input",
                    info->operands[i].name);
        return true;
    }
    return false;
}

static void end_of_child(int number, siginfo_t *fault, void *context)
{
    const struct operands *o = held;
    const char *what = access_of(context);
    if (o && guarded_has(o->scratch, fault->si_addr) && o->scratch.pages != o->closed.pages)
        verdict_set(&watched, OUTCOME_FAIL, "%s outside of its scratch", what);
    else if (o && guarded_has(o->closed, fault->si_addr))
        verdict_set(&watched, OUTCOME_FAIL, "%s the scratch of an earlier call", what);
    else if (!o || !in_operand(o, fault->si_addr, what))
        verdict_set(&watched, OUTCOME_FAIL, "ends by signal %d (%s), at an address that is none of its own",
                    number, strsignal(number));
    _exit(CHILD_RETURNED);
}

void audit_name_faults(const struct audited *a, const struct operands *o)
{
    static char stack[65536]; /* of the handler: that of the kernel may be what overflowed */
    if (!held) {
        sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
        struct sigaction action = {.sa_sigaction = end_of_child, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        sigaction(SIGSEGV, &action, NULL);
        sigaction(SIGBUS, &action, NULL);
    }
    watched = *a;
    held = o;
}
