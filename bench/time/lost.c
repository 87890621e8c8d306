/*
 * /proc/PID/task/TID/schedstat has the nanoseconds in which a thread ran and in which it was ready but did
 * not run, and how often it ran; /proc/stat the ticks of all processors: user, nice, system, idle, iowait,
 * irq, softirq, steal.
 */
#include "bench/time/noise.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

enum { PATH_SIZE = 512, IDLE = 3, WAITING, STOLEN = 7, TICKS };

/* NAN without the file. */
static double waited_of(const char *tasks, const char *thread)
{
    char path[PATH_SIZE];
    double waited;
    snprintf(path, sizeof path, "%s/%.32s/schedstat", tasks, thread);
    FILE *in = fopen(path, "r");
    if (!in || fscanf(in, "%*f %lf", &waited) != 1)
        waited = NAN;
    if (in)
        fclose(in);
    return 1e-9 * waited;
}

/* A thread that has ended meanwhile has no file. */
static double waited_by_all_threads(const char *root)
{
    char tasks[PATH_SIZE - 64];
    double all = NAN;
    snprintf(tasks, sizeof tasks, "%s/proc/self/task", root);
    DIR *list = opendir(tasks);
    for (const struct dirent *thread; list && (thread = readdir(list)) != NULL;) {
        double waited = waited_of(tasks, thread->d_name);
        if (!isnan(waited))
            all = isnan(all) ? waited : all + waited;
    }
    if (list)
        closedir(list);
    return all;
}

static void read_ticks(const char *root, struct lost *l)
{
    char path[PATH_SIZE];
    double ticks[TICKS], second = (double)sysconf(_SC_CLK_TCK), busy = 0;
    int n = 0;
    snprintf(path, sizeof path, "%s/proc/stat", root);
    FILE *in = fopen(path, "r");
    while (in && n < TICKS && fscanf(in, n ? "%lf" : "cpu %lf", &ticks[n]) == 1)
        busy += n == IDLE || n == WAITING || n == STOLEN ? 0 : ticks[n], n++;
    if (in)
        fclose(in);
    l->stolen = n == TICKS ? ticks[STOLEN] / second : NAN;
    l->busy = n == TICKS ? busy / second : NAN;
}

struct lost lost_now(const char *root)
{
    struct lost l = {.waited = waited_by_all_threads(root)};
    read_ticks(root, &l);
    return l;
}

double lost_share(const struct lost *start, const struct lost *end, double seconds)
{
    double stolen = end->stolen - start->stolen, wanted = stolen + end->busy - start->busy,
           waited = (end->waited - start->waited) / seconds,
           share = waited + (wanted == 0 ? 0 : stolen / wanted);
    return share > 1 ? 1 : share < 0 ? 0 : share; /* a thread that ended took its waits along */
}
