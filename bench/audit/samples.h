/* The samples that a check visits, and a kernel's runs of them. */
#ifndef GTMARK_BENCH_AUDIT_SAMPLES_H
#define GTMARK_BENCH_AUDIT_SAMPLES_H

#include "bench/audit/audit.h"

/* Visits a sample: its operands in the kernel's type. */
typedef void sample_visitor(const struct audited *a, const struct operands *inputs, void *context);

enum samples { SAMPLES_ALL, SAMPLES_SMALL, SAMPLES_FEW };

/*
 * All samples; without those of large shapes; or of each shape those with all operands. Samples that the
 * kernel refuses are left out. Returns their number, and that of the refused with the last reason.
 */
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
