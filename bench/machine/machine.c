#include "bench/machine/machine.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench/base/affinity.h"
#include "bench/base/build.h"
#include "bench/machine/calibration.h"
#include "bench/machine/processor.h"
#include "kernels/arithmetic.h"
#include "kernels/backend.h"
#include "kernels/blas.h"
#include "models/encodings/encoding.h"

int machine_cores(void)
{
    cpu_set_t granted;
    affinity_granted(&granted);
    double quota = control_group_cores("");
    return (int)max_of(1, quota < CPU_COUNT(&granted) ? (int64_t)(quota + 0.5) : CPU_COUNT(&granted));
}

int machine_threads(double asked)
{
    const char *set = getenv("OMP_NUM_THREADS");
    char *end = NULL;
    long wanted = set ? strtol(set, &end, 10) : 0;
    if (asked > 0)
        return (int)asked;
    if (wanted > 0 && strchr(",", end[strspn(end, " \t")])) /* or its end */
        return (int)min_of(wanted, machine_cores());
    return machine_cores();
}

int64_t machine_bytes(const char *path, const char *key)
{
    char text[64];
    system_field(path, key, text, sizeof text);
    return *text >= '0' && *text <= '9' ? 1024 * atoll(text) : -1;
}

int64_t machine_memory_free_under(const char *root)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/proc/meminfo", root);
    int64_t free = machine_bytes(path, "MemAvailable");
    double available = free >= 0 ? (double)free : MACHINE_MEMORY_UNKNOWN;
    return (int64_t)fmax(1, fmin(available, control_group_free(root)));
}

int64_t machine_memory_free(void)
{
    return machine_memory_free_under("");
}

static struct value *host(void)
{
    struct utsname u;
    uname(&u);
    char cpu[256], processor[256], governor[64], system[128], waiting[64];
    calibration_cpu(processor, sizeof processor);
    processor_name("", cpu, sizeof cpu);
    system_field("/etc/os-release", "PRETTY_NAME", system, sizeof system);
    system_field("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "", governor, sizeof governor);
    waiting_policy(waiting, sizeof waiting);
    struct value *host = value_new_object();
    value_set_text(host, "name", u.nodename);
    value_set_text(host, "cpu", cpu);
    value_set_text(host, "processor", processor);
    value_set_text(host, "architecture", u.machine);
    value_set_text(host, "instruction_set", backend_cpu()->doc);
    value_set_count(host, "cores", machine_cores());
    value_set_count(host, "memory", (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
    value_set_text(host, "system", system);
    value_set_text(host, "governor", governor);
    value_set_text(host, "waiting", waiting);
    return host;
}

/* The instruction sets of kernels/cpu, ascending, with the processors for which OpenBLAS has kernels that use
 * no more (driver/others/dynamic.c of 0.3.21), each between blanks, and the one to ask for. */
static const struct {
    const char *name, *cores, *best;
} instruction_sets[] = {
    {"base",
     " Katmai Coppermine Northwood Prescott Banias Core2 Penryn Dunnington Atom Nano Nehalem Athlon Opteron "
     "Opteron_SSE3 Barcelona Bobcat Sandybridge Bulldozer Piledriver Steamroller ",
     "Nehalem"},
    {"avx2", " Excavator Haswell Zen ", "Haswell"},
    {"avx512", " SkylakeX Cooperlake Sapphirerapids ", "SkylakeX"},
};

bool machine_blas_is_outdated(const char *core, const char *backend, struct message *note)
{
    char word[64];
    int sets = sizeof instruction_sets / sizeof *instruction_sets, ours = -1, theirs = sets;
    snprintf(word, sizeof word, " %.60s ", core);
    for (int i = 0; i < sets; i++) {
        ours = strstr(backend, instruction_sets[i].name) ? i : ours;
        theirs = strcasestr(instruction_sets[i].cores, word) ? i : theirs;
    }
    return theirs < ours &&
           !complain(
               note,
               "OpenBLAS chose its kernels for %.40s, which do not use %s; OPENBLAS_CORETYPE=%s asks for "
               "others",
               core, instruction_sets[ours].name, instruction_sets[ours].best);
}

bool machine_isa_exists(struct message *error)
{
    const char *asked = getenv("GTMARK_ISA");
    char sets[64] = "";
    for (const struct backend *const *b = backend_cpu_all(); *b; b++)
        snprintf(sets + strlen(sets), sizeof sets - strlen(sets), "%s%s", *sets ? ", " : "",
                 (*b)->name + strlen("cpu-"));
    return !asked || !*asked || strcmp(backend_cpu()->name + strlen("cpu-"), asked) == 0 ||
           complain(error, "GTMARK_ISA=%.40s: this build and processor have %s", asked, sets);
}

struct value *machine_context(struct value *devices, uint64_t seed)
{
    struct utsname u;
    uname(&u);
    struct value *context = value_new_object(), *libraries = value_new_object();
    value_set_text(libraries, "blas", blas_version());
    value_set_text(libraries, "blas_core", blas_core());
    value_set_text(libraries, "kernel", u.release);
    value_set(context, "host", host());
    value_set(context, "devices", devices);
    value_set(context, "libraries", libraries);
    value_set_text(context, "compiler", build_compiler());
    value_set_text(context, "flags", build_flags());
    value_set_text(context, "commit", build_commit());
    value_set_count(context, "seed", (int64_t)seed);
    return context;
}

void machine_version(const char *program, FILE *out)
{
    build_version(program, out);
    fprintf(out, "BLAS %s\nsolvers", blas_version());
    for (int s = 0; eigensolver_name(s); s++)
        if (!eigensolver_missing_library((enum eigensolver)s))
            fprintf(out, " %s", eigensolver_name(s));
    if (eigensolver_missing_library(SOLVER_AUTO))
        fprintf(out, " none");
    fprintf(out, "\ncpu backend: %s\nCUDA %s\n", backend_cpu()->doc, HAVE_CUDA ? "built" : "left out");
}
