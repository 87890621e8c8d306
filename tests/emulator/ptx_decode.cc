/*
 * A kernel's text as instructions. Functions that it calls become part of it; variables of a nested block are
 * those of the kernel, since nvcc writes them before it reads them.
 */
#include "tests/emulator/emulator.h"
#include "tests/emulator/ptx.h"
#include "tests/emulator/ptx_text.h"

#include <algorithm>
#include <cstdlib>

using namespace ptx;

[[noreturn]] static void fail_text(const kernel &k, std::string_view text, const char *what)
{
    emulator_fail("PTX of %.*s: %s: %.*s", (int)k.name.size(), k.name.data(), what, (int)text.size(),
                  text.data());
}

namespace
{
struct decoder {
    kernel &k;
    std::map<std::string, int> registers;
    std::map<std::string, int> bytes; /* of declared registers, by name without its number */
    std::map<std::pair<uint64_t, int>, int> constants;
    std::map<std::string, int> labels;
    std::vector<std::pair<size_t, std::string>> branches; /* and their labels */
    std::map<std::string, int64_t> places;                /* of parameters and shared arrays */
    struct source_location source;
    std::string scope;                        /* begins the names of a function that was called */
    std::map<std::string, std::string> bound; /* its parameters: variables of its caller */
    int calls;
};

int new_register(decoder &d)
{
    return d.k.registers++;
}

/* Of a declaration as ".reg .b64 %rd<52>" or ".param .b64 retval0". */
void declare(decoder &d, const statement &s)
{
    size_t dot = s.operands[0].find('.'), names = s.operands[0].find_first_of(space);
    std::string type = s.operands[0].substr(dot, names - dot);
    int bytes = type == ".pred" ? 4 : std::max(atoi(type.c_str() + 2) / 8, 4);
    for (const std::string &name : split(s.operands[0].substr(names)))
        d.bytes[d.scope + name.substr(0, name.find('<'))] = bytes;
}

std::string without_number(const std::string &name)
{
    return name.substr(0, name.find_last_not_of("0123456789") + 1);
}

/* The name in the kernel of a function's variable. */
std::string full_name(const decoder &d, const std::string &name)
{
    auto outer = d.bound.find(name);
    return outer == d.bound.end() ? d.scope + name : outer->second;
}

/* The bytes of a register's elements; 0: there is no such register. */
int bytes_of(const decoder &d, const std::string &name)
{
    std::string full = full_name(d, name);
    auto exact = d.bytes.find(full), family = d.bytes.find(without_number(full));
    return exact != d.bytes.end() ? exact->second : family != d.bytes.end() ? family->second : 0;
}

int register_named(decoder &d, const std::string &name)
{
    auto put = d.registers.emplace(full_name(d, name), d.k.registers);
    if (put.second)
        new_register(d);
    return put.first->second;
}

int constant(decoder &d, uint64_t value, int bytes)
{
    auto put = d.constants.emplace(std::make_pair(value, bytes), d.k.registers);
    if (put.second)
        d.k.constants[bytes == 8][new_register(d)] = value;
    return put.first->second;
}

/* Where a parameter or shared array is; shared ones get their place when they are first named. */
bool find_place(decoder &d, const std::string &name, int64_t *place)
{
    auto known = d.places.find(name);
    auto array = d.k.module->shared.find(name);
    if (known == d.places.end() && array != d.k.module->shared.end()) {
        int alignment = array->second.alignment;
        int start = (d.k.shared_bytes + alignment - 1) / alignment * alignment;
        d.k.shared_bytes = start + array->second.bytes;
        known = d.places.emplace(name, start).first;
    }
    *place = known == d.places.end() ? 0 : known->second;
    return known != d.places.end();
}

/* A register that holds the operand. */
int operand(decoder &d, const statement &s, const std::string &text, int bytes)
{
    int64_t place;
    bool is_float = text[0] == '0' && text.size() > 2 && strchr("fFdD", text[1]);
    if (is_float)
        return constant(d, strtoull(text.c_str() + 2, NULL, 16), bytes);
    if (strchr("-0123456789", text[0]))
        return constant(
            d, text[0] == '-' ? (uint64_t)strtoll(text.c_str(), NULL, 0) : strtoull(text.c_str(), NULL, 0),
            bytes);
    if (find_place(d, text, &place))
        return constant(d, (uint64_t)place, bytes);
    if (bytes_of(d, text))
        return register_named(d, text);
    if (text[0] != '%')
        fail_text(d.k, s.text, "unknown operand");
    return d.k.specials.emplace(text, d.k.specials.count(text) ? 0 : new_register(d)).first->second;
}

instruction &emit(decoder &d, runner *run)
{
    instruction i = {};
    i.run = run;
    i.source = d.source;
    d.k.code.push_back(i);
    return d.k.code.back();
}

void write(decoder &d, const statement &s, instruction &i, const std::string &name)
{
    if (!bytes_of(d, name) || i.writes == OPERANDS)
        fail_text(d.k, s.text, "unknown result");
    i.to[i.writes++] = register_named(d, name);
}

void read(decoder &d, const statement &s, instruction &i, const std::string &text, int bytes)
{
    if (i.reads == OPERANDS)
        fail_text(d.k, s.text, "too many operands");
    i.from[i.reads++] = operand(d, s, text, bytes);
}

void add_branch(decoder &d, const std::string &label, const std::string &guard)
{
    instruction &i = emit(d, guard.empty() ? run_branch_always : run_branch);
    d.branches.push_back({d.k.code.size() - 1, d.scope + label});
    i.negated = guard[0] == '!';
    if (!guard.empty())
        i.from[i.reads++] = register_named(d, guard.substr(i.negated));
}

/* A variable that is passed to a function or from it: its name in "[NAME+0]". */
std::string passed(const decoder &d, const std::string &address)
{
    std::string name = address.substr(1, address.find_first_of("+]") - 1);
    return name[0] != '%' && bytes_of(d, name) ? name : "";
}

void add_move(decoder &d, const statement &s, const std::string &to, const std::string &from)
{
    int bytes = bytes_of(d, to);
    instruction &i = emit(d, operation_named(bytes == 8 ? "mov.b64" : "mov.b32").run);
    write(d, s, i, to);
    read(d, s, i, from, bytes);
}

/* The function for a name as "ld.global.nc.v4.f32"; null: there is none. */
runner *access_named(const std::string &name)
{
    bool stores = begins(name, "st.");
    std::string of = name.substr(3);
    return begins(of, "global.")             ? stores ? run_store_global : run_load_global
           : begins(of, "shared.")           ? stores ? run_store_shared : run_load_shared
           : begins(of, "param.") && !stores ? run_load_parameter
                                             : NULL;
}

void add_access(decoder &d, const statement &s)
{
    bool stores = begins(s.name, "st.");
    const std::string &address = s.operands[!stores], &values = s.operands[stores];
    std::string type = s.name.substr(s.name.rfind('.') + 1), variable = passed(d, address);
    if (!variable.empty()) {
        add_move(d, s, stores ? variable : values, stores ? values : variable);
        return;
    }
    instruction &i = emit(d, access_named(s.name));
    size_t end = address.find_first_of("+]");
    if (!i.run)
        fail_text(d.k, s.text, "unknown instruction");
    i.bytes = atoi(type.c_str() + 1) / 8;
    i.is_signed = type[0] == 's';
    i.offset = address[end] == '+' ? atoll(address.c_str() + end + 1) : 0;
    read(d, s, i, address.substr(1, end - 1), s.name.find(".shared.") == s.name.npos ? 8 : 4);
    for (const std::string &one : elements(values)) {
        int bytes = bytes_of(d, one);
        i.wide = bytes ? bytes == 8 : i.bytes == 8;
        if (stores)
            read(d, s, i, one, i.wide ? 8 : 4);
        else
            write(d, s, i, one);
    }
}

/* mov.b64 between a register and a pair of others. */
void add_pair(decoder &d, const statement &s)
{
    bool packs = s.operands[1][0] == '{';
    instruction &i = emit(d, packs ? run_pack : run_unpack);
    for (const std::string &one : elements(s.operands[0]))
        write(d, s, i, one);
    for (const std::string &one : elements(s.operands[1]))
        read(d, s, i, one, packs ? 4 : 8);
}

void add_shuffle(decoder &d, const statement &s)
{
    instruction &i = emit(d, shuffle_named(s.name.substr(10, s.name.rfind('.') - 10)));
    if (!i.run)
        fail_text(d.k, s.text, "unknown instruction");
    size_t bar = s.operands[0].find('|');
    write(d, s, i, s.operands[0].substr(0, bar));
    if (bar != std::string::npos)
        write(d, s, i, s.operands[0].substr(bar + 1));
    for (size_t n = 1; n < s.operands.size(); n++)
        read(d, s, i, s.operands[n], 4);
}

/* Vectors in braces and addresses without offsets, as inline assembly has them; the first, of others than
 * copies, is written. */
void add_matrices(decoder &d, const statement &s)
{
    instruction &i = emit(d, matrices_named(s.name));
    i.counts = counted_as(s.name);
    bool copies = begins(s.name, "cp.");
    if (begins(s.name, "cp.async.cg.") && s.operands[2] != "16")
        fail_text(d.k, s.text, "cp.async.cg copies 16 bytes");
    for (size_t n = 0; n < s.operands.size(); n++) {
        bool address = s.operands[n][0] == '[';
        for (const std::string &one : elements(address ? "{" + s.operands[n].substr(1) : s.operands[n]))
            if (n == 0 && !copies)
                write(d, s, i, one);
            else
                read(d, s, i, one, bytes_of(d, one) == 8 ? 8 : 4);
    }
}

/* "vote.sync.any.pred RESULT, PREDICATE, MASK". */
void add_vote(decoder &d, const statement &s)
{
    instruction &i = emit(d, run_vote_any);
    write(d, s, i, s.operands[0]);
    for (size_t n = 1; n < s.operands.size(); n++)
        read(d, s, i, s.operands[n], 4);
}

/* "Operand Size Exceeding Instruction-Type Size": of a wider register, the lower half. */
int operand_within(decoder &d, const statement &s, const std::string &text, int bytes)
{
    int wide = bytes_of(d, text);
    if (!wide || wide == bytes)
        return operand(d, s, text, bytes);
    if (wide < bytes)
        fail_text(d.k, s.text, "a register is too narrow");
    int from = operand(d, s, text, wide);
    instruction &i = emit(d, operation_named("cvt.u32.u64").run);
    i.from[i.reads++] = from;
    return i.to[i.writes++] = new_register(d);
}

/* What the tables of ptx_operations.cc have. */
void add_arithmetic(decoder &d, const statement &s)
{
    operation o = operation_named(s.name);
    size_t last = s.name.rfind('.');
    if (begins(s.name, "setp."))
        o = comparison_named(s.name.substr(5, last - 5), s.name.substr(last + 1));
    if (!o.run || s.operands.empty() || s.operands.size() > OPERANDS)
        fail_text(d.k, s.text, "unknown instruction");
    int from[OPERANDS], reads = (int)s.operands.size() - 1;
    for (int n = 0; n < reads; n++)
        from[n] = operand_within(d, s, s.operands[(size_t)n + 1], o.bytes[n]);
    instruction &i = emit(d, o.run);
    i.counts = counted_as(s.name);
    write(d, s, i, s.operands[0]);
    i.reads = reads;
    std::copy_n(from, reads, i.from);
}

void decode_text(decoder &d, std::string_view text);

/* "call.uni (RESULT), NAME, (PARAMETER, ...)". */
void add_call(decoder &d, const statement &s)
{
    auto f = d.k.module->functions.find(s.operands[1]);
    std::vector<std::string> arguments = elements("{" + s.operands[2].substr(1));
    if (f == d.k.module->functions.end() || !d.scope.empty() ||
        arguments.size() != f->second.parameters.size())
        fail_text(d.k, s.text, "unknown call");
    d.bound[std::string(f->second.result)] = trimmed(s.operands[0].substr(1, s.operands[0].size() - 2));
    for (size_t n = 0; n < arguments.size(); n++)
        d.bound[std::string(f->second.parameters[n])] = arguments[n];
    d.scope = "call" + std::to_string(d.calls++) + " ";
    decode_text(d, f->second.body);
    d.labels[d.scope + "end"] = (int)d.k.code.size();
    d.scope = "";
    d.bound.clear();
}

void add_return(decoder &d)
{
    if (d.scope.empty())
        emit(d, run_exit);
    else
        add_branch(d, "end", "");
}

void add_statement(decoder &d, const statement &s)
{
    if (s.name == ".reg" || s.name == ".param")
        declare(d, s);
    else if (s.name == ".pragma" || s.name == ".shared") /* known to the module */
        return;
    else if (s.name == "bra" || s.name == "bra.uni")
        add_branch(d, s.operands[0], s.guard);
    else if (!s.guard.empty())
        fail_text(d.k, s.text, "unknown guard");
    else if (s.name == "ret")
        add_return(d);
    else if (s.name == "bar.sync" && s.operands[0] == "0")
        emit(d, run_barrier);
    else if (s.name == "call.uni")
        add_call(d, s);
    else if (s.name == "vote.sync.any.pred")
        add_vote(d, s);
    else if (matrices_named(s.name))
        add_matrices(d, s);
    else if (begins(s.name, "shfl.sync."))
        add_shuffle(d, s);
    else if (begins(s.name, "ld.") || begins(s.name, "st."))
        add_access(d, s);
    else if (s.name == "mov.b64" && (s.operands[0][0] == '{' || s.operands[1][0] == '{'))
        add_pair(d, s);
    else
        add_arithmetic(d, s);
}

/* "FILE LINE". */
void read_place(const decoder &d, const char *text, const char **file, int *line)
{
    char *rest;
    auto found = d.k.module->files.find((int)strtol(text, &rest, 10));
    *file = found == d.k.module->files.end() ? "?" : found->second.c_str();
    *line = (int)strtol(rest, NULL, 10);
}

/* ".loc FILE LINE COLUMN", with ", inlined_at FILE LINE COLUMN" of the call. */
void set_source(decoder &d, const std::string &text)
{
    const char *call = strstr(text.c_str(), "inlined_at ");
    d.source = {};
    read_place(d, text.c_str() + strlen(".loc"), &d.source.file, &d.source.line);
    if (call)
        read_place(d, call + strlen("inlined_at "), &d.source.calling_file, &d.source.calling_line);
}

/* The bytes of what is first in the text, after it was added. */
size_t add_first(decoder &d, std::string_view text)
{
    size_t line = std::min(text.find('\n'), text.size()), end;
    if (text[0] == '{' || text[0] == '}')
        return 1;
    if (text.compare(0, 5, ".loc\t") == 0) {
        set_source(d, std::string(text.substr(0, line)));
        return line;
    }
    if (text[0] == '$' && text[line - 1] == ':') {
        d.labels[d.scope + std::string(text.substr(0, line - 1))] = (int)d.k.code.size();
        return line;
    }
    end = std::min(text.find(';'), text.size());
    add_statement(d, parse(text.substr(0, end)));
    return end + 1;
}

void decode_text(decoder &d, std::string_view text)
{
    for (size_t at = text.find_first_not_of(space); at != text.npos; at = text.find_first_not_of(space)) {
        text.remove_prefix(at);
        text.remove_prefix(std::min(add_first(d, text), text.size()));
    }
}
} // namespace

void ptx::decode(kernel &k)
{
    decoder d = {k, {}, {}, {}, {}, {}, {}, {}, "", {}, 0};
    for (size_t n = 0; n < k.parameters.size(); n++)
        d.places[std::string(k.name) + "_param_" + std::to_string(n)] = k.parameters[n].offset;
    decode_text(d, k.body);
    for (const auto &[index, label] : d.branches) {
        auto found = d.labels.find(label);
        if (found == d.labels.end())
            fail_text(k, label, "unknown label");
        k.code[index].target = found->second;
    }
}
