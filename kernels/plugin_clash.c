/*
 * The names are the dynamic symbols of the file (System V ABI, chapters 4 and 5), as its table of sections
 * says: every compiler writes one. What a file that is cut or damaged does not have is read as zeros.
 */
#include "kernels/plugin_clash.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
    const char *bytes;
    uint64_t size;
};

static const void *at(const struct file *f, uint64_t place, size_t size)
{
    static const ElfW(Ehdr) zeros; /* the largest that is read */
    bool there = place <= f->size && size <= f->size - place && place % sizeof(ElfW(Addr)) == 0;
    return there ? f->bytes + place : (const void *)&zeros;
}

static const ElfW(Shdr) * section(const struct file *f, uint64_t i)
{
    const ElfW(Ehdr) *h = at(f, 0, sizeof *h);
    return at(f, h->e_shoff + i * sizeof(ElfW(Shdr)), sizeof(ElfW(Shdr)));
}

/* The name of a symbol that others see; null: they do not, or it is the compiler's, with _. */
static const char *exported(const struct file *f, const ElfW(Sym) * s, uint64_t names)
{
    uint64_t place = names + s->st_name;
    bool seen = s->st_shndx != SHN_UNDEF && ELF64_ST_BIND(s->st_info) != STB_LOCAL &&
                ELF64_ST_VISIBILITY(s->st_other) == STV_DEFAULT && place < f->size &&
                f->bytes[place] != '_' && memchr(f->bytes + place, 0, f->size - place);
    return seen ? f->bytes + place : NULL;
}

/* The object in which a name is found; null: in none, or, if asked for the program, not there. */
static const char *owner_of(const char *name, bool of_program)
{
    static const char here;
    Dl_info program, owner;
    const void *found = dlsym(RTLD_DEFAULT, name);
#ifdef __GLIBC__
    if (!found) /* `step` and others, which the C library has for old programs, and for names without a
                   version */
        found = dlvsym(RTLD_DEFAULT, name, "GLIBC_2.2.5");
#endif
    bool known = found && dladdr(found, &owner) && dladdr(&here, &program);
    return known && (!of_program || owner.dli_fbase == program.dli_fbase) ? owner.dli_fname : NULL;
}

static bool clash(const struct file *f, const char *path, bool of_program, char *error, size_t error_size)
{
    static const char class = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    const ElfW(Ehdr) *h = at(f, 0, sizeof *h);
    uint64_t i = 0,
             end = memcmp(h->e_ident, ELFMAG, SELFMAG) == 0 && h->e_ident[EI_CLASS] == class ? h->e_shnum : 0;
    while (i < end && section(f, i)->sh_type != SHT_DYNSYM)
        i++;
    const ElfW(Shdr) *table = section(f, i), *names = section(f, table->sh_link);
    const ElfW(Sym) * s;
    for (uint64_t used = 0; i < end && used < table->sh_size && used < f->size; used += sizeof *s) {
        s = at(f, table->sh_offset + used, sizeof *s);
        const char *name = exported(f, s, names->sh_offset),
                   *owner = name ? owner_of(name, of_program) : NULL;
        if (owner) {
            snprintf(error, error_size,
                     "%.200s: exports %.60s, but its calls would go to that of %.200s: rename it, make it "
                     "static, or compile with -fvisibility=hidden",
                     path, name, owner);
            return true;
        }
    }
    return false;
}

static bool clashes(const char *path, bool of_program, char *error, size_t error_size)
{
    struct stat about;
    int in = open(path, O_RDONLY | O_CLOEXEC);
    size_t size = in >= 0 && fstat(in, &about) == 0 ? (size_t)about.st_size : 0;
    void *bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, in, 0);
    if (in >= 0)
        close(in);
    if (bytes == MAP_FAILED)
        return false;
    bool any = clash(&(struct file){bytes, size}, path, of_program, error, error_size);
    munmap(bytes, size);
    return any;
}

bool plugin_clashes(const char *path, char *error, size_t error_size)
{
    return clashes(path, false, error, error_size);
}

bool plugin_needs_clash(void *library, char *error, size_t error_size)
{
    struct link_map *m;
    bool any = dlinfo(library, RTLD_DI_LINKMAP, &m) != 0;
    while (!any && (m = m->l_next) != NULL)
        any = !strstr(m->l_name, "/libgtmark") && clashes(m->l_name, true, error, error_size);
    return any;
}
