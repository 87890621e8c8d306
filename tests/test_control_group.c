/* Limits of control groups, from planted files: version 2 and 1, nested, in namespaces, and as they vanish.
 */

#include "bench/machine/machine.h"
#include "tests/test.h"

#include <math.h>

enum { KIB = 1 << 10, MIB = 1 << 20 };

#define SECOND "28 24 0:25 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
#define FIRST                                                                                                \
    "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw,mode=755\n"                                             \
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"                            \
    "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"                                      \
    "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n"

static void run(const char *command)
{
    assert_int_equal(system(command), 0);
}

static int make_root(void **state)
{
    *state = strdup("/tmp/gtmark-groups-XXXXXX");
    return mkdtemp(*state) ? 0 : -1;
}

static int remove_root(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", (char *)*state);
    free(*state);
    return system(command);
}

static void plant(const char *root, const char *path, const char *text)
{
    char name[256];
    snprintf(name, sizeof name, "mkdir -p $(dirname '%s/%s')", root, path);
    run(name);
    snprintf(name, sizeof name, "%s/%s", root, path);
    FILE *out = fopen(name, "w");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0 && fclose(out) == 0);
}

/* Empties the root, and plants the two files of the process. */
static void plant_process(const char *root, const char *groups, const char *mounts)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s/*", root);
    run(command);
    plant(root, "proc/self/cgroup", groups);
    plant(root, "proc/self/mountinfo", mounts);
}

/* A group of version 2 with this limit; 50 MiB are used, of them 20 by files that were not used of late. */
static void plant_second(const char *root, const char *group, const char *limit)
{
    char path[128];
    snprintf(path, sizeof path, "sys/fs/cgroup%s/memory.max", group);
    plant(root, path, limit);
    snprintf(path, sizeof path, "sys/fs/cgroup%s/memory.current", group);
    plant(root, path, "52428800\n");
    snprintf(path, sizeof path, "sys/fs/cgroup%s/memory.stat", group);
    plant(root, path,
          "anon 1\nfile 41943040\ninactive_anon 7\ninactive_file 20971520\nactive_file 20971520\n");
}

TEST_BETWEEN(test_nested, make_root, remove_root)
{
    const char *root = *state;
    plant_process(root, "0::/slurm/job_7/step_0\n", SECOND);
    plant_second(root, "/slurm/job_7/step_0", "max\n");
    plant_second(root, "/slurm/job_7", "67108864\n");
    plant_second(root, "/slurm", "104857600\n");
    plant_second(root, "/elsewhere", "1\n");
    assert_true(control_group_free(root) == 34 * MIB);
    plant_second(root, "/slurm/job_7/step_0", "62914560\n");
    assert_true(control_group_free(root) == 30 * MIB);
    plant_second(root, "/slurm", "54525952\n");
    assert_true(control_group_free(root) == 22 * MIB);
    plant(root, "sys/fs/cgroup/slurm/job_7/memory.high", "41943040\n");
    assert_true(control_group_free(root) == 10 * MIB);
    assert_true(isinf(control_group_cores(root)));
    plant(root, "sys/fs/cgroup/slurm/job_7/step_0/cpu.max", "max 100000\n");
    assert_true(isinf(control_group_cores(root)));
    plant(root, "sys/fs/cgroup/slurm/cpu.max", "150000 100000\n");
    assert_true(control_group_cores(root) == 1.5);
    plant(root, "sys/fs/cgroup/slurm/job_7/cpu.max", "300000 100000\n");
    assert_true(control_group_cores(root) == 1.5);
}

/* More in use than the limit, and files that the sum of pages does not contain yet. */
TEST_BETWEEN(test_never_negative, make_root, remove_root)
{
    const char *root = *state;
    plant_process(root, "0::/a\n", SECOND);
    plant_second(root, "/a", "1048576\n");
    assert_true(control_group_free(root) == 0);
    plant_second(root, "/a", "0\n");
    assert_true(control_group_free(root) == 0);
    plant_second(root, "/a", "1048576\n");
    plant(root, "sys/fs/cgroup/a/memory.stat", "inactive_file 99999999\n");
    assert_true(control_group_free(root) == MIB);
}

