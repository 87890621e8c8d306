/*
 * The file that GTMARK_PTX names: PTX, or what contains it as text, as the library for GPUs does. A kernel is
 * found by the demangled name of its function, since names of unnamed namespaces differ between compilers.
 */
#include "tests/emulator/emulator.h"
#include "tests/emulator/ptx.h"
#include "tests/emulator/ptx_text.h"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <list>
#include <sstream>

#include <cxxabi.h>

using namespace ptx;

namespace
{
/* What GTMARK_PTX contains, read once. */
struct library {
    std::string text;
    std::list<module> modules;
    std::map<std::string, kernel> kernels; /* by demangled name */
};

std::string demangled(const std::string &name)
{
    char *text = abi::__cxa_demangle(name.c_str(), NULL, NULL, NULL);
    std::string out = text ? text : name;
    free(text);
    return out;
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

void add_kernel(library &l, const module &m, std::string_view text)
{
    kernel k = {};
    size_t list = text.find('('), body = text.find('{', list), bound;
    k.module = &m;
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
    l.kernels.emplace(demangled(std::string(k.name)), k);
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

void add_module(library &l, std::string_view text)
{
    module &m = l.modules.emplace_back();
    each_line(text, ".shared", [&](std::string_view one) {
        one = one.substr(0, one.find(';'));
        int alignment, bytes = declared_bytes(one, &alignment);
        m.shared[last_word(one.substr(0, one.find('[')))] = {alignment, bytes};
    });
    each_line(text, ".file", [&](std::string_view one) {
        std::string_view path = one.substr(0, one.find('"', one.find('"') + 1));
        m.files[atoi(one.data())] = path.substr(path.rfind('/') + 1);
    });
    each_line(text, ".func", [&](std::string_view one) { add_function(m, one); });
    for (const char *linkage : {".entry ", ".visible .entry ", ".weak .entry "})
        each_line(text, linkage, [&](std::string_view one) { add_kernel(l, m, one); });
}

library &opened()
{
    static library l;
    if (!l.text.empty())
        return l;
    std::ifstream in(getenv("GTMARK_PTX"), std::ios::binary);
    std::ostringstream all;
    all << in.rdbuf();
    l.text = all.str();
    const std::string start = ".version ";
    for (size_t at = l.text.find(start), end; at != l.text.npos; at = l.text.find(start, end)) {
        end = std::min(l.text.find('\0', at), l.text.size());
        add_module(l, std::string_view(l.text).substr(at, end - at));
    }
    if (l.kernels.empty())
        emulator_fail("GTMARK_PTX: no kernels in %s", getenv("GTMARK_PTX"));
    return l;
}
} // namespace

bool ptx_chosen(void)
{
    const char *file = getenv("GTMARK_PTX");
    return file && *file;
}

kernel &ptx_kernel(const void *function)
{
    static std::map<const void *, kernel *> known;
    kernel *&k = known[function];
    if (!k) {
        std::string name = demangled(emulator_symbol(function));
        auto found = opened().kernels.find(name);
        if (found == opened().kernels.end())
            emulator_fail("no PTX of %s in %s", name.c_str(), getenv("GTMARK_PTX"));
        k = &found->second;
        if (k->code.empty())
            decode(*k);
    }
    return *k;
}

std::vector<char> ptx_pack(const kernel &k, const std::vector<emulated_argument> &arguments)
{
    std::vector<char> packed((size_t)k.parameter_bytes, (char)POISON);
    bool fits = arguments.size() == k.parameters.size();
    for (size_t i = 0; fits && i < arguments.size(); i++) {
        fits = arguments[i].bytes == (size_t)k.parameters[i].bytes;
        if (fits)
            memcpy(&packed[(size_t)k.parameters[i].offset], arguments[i].at, arguments[i].bytes);
    }
    if (!fits)
        emulator_fail("parameters differ from those of %.*s", (int)k.name.size(), k.name.data());
    return packed;
}
