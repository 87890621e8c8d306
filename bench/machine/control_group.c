/*
 * /proc/self/cgroup says in which group of each hierarchy the process is, and /proc/self/mountinfo where
 * hierarchies are mounted, and from which group on. A limit holds for everything below it, so the least of a
 * group and those above it counts. What a group does not have, or has no more, is no limit.
 */

#include "bench/machine/machine.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Version 1 says "no limit" by the largest multiple of a page. */
#define NO_LIMIT 0x1p62

/* What is read of a group: the folder, and whether it is of version 2. */
typedef double look(const char *group, bool second);

static FILE *open_file(const char *folder, const char *name)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path ? fopen(path, "r") : NULL;
}

/* The whole numbers that a file begins with; `none` for those that it does not have, such as "max". */
static void read_counts(const char *group, const char *name, int64_t none, int64_t counts[2])
{
    FILE *in = open_file(group, name);
    int found = in ? fscanf(in, "%" SCNd64 " %" SCNd64, &counts[0], &counts[1]) : 0;
    for (int i = found > 0 ? found : 0; i < 2; i++)
        counts[i] = none;
    if (in)
        fclose(in);
}

static int64_t read_count(const char *group, const char *name, int64_t none)
{
    int64_t counts[2];
    read_counts(group, name, none, counts);
    return counts[0];
}

/* Pages of files that were not used of late: the kernel takes them back before it refuses any. */
static int64_t reclaimable(const char *group, const char *key)
{
    char line[256];
    int64_t bytes = 0, value;
    FILE *in = open_file(group, "memory.stat");
    while (in && fgets(line, sizeof line, in))
        if (strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), " %" SCNd64, &value) == 1)
            bytes = value;
    if (in)
        fclose(in);
    return bytes;
}

/* Above memory.high the kernel slows a group down. */
static double free_of(const char *group, bool second)
{
    int64_t limit = read_count(group, second ? "memory.max" : "memory.limit_in_bytes", INT64_MAX);
    int64_t high = second ? read_count(group, "memory.high", INT64_MAX) : INT64_MAX;
    int64_t used = read_count(group, second ? "memory.current" : "memory.usage_in_bytes", 0);
    double needed =
        (double)used - (double)reclaimable(group, second ? "inactive_file " : "total_inactive_file ");
    double least = (double)(high < limit ? high : limit);
    return least < NO_LIMIT ? fmax(0, least - fmax(0, needed)) : INFINITY;
}

static double cores_of(const char *group, bool second)
{
    int64_t both[2];
    read_counts(group, second ? "cpu.max" : "cpu.cfs_quota_us", -1, both);
    if (!second)
        both[1] = read_count(group, "cpu.cfs_period_us", -1);
    return both[0] > 0 && both[1] > 0 ? (double)both[0] / (double)both[1] : INFINITY;
}

/* Whether a list such as "cpu,cpuacct" has the word. */
static bool lists(const char *list, const char *word)
{
    size_t length = strlen(word);
    while (list && !(strncmp(list, word, length) == 0 && strchr(",", list[length])))
        list = strchr(list, ',') ? strchr(list, ',') + 1 : NULL;
    return list;
}

/* The group of the process in the hierarchy of version 2, or in that of a controller. */
static bool find_group(const char *root, const char *controller, bool second, char group[PATH_MAX])
{
    char line[PATH_MAX + 256];
    bool found = false;
    FILE *in = open_file(root, "proc/self/cgroup");
    while (in && !found && fgets(line, sizeof line, in)) {
        char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;
        if (!path)
            continue;
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        found = second ? list[1] == '\0' : lists(list + 1, controller);
        snprintf(group, PATH_MAX, "%s", path);
    }
    if (in)
        fclose(in);
    return found;
}

/* The least of the groups from `folder`, of which the first `top` characters are the mount, upwards. */
static double least_upwards(char *folder, size_t top, bool second, look look)
{
    double least = look(folder, second);
    while (strlen(folder) > top) {
        *strrchr(folder, '/') = '\0';
        least = fmin(least, look(folder, second));
    }
    return least;
}

/* The same for one line of mountinfo: "36 35 0:30 /GROUP /FOLDER OPTIONS... - TYPE SOURCE OPTIONS". */
static double least_of_mount(const char *root, const char *line, const char *controller, look look)
{
    char from[PATH_MAX], mount[PATH_MAX], type[32], options[256], group[PATH_MAX], folder[PATH_MAX];
    const char *rest = strstr(line, " - ");
    if (!rest || sscanf(line, "%*s %*s %*s %4095s %4095s", from, mount) != 2 ||
        sscanf(rest, " - %31s %*s %255s", type, options) != 2)
        return INFINITY;
    bool second = strcmp(type, "cgroup2") == 0;
    if (!second && (strcmp(type, "cgroup") != 0 || !lists(options, controller)))
        return INFINITY;
    /* What is mounted can begin at a group; of a group elsewhere, also one outside of the namespace ("/.."),
     * it shows nothing. */
    size_t above = strcmp(from, "/") == 0 ? 0 : strlen(from);
    if (!find_group(root, controller, second, group) || strncmp(group, "/..", 3) == 0 ||
        strncmp(group, from, above) != 0 || (group[above] && group[above] != '/'))
        return INFINITY;
    int length = snprintf(folder, sizeof folder, "%s%s%s", root, mount, group + above);
    return length < (int)sizeof folder ? least_upwards(folder, strlen(root) + strlen(mount), second, look)
                                       : INFINITY;
}

static double least_of_all(const char *root, const char *controller, look look)
{
    char line[3 * PATH_MAX];
    double least = INFINITY;
    FILE *in = open_file(root, "proc/self/mountinfo");
    while (in && fgets(line, sizeof line, in))
        least = fmin(least, least_of_mount(root, line, controller, look));
    if (in)
        fclose(in);
    return least;
}

double control_group_cores(const char *root)
{
    return least_of_all(root, "cpu", cores_of);
}

double control_group_free(const char *root)
{
    return least_of_all(root, "memory", free_of);
}
