#include "bench/base/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool scratch_make(char path[PATH_MAX], struct message *error)
{
    const char *parent = getenv("TMPDIR");
    int length = snprintf(path, PATH_MAX, "%s/gtmark-count-XXXXXX", parent && *parent ? parent : "/tmp");
    if (length < PATH_MAX && mkdtemp(path))
        return true;
    return complain(error, "%s: %s", path, strerror(length < PATH_MAX ? errno : ENAMETOOLONG));
}

void scratch_remove(const char *path)
{
    DIR *directory = opendir(path);
    for (struct dirent *e; directory && (e = readdir(directory)) != NULL;)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            unlinkat(dirfd(directory), e->d_name, 0);
    if (directory)
        closedir(directory);
    rmdir(path);
}
