#include "tests/npy.h"
#include "tests/test.h"

#include <inttypes.h>

enum { PREFIX = 10 };

/* All bytes of a file, allocated. */
static unsigned char *bytes_of(const char *path, size_t *size)
{
    FILE *in = fopen(path, "rb");
    if (!in)
        fail_msg("%s cannot be read", path);
    fseek(in, 0, SEEK_END);
    *size = (size_t)ftell(in);
    rewind(in);
    unsigned char *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    if (fread(bytes, 1, *size, in) != *size)
        fail_msg("%s cannot be read", path);
    fclose(in);
    bytes[*size] = '\0';
    return bytes;
}

struct array npy_read(const char *path)
{
    static const unsigned char magic[] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
    size_t size;
    unsigned char *bytes = bytes_of(path, &size);
    if (size < PREFIX || memcmp(bytes, magic, sizeof magic) != 0)
        fail_msg("%s: not NumPy's format 1.0", path);
    size_t start = PREFIX + bytes[8] + 256u * bytes[9];
    if (start > size || start % 64 != 0 || bytes[start - 1] != '\n')
        fail_msg("%s: the header has %zu bytes, in a file of %zu", path, start, size);
    struct array a = {0};
    if (sscanf((const char *)bytes + PREFIX,
               "{'descr': '<%2[fi48]', 'fortran_order': False, 'shape': (%" SCNd64 ", %" SCNd64, a.type,
               &a.rows, &a.cols) < 2)
        fail_msg("%s: the header is %s", path, (const char *)bytes + PREFIX);
    size_t elements = (size_t)(a.rows * (a.cols ? a.cols : 1)), element = a.type[1] == '4' ? 4 : 8;
    if (size - start != elements * element)
        fail_msg("%s: %zu bytes for %zu elements of %zu", path, size - start, elements, element);
    memmove(bytes, bytes + start, size - start);
    a.data = bytes;
    return a;
}

struct mat array_mat(const struct array *a)
{
    assert_true(a->cols > 0 && strcmp(a->type, "i4") != 0);
    enum dtype dtype = strcmp(a->type, "f4") == 0 ? F32 : strcmp(a->type, "f8") == 0 ? F64 : I64;
    return (struct mat){.data = a->data, .rows = a->rows, .cols = a->cols, .ld = a->cols, .dtype = dtype};
}
