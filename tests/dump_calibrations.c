/*
 * Takes calibrations in turn and compares them: dump_calibrations [COUNT] [THREADS], by default 3 with all
 * processors. Prints the rates and the spread of each. Exit 0: in one state of the machine, the peak and each
 * level are within 10 %; 1: they are not; 2: the state changed, or a calibration failed.
 */
#include "bench/machine/calibration.h"

#include <math.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 20 };

static const double tolerance = 0.1;

/* Prints the sizes and rates of the sweep. */
static void print_sweep(const struct calibration *c)
{
    printf("%12s %8s %8s %8s %8s  GB/s\n", "working set", "read", "write", "update", "triad");
    for (int i = 0; i < c->points; i++)
        printf("%8.2f MiB %8.1f %8.1f %8.1f %8.1f\n", (double)c->sweep[i].working_set / (1 << 20),
               c->sweep[i].read, c->sweep[i].write, c->sweep[i].update, c->sweep[i].triad);
}

/* Prints one figure of all calibrations; false if they are too far apart. */
static bool print_figure(const char *name, const double *values, int count)
{
    double least = INFINITY, most = 0;
    printf("%-5s", name);
    for (int i = 0; i < count; i++) {
        printf(" %8.1f", values[i]);
        least = fmin(least, values[i]);
        most = fmax(most, values[i]);
    }
    bool same = most <= (1 + tolerance) * least;
    if (most > 0)
        printf("  spread %.1f %%%s", 100 * (most / least - 1), same ? "" : ": too far apart");
    putchar('\n');
    return same;
}

static bool print_all(const struct calibration *c, int count)
{
    double values[MOST];
    for (int i = 0; i < count; i++)
        values[i] = c[i].peak;
    bool same = print_figure("peak", values, count);
    for (enum memory_level l = 0; l < MEMORY_LEVELS; l++) {
        for (int i = 0; i < count; i++)
            values[i] = bandwidth_highest(&c[i].level[l]);
        same = print_figure(memory_level_name(l), values, count) && same;
        for (int i = 0; i < count; i++)
            printf("%s%.1f MiB", i ? ", " : "      held: ", (double)c[i].level[l].capacity / (1 << 20));
        putchar('\n');
    }
    return same;
}

static bool in_one_state(const struct calibration *c, int count)
{
    static struct turn turns[MOST * CALIBRATION_TURNS];
    size_t n = 0;
    for (int i = 0; i < count; n += (size_t)c[i++].turns)
        memcpy(turns + n, c[i].turn, (size_t)c[i].turns * sizeof *turns);
    struct states states = states_find(turns, n);
    bool same = true;
    for (int i = 0; i < count; i++) {
        struct probe first = calibration_state(&c[0]), own = calibration_state(&c[i]);
        printf("state: ping %.0f ns, multiply-adds %.1f us\n", 1e9 * own.seconds[PROBE_PING],
               1e6 * own.seconds[PROBE_FMA]);
        same = same && states_same(&states, &first, &own);
    }
    return same;
}

int main(int argc, char **argv)
{
    static struct calibration c[MOST];
    int count = argc > 1 ? atoi(argv[1]) : 3, threads = argc > 2 ? atoi(argv[2]) : omp_get_num_procs();
    struct message error;
    for (int i = 0; i < count && i < MOST; i++)
        if (!calibrate(peak_of(*backend_cpu_all()), threads, CALIBRATION_SECONDS, &c[i], &error)) {
            fprintf(stderr, "%s\n", error.text);
            return 2;
        }
    print_sweep(&c[0]);
    bool one = in_one_state(c, count), same = print_all(c, count);
    if (!one)
        printf("the state of the machine changed: repeat it\n");
    return !one ? 2 : same ? 0 : 1;
}
