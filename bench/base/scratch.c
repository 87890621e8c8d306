#include "bench/base/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool scratch_make(char path[PATH_MAX], struct message *error)
{
    const char *given = getenv("TMPDIR"), *parent = given && *given ? given : "/tmp";
    int length = snprintf(path, PATH_MAX, "%s/gtmark-count-XXXXXX", parent);
    if (length < PATH_MAX && mkdtemp(path))
        return true;
    return complain(error, "TMPDIR=%.300s: cannot be written: %s", parent,
                    strerror(length < PATH_MAX ? errno : ENAMETOOLONG));
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