/* A container sees its own group as the root, or the root of the host. */
TEST_BETWEEN(test_namespaces, make_root, remove_root)
{
    const char *root = *state;
    plant_process(root, "0::/\n", SECOND);
    plant_second(root, "", "67108864\n");
    assert_true(control_group_free(root) == 34 * MIB);
    plant_process(root, "4:memory:/docker/ab\n",
                  "35 31 0:32 /docker/ab /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory\n");
    plant(root, "sys/fs/cgroup/memory/memory.limit_in_bytes", "67108864\n");
    assert_true(control_group_free(root) == 64 * MIB);
    plant(root, "proc/self/cgroup", "4:memory:/docker/ab/c\n");
    plant(root, "sys/fs/cgroup/memory/c/memory.limit_in_bytes", "1048576\n");
    assert_true(control_group_free(root) == MIB);
    plant(root, "sys/fs/cgroup/memoryc/memory.limit_in_bytes", "1048576\n");
    static const char *const elsewhere[] = {"4:memory:/docker/abc\n", "4:memory:/\n", "4:memory:/../ab\n"};
    for (int i = 0; i < 3; i++) {
        plant(root, "proc/self/cgroup", elsewhere[i]);
        assert_true(isinf(control_group_free(root)));
    }
    plant_process(root, "0::/../../other\n", SECOND);
    plant_second(root, "", "67108864\n");
    assert_true(isinf(control_group_free(root)));
}

/* Version 1, and beside it a hierarchy of version 2 without controllers. */
TEST_BETWEEN(test_first, make_root, remove_root)
{
    const char *root = *state;
    plant_process(root, "4:memory:/job/7\n2:cpu,cpuacct:/job\n1:name=systemd:/memory\n0::/\n", FIRST);
    assert_true(isinf(control_group_free(root)) && isinf(control_group_cores(root)));
    plant(root, "sys/fs/cgroup/memory/job/7/memory.limit_in_bytes", "9223372036854771712\n");
    plant(root, "sys/fs/cgroup/memory/job/7/memory.usage_in_bytes", "4096\n");
    assert_true(isinf(control_group_free(root)));
    plant(root, "sys/fs/cgroup/memory/job/memory.limit_in_bytes", "67108864\n");
    plant(root, "sys/fs/cgroup/memory/job/memory.usage_in_bytes", "33554432\n");
    plant(root, "sys/fs/cgroup/memory/job/memory.stat", "inactive_file 4\ntotal_inactive_file 1024\n");
    assert_true(control_group_free(root) == 32 * MIB + KIB);
    plant(root, "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
    plant(root, "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
    assert_true(isinf(control_group_cores(root)));
    plant(root, "sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "50000\n");
    assert_true(control_group_cores(root) == 0.5);
}

/* The group, its files or all of /proc can be gone, and lines be of a kind that nobody has seen. */
TEST_BETWEEN(test_vanished, make_root, remove_root)
{
    const char *root = *state;
    assert_true(isinf(control_group_free("/nowhere")) && isinf(control_group_cores("/nowhere")));
    plant_process(root, "0::/gone/away\n", SECOND);
    assert_true(isinf(control_group_free(root)));
    plant(root, "sys/fs/cgroup/memory.max", "67108864\n");
    assert_true(control_group_free(root) == 64 * MIB);
    plant(root, "sys/fs/cgroup/memory.max", "");
    assert_true(isinf(control_group_free(root)));
    plant_process(root, "\n:\n0\n0::\n7:memory\n",
                  "\n1 2\n - cgroup2 cgroup2 rw\n1 2 0:3 / /sys/fs/cgroup - cgroup2\n");
    assert_true(isinf(control_group_free(root)) && isinf(control_group_cores(root)));
}

/* What programs ask for is within the limit; where nothing is known, no limit is claimed, and none is 0. */
TEST_BETWEEN(test_machine, make_root, remove_root)
{
    const char *root = *state;
    plant_process(root, "0::/a\n", SECOND);
    assert_true(machine_memory_free_under(root) == MACHINE_MEMORY_UNKNOWN);
    plant(root, "proc/meminfo", "MemTotal: 4096 kB\nMemAvailable:    2048 kB\n");
    assert_true(machine_memory_free_under(root) == 2 * MIB);
    plant_second(root, "/a", "32505856\n"); /* 31 MiB */
    assert_true(machine_memory_free_under(root) == MIB);
    plant_second(root, "/a", "1048576\n");
    assert_true(machine_memory_free_under(root) == 1);
    assert_true(machine_memory_free() > 1);
}
