/* The audit of a kernel: each check runs in a child process of its own, which crashes, hangs and exits in its
 * place. The samples are operands of awkward shapes (operands_shapes), the standard is ref in double. */
#ifndef GTMARK_BENCH_AUDIT_H
#define GTMARK_BENCH_AUDIT_H

#include "bench/audit/operands.h"
#include "bench/base/message.h"
#include "kernels/backend.h"

enum outcome { OUTCOME_NONE, OUTCOME_PASS, OUTCOME_NOTE, OUTCOME_FAIL, OUTCOME_ABSENT };

/* What a child finds, in memory that it shares. */
enum { AUDIT_TEXT = 400 };
struct audit_verdict {
    enum outcome outcome;
    char text[AUDIT_TEXT]; /* the finding; of OUTCOME_ABSENT why there is none */
    char at[200];          /* the sample that is being run */
    volatile int runs;     /* so far: it goes on */
};

/* What happens in the calls of kernels, counted by who interposes the functions; null: nobody does. */
struct counted {
    void (*reset)(bool count); /* from now on; or no longer */
    int (*allocations)(void);
    int (*threads)(void); /* started */
};

struct audited {
    const struct kernel *kernel;
    const struct opened_device *device; /* where it runs; null: the host */
    const struct counted *counted;
    struct audit_verdict *verdict;
    int tasks; /* threads of the process before the first call */
};

struct audit_check {
    const char *name;
    void (*run)(const struct audited *a); /* in the child: sets the outcome and the text */
};

/* In the order of their lines; name null past the last. */
extern const struct audit_check audit_checks[];
void check_special(const struct audited *a); /* the last of them */

/* Of one sample: sets the verdict if NaN is hidden; else the note, of AUDIT_TEXT, if it is empty. */
void try_special(const struct audited *a, const struct operands *inputs, void *note);

/* Runs body(context) in a child process. False, with a message, if it ended otherwise than by returning, or
 * if *runs did not change for `patience` seconds. */
enum { CHILD_RETURNED = 113 }; /* its exit status, with which no library exits by chance */
bool audit_isolated(void (*body)(void *context), void *context, volatile const int *runs, double patience,
                    struct message *error);

/* Sets the verdict, once. */
void verdict_set(const struct audited *a, enum outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* From now on a fault of memory ends the process with a verdict that names what it was in. */
void audit_name_faults(const struct audited *a, const struct operands *o);

/* One sample of the check `results`, and whether it was wrong there. */
struct tried {
    struct sample sample;
    int64_t hub; /* the most edges to a node; 0: the op has none */
    bool wrong;
};

/* What all wrong samples have in common and no right one has, in words; "" if that is nothing known. */
void audit_common(const struct tried *tried, int count, char *text, size_t size);

/* --- which kernels are audited */

enum { ROWS_MAX = 512, VARIANT_TEXT = 64 };

/* A kernel to audit, by name: each child opens the library itself. */
struct audited_row {
    enum op op;
    enum dtype dtype;
    bool on_device;
    char variant[VARIANT_TEXT];
};

struct audited_rows {
    int count;
    bool failed; /* the library, for the reason in `error` */
    struct message error;
    struct audited_row row[ROWS_MAX];
};

/* The kernels of a library (null: our own defaults) that compute one of these ops (none set: any). Those for
 * a GPU are left out where there is none, and `error` says why. */
void audited_rows_list(const char *library, const bool ops[OPS], struct audited_rows *rows);

/* --- the samples that a check visits, and a kernel's runs of them */

/* Visits a sample: its operands in the kernel's type. */
typedef void sample_visitor(const struct audited *a, const struct operands *inputs, void *context);

enum samples { SAMPLES_ALL, SAMPLES_SMALL, SAMPLES_FEW };

/* All samples; without those of large shapes; or of each shape those with all operands. Samples that the
 * kernel refuses are left out. Returns their number, and that of the refused with the last reason. */
int visit_samples(const struct audited *a, enum samples which, sample_visitor *visit, void *context,
                  const char **refusal, int *refused);

/* Passes, with the text, if nothing was found; absent if every sample was refused. */
void say_passed(const struct audited *a, int visited, const char *refusal, const char *text);

/* Both, for checks to which refusals are nothing new. */
void visit_or_pass(const struct audited *a, enum samples which, sample_visitor *visit, const char *text);

/* Runs a kernel on a copy of the operands, which is returned. *intact: whether it left alone what lies behind
 * its scratch. References run on the host. */
struct operands *run_traced(const struct audited *a, const struct operands *inputs, const struct kernel *k,
                            int threads, bool *intact);

/* The same; where memory was touched is for the check of memory. */
struct operands *run_copy(const struct audited *a, const struct operands *inputs, const struct kernel *k,
                          int threads);

#endif
