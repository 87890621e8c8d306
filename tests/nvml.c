#include "tests/nvml.h"
#include "tests/test.h"

#include <dlfcn.h>
#include <unistd.h>

struct player player_open(const char *kind)
{
    struct player p = {0};
    char directory[PATH_MAX / 2];
    ssize_t length = readlink("/proc/self/exe", directory, sizeof directory - 1);
    assert_true(length > 0);
    directory[length] = '\0';
    *strrchr(directory, '/') = '\0';
    snprintf(p.path, sizeof p.path, "%s/nvml_%s.so", directory, kind);
    p.library = dlopen(p.path, RTLD_NOW | RTLD_LOCAL);
    if (!p.library)
        fail_msg("%s", dlerror());
    p.played = dlsym(p.library, PLAYED);
    assert_non_null(p.played);
    *p.played = (struct played){0};
    return p;
}

void player_close(struct player *p)
{
    assert_int_equal(p->played->started, 0);
    assert_int_equal(dlclose(p->library), 0);
}
