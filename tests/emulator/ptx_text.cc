#include "tests/emulator/ptx_text.h"

#include <algorithm>
#include <cstring>

using namespace ptx;

std::string ptx::trimmed(std::string_view text)
{
    size_t first = text.find_first_not_of(space);
    return first == text.npos ? ""
                              : std::string(text.substr(first, text.find_last_not_of(space) + 1 - first));
}

std::vector<std::string> ptx::split(std::string_view text)
{
    std::vector<std::string> parts;
    size_t start = 0;
    int depth = 0;
    for (size_t i = 0; i <= text.size(); i++) {
        char c = i < text.size() ? text[i] : ',';
        depth += (c == '{' || c == '[' || c == '(') - (c == '}' || c == ']' || c == ')');
        if (c == ',' && depth == 0) {
            parts.push_back(trimmed(text.substr(start, i - start)));
            start = i + 1;
        }
    }
    return parts;
}

statement ptx::parse(std::string_view text)
{
    statement s = {text, "", "", {}};
    if (text[0] == '@') {
        size_t end = text.find_first_of(space);
        s.guard = text.substr(1, end - 1);
        text.remove_prefix(std::min(text.find_first_not_of(space, end), text.size()));
    }
    size_t end = std::min(text.find_first_of(space), text.size());
    s.name = text.substr(0, end);
    if (end < text.size())
        s.operands = split(text.substr(end));
    return s;
}

bool ptx::begins(const std::string &text, const char *with)
{
    return text.compare(0, strlen(with), with) == 0;
}

std::vector<std::string> ptx::elements(const std::string &text)
{
    return text[0] == '{' ? split(text.substr(1, text.size() - 2)) : split(text);
}

std::string_view ptx::bracketed(std::string_view text, size_t open, char opens, char closes)
{
    int depth = 0;
    for (size_t i = open; i < text.size(); i++) {
        depth += (text[i] == opens) - (text[i] == closes);
        if (depth == 0)
            return text.substr(open + 1, i - open - 1);
    }
    return text.substr(open + 1);
}

std::string_view ptx::last_word(std::string_view text)
{
    size_t end = text.find_last_not_of(" \n\t") + 1, start = text.find_last_of(" \n\t", end - 1) + 1;
    return text.substr(start, end - start);
}
