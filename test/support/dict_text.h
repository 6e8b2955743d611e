#ifndef OPLENS_TEST_SUPPORT_DICT_TEXT_H_
#define OPLENS_TEST_SUPPORT_DICT_TEXT_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace oplens::test {

/// Splits a one-line Python dict literal into its keys and the raw text of their values, by quotes
/// and brackets alone: written apart from the product's reader, so that one checks the other.
/// Throws std::runtime_error when the line is not such a literal.
std::vector<std::pair<std::string, std::string>> SplitDictLine(std::string_view line);

/// The raw text of one value; throws std::runtime_error when the key is missing.
std::string DictValue(std::string_view line, std::string_view key);

/// The lines of a text without their newlines. Throws std::runtime_error when the last one has
/// none.
std::vector<std::string> Lines(const std::string& text);

}  // namespace oplens::test

#endif  // OPLENS_TEST_SUPPORT_DICT_TEXT_H_
