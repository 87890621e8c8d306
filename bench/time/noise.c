/*
 * The probe for lost time follows the idea of the fixed-time-quantum and "selfish" detour benchmarks
 * (Beckman, Iskra, Yoshii, Coghlan and Nataraj, "Benchmarking the effects of operating system interference on
 * extreme-scale parallel machines", Cluster Computing 11, 2008): a thread that only reads the clock notices
 * all time in which it did not run, because of another program, an interrupt, or the host of a virtual
 * machine, of which there is no counter in the guest.
 */
#include "bench/time/noise.h"

#include <math.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "bench/base/affinity.h"
#include "bench/base/clock.h"
#include "kernels/arithmetic.h"

enum { PATH_SIZE = 512 };
#define LOOK 4e-3 /* seconds, long enough for our own threads to go to sleep */

struct usage usage_now(void)
{
    struct rusage r;
    getrusage(RUSAGE_SELF, &r);
    return (struct usage){.minor_faults = r.ru_minflt,
                          .major_faults = r.ru_majflt,
                          .voluntary = r.ru_nvcsw,
                          .involuntary = r.ru_nivcsw,
                          .cpu = clock_cpu()};
}

/* sign: 1 adds, -1 subtracts. */
static struct usage combine(const struct usage *a, const struct usage *b, int sign)
{
    return (struct usage){.minor_faults = a->minor_faults + sign * b->minor_faults,
                          .major_faults = a->major_faults + sign * b->major_faults,
                          .voluntary = a->voluntary + sign * b->voluntary,
                          .involuntary = a->involuntary + sign * b->involuntary,
                          .cpu = a->cpu + sign * b->cpu};
}

struct usage usage_since(const struct usage *start)
{
    struct usage now = usage_now();
    return combine(&now, start, -1);
}

struct usage usage_sum(const struct usage *a, const struct usage *b)
{
    return combine(a, b, 1);
}

static FILE *open_under(const char *root, const char *path)
{
    char whole[PATH_SIZE];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    return fopen(whole, "r");
}

void noise_read_load(const char *root, struct noise *n)
{
    n->load = NAN;
    n->runnable = -1;
    FILE *in = open_under(root, "/proc/loadavg");
    if (!in)
        return;
    double load;
    int running;
    int got = fscanf(in, "%lf %*f %*f %d/", &load, &running);
    if (got == 1 || (got == 2 && running >= 1)) /* a sandbox may say that nothing runs, not even this */
        n->load = load;
    if (got == 2 && running >= 1)
        n->runnable = running - 1; /* without this thread */
    fclose(in);
}

/* The load average includes our own earlier runs, so another program must also be ready to run. */
double noise_slowdown(const struct noise *n)
{
    bool beside = n->load + n->threads > n->cores + 0.5 && n->runnable != 0;
    return beside ? (n->load + n->threads) / n->cores : 1;
}

/* A file with a number of kilohertz, in Hz; NAN without one. */
static double read_frequency(const char *root, int cpu, const char *name)
{
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/%s", cpu, name);
    FILE *in = open_under(root, path);
    double kilohertz = NAN;
    if (in && fscanf(in, "%lf", &kilohertz) != 1)
        kilohertz = NAN;
    if (in)
        fclose(in);
    return 1e3 * kilohertz;
}

void noise_read_frequency(const char *root, int cpu, struct noise *n)
{
    n->frequency = read_frequency(root, cpu, "scaling_cur_freq");
    n->frequency_max = read_frequency(root, cpu, "scaling_max_freq");
    n->governor[0] = '\0';
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
    FILE *in = open_under(root, path);
    if (in && fgets(n->governor, sizeof n->governor, in))
        n->governor[strcspn(n->governor, "\n")] = '\0';
    if (in)
        fclose(in);
}

/* Reads the load as often as fits into `seconds`, at least once, and keeps the fewest runnable threads: those
 * that are runnable at every reading. */
static void sample_load(struct noise *n, double seconds)
{
    struct timespec pause = {.tv_nsec = (long)(LOOK * 1e9)};
    int fewest = -1, looks = 1 + (int)fmax(0, seconds / LOOK - 1);
    for (int i = 0; i < looks; i++) {
        nanosleep(&pause, NULL);
        noise_read_load("", n);
        if (fewest < 0 || n->runnable < fewest)
            fewest = n->runnable;
    }
    n->runnable = fewest;
}

static int64_t preemptions(void)
{
    struct rusage r;
    getrusage(RUSAGE_THREAD, &r);
    return r.ru_nivcsw;
}

static void spin(double seconds, double *lost, double *largest)
{
    double start = clock_now(), last = start;
    while (last - start < seconds) {
        double now = clock_now(), gap = now - last;
        if (gap > NOISE_GAP) {
            *lost += gap;
            *largest = fmax(*largest, gap);
        }
        last = now;
    }
    *lost /= last - start;
}

struct noise noise_probe(int threads, double seconds)
{
    cpu_set_t granted;
    affinity_granted(&granted); /* a sandbox may say that there are fewer */
    struct noise n = {.cores = (int)max_of(sysconf(_SC_NPROCESSORS_ONLN), CPU_COUNT(&granted)),
                      .threads = threads};
    sample_load(&n, seconds / 2);
    double lost = 0, largest = 0;
    int64_t switches = 0;
    int spun = 0;
    bool bound = affinity_spread(threads, &granted);
#pragma omp parallel num_threads(threads) reduction(+ : lost, switches, spun) reduction(max : largest)
    {
        int64_t before = preemptions();
        spin(seconds, &lost, &largest);
        switches = preemptions() - before;
        spun = 1;
    }
    if (bound)
        affinity_restore(threads, &granted);
    n.lost = lost / spun;
    n.largest_gap = largest;
    n.preemptions = switches;
    int cpu = sched_getcpu();
    noise_read_frequency("", cpu >= 0 ? cpu : 0, &n);
    return n;
}
