#include "bench/base/paths.h"
#include "analysis/record/result_file.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The nearest directory above the program that is a checkout of gtmark; "." if there is none. */
static void checkout(char root[PATH_MAX])
{
    ssize_t length = readlink("/proc/self/exe", root, PATH_MAX - 1);
    root[length > 0 ? length : 0] = '\0';
    for (char *slash; (slash = strrchr(root, '/')) != NULL;) {
        *slash = '\0';
        char ours[PATH_MAX + 16];
        snprintf(ours, sizeof ours, "%s/kernels/ops.def", root);
        if (access(ours, F_OK) == 0)
            return;
    }
    snprintf(root, PATH_MAX, ".");
}

static bool make_directory(const char *path)
{
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

bool paths_default(const char *name, char path[PATH_MAX], struct message *error)
{
    char root[PATH_MAX], directory[PATH_MAX + 16];
    checkout(root);
    snprintf(directory, sizeof directory, "%s/results", root);
    bool made = make_directory(directory);
    strcat(directory, "/local");
    if (!made || !make_directory(directory))
        return complain(error, "%s: %s", directory, strerror(errno));
    if (snprintf(path, PATH_MAX, "%s/%s", directory, name) >= PATH_MAX)
        return complain(error, "%s: the path is too long", directory);
    return true;
}

bool place_name(const char *name, char path[PATH_MAX])
{
    char root[PATH_MAX];
    checkout(root);
    return snprintf(path, PATH_MAX, "%s/results/local/%s", root, name) < PATH_MAX;
}

/* The directory of a path, and the last component of the path; null if there is no such directory. */
static const char *split(const char *path, struct stat *directory)
{
    char parent[PATH_MAX] = ".";
    const char *slash = strrchr(path, '/');
    if (slash)
        snprintf(parent, PATH_MAX, "%.*s", (int)(slash - path) + 1, path);
    return stat(parent, directory) != 0 ? NULL : slash ? slash + 1 : path;
}

bool paths_same(const char *a, const char *b)
{
    struct stat there, here;
    const char *x = split(a, &there), *y = split(b, &here);
    return x && y && strcmp(x, y) == 0 && there.st_dev == here.st_dev && there.st_ino == here.st_ino;
}

void paths_prefix(const char *path, char prefix[PATH_MAX])
{
    snprintf(prefix, PATH_MAX, "%.*s", (int)record_name_length(path), path);
}
