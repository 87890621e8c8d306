/* Parts of PTX's text. */
#ifndef GTMARK_TESTS_EMULATOR_PTX_TEXT_H
#define GTMARK_TESTS_EMULATOR_PTX_TEXT_H

#include <string>
#include <string_view>
#include <vector>

namespace ptx
{
const char *const space = " \t\n";

/* One statement: "@GUARD NAME OPERAND, ...". */
struct statement {
    std::string_view text;
    std::string guard, name;
    std::vector<std::string> operands;
};

statement parse(std::string_view text);

std::string trimmed(std::string_view text);
bool begins(const std::string &text, const char *with);
/* At commas outside of brackets; each part is trimmed. */
std::vector<std::string> split(std::string_view text);
/* Of what is in braces, or of all. */
std::vector<std::string> elements(const std::string &text);
/* The text between the bracket at `open` and the one that closes it. */
std::string_view bracketed(std::string_view text, size_t open, char opens, char closes);
std::string_view last_word(std::string_view text);
} // namespace ptx

#endif
