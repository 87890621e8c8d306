/*
 * What nvcc's objects register when they are loaded: their code, of which PTX is a part as text, and the
 * kernels that the host's code launches, by addresses.
 */
#include "tests/emulator/emulator.h"
#include "tests/emulator/ptx.h"
#include "tests/emulator/ptx_text.h"

#include <cstdlib>

#include <fatbinary_section.h>

using namespace ptx;

namespace
{
/* Of one object; read when a kernel of it is first used. */
struct code {
    std::string_view text;
    module of;
    std::map<std::string_view, kernel> kernels;
};

struct registered {
    struct code *code;
    const char *name;
};

/* Made before the first object registers anything, which may be before this file's variables are. */
std::map<const void *, registered> &functions()
{
    static std::map<const void *, registered> all;
    return all;
}

/* Calls `found` with what follows each `word` that begins a line. */
template <class F> void each_line(std::string_view text, const std::string &word, F found)
{
    std::string start = "\n" + word;
    for (size_t at = text.find(start); at != text.npos; at = text.find(start, at + 1))
        found(text.substr(at + start.size()));
}

/* As ".align 8 .b8 NAME[40]" or ".u64 NAME". */
int declared_bytes(std::string_view declaration, int *alignment)
{
    size_t array = declaration.find('['), type = declaration.rfind('.');
    int bytes = atoi(declaration.data() + type + 2) / 8, count = 1;
    *alignment = bytes;
    if (array != declaration.npos)
        count = atoi(declaration.data() + array + 1);
    if (declaration.find(".align ") != declaration.npos)
        *alignment = atoi(declaration.data() + declaration.find(".align ") + strlen(".align "));
    return bytes * count;
}

template <class F> void each_parameter(std::string_view list, F found)
{
    while (!list.empty()) {
        size_t comma = std::min(list.find(','), list.size());
        if (list.substr(0, comma).find(".param") != list.npos)
            found(list.substr(0, comma));
        list.remove_prefix(std::min(comma + 1, list.size()));
    }
}

void add_kernel(struct code &c, std::string_view text)
{
    kernel k = {};
    size_t list = text.find('('), body = text.find('{', list), bound;
    k.module = &c.of;
    k.name = last_word(text.substr(0, list));
    k.body = bracketed(text, body, '{', '}');
    each_parameter(bracketed(text, list, '(', ')'), [&](std::string_view one) {
        int alignment, bytes = declared_bytes(one, &alignment);
        int offset = (k.parameter_bytes + alignment - 1) / alignment * alignment;
        k.parameters.push_back({offset, bytes});
        k.parameter_bytes = offset + bytes;
    });
    bound = text.substr(0, body).find(".maxntid ");
    k.threads = bound == text.npos ? 0 : atoi(text.data() + bound + 9);
    c.kernels.emplace(k.name, k);
}

/* Declarations without a body are of functions that follow. */
void add_function(module &m, std::string_view text)
{
    size_t result = text.find('('), list = text.find('(', result + 1), body = text.find('{');
    if (text.find(';') < body)
        return;
    function f = {last_word(bracketed(text, result, '(', ')')), bracketed(text, body, '{', '}'), {}};
    each_parameter(bracketed(text, list, '(', ')'),
                   [&](std::string_view one) { f.parameters.push_back(last_word(one)); });
    m.functions[last_word(text.substr(text.find(')') + 1, list - text.find(')') - 1))] = f;
}

void read(struct code &c)
{
    each_line(c.text, ".shared", [&](std::string_view one) {
        one = one.substr(0, one.find(';'));
        int alignment, bytes = declared_bytes(one, &alignment);
        c.of.shared[last_word(one.substr(0, one.find('[')))] = {alignment, bytes};
    });
    each_line(c.text, ".file", [&](std::string_view one) {
        std::string_view path = one.substr(0, one.find('"', one.find('"') + 1));
        c.of.files[atoi(one.data())] = path.substr(path.rfind('/') + 1);
    });
    each_line(c.text, ".func", [&](std::string_view one) { add_function(c.of, one); });
    for (const char *linkage : {".entry ", ".visible .entry ", ".weak .entry "})
        each_line(c.text, linkage, [&](std::string_view one) { add_kernel(c, one); });
}

/* How code for several GPUs begins; the size is that of what follows. */
struct header {
    uint32_t magic;
    uint16_t version, header_bytes;
    uint64_t bytes;
};
} // namespace

extern "C" {
void **__cudaRegisterFatBinary(void *wrapper)
{
    const char *from = (const char *)((__fatBinC_Wrapper_t *)wrapper)->data;
    const struct header *h = (const struct header *)from;
    std::string_view all(from + h->header_bytes, h->bytes);
    size_t start = std::min(all.find(".version "), all.size());
    functions();
    return (void **)new code{all.substr(start, all.find('\0', start) - start), {}, {}};
}

void __cudaRegisterFatBinaryEnd(void **)
{
}

void __cudaUnregisterFatBinary(void **code)
{
    for (auto at = functions().begin(); at != functions().end();)
        at = (void **)at->second.code == code ? functions().erase(at) : std::next(at);
    delete (struct code *)code;
}

void __cudaRegisterFunction(void **code, const char *function, char *, const char *name, int, uint3 *,
                            uint3 *, dim3 *, dim3 *, int *)
{
    functions()[function] = {(struct code *)code, name};
}
}

kernel &ptx_kernel(const void *function)
{
    auto [code, name] = functions().at(function);
    if (code->kernels.empty())
        read(*code);
    auto found = code->kernels.find(name);
    if (found == code->kernels.end())
        emulator_fail("no PTX of %s: it must be embedded as text (nvcc -no-compress)", name);
    if (found->second.code.empty())
        decode(found->second);
    return found->second;
}

std::map<const void *, const char *> ptx_kernels(void)
{
    std::map<const void *, const char *> names;
    for (const auto &[function, r] : functions())
        names[function] = r.name;
    return names;
}
