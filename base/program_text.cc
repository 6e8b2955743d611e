#include "base/program_text.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/cxxopts.h"

namespace oplens {
namespace {

constexpr std::string_view kFileArguments[] = {"FILE", "DB", "FOLDER"};
constexpr char kOtherOptions[] = "Other options";

bool Holds(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

OptionText TextOf(const cxxopts::HelpOptionDetails& details) {
  OptionText text;
  text.short_name = details.s;
  if (!details.l.empty()) text.long_name = details.l.front();
  if (!details.is_boolean) text.argument = details.arg_help.empty() ? "ARG" : details.arg_help;
  text.text = details.desc;
  if (details.has_default && !details.is_boolean && !details.default_value.empty()) {
    text.text += " (default: " + details.default_value + ")";
  }
  return text;
}

OptionGroup GroupOf(const cxxopts::Options& options, const std::string& name) {
  OptionGroup group{name.empty() ? kOtherOptions : name, {}};
  for (const cxxopts::HelpOptionDetails& details : options.group_help(name).options) {
    group.options.push_back(TextOf(details));
  }
  return group;
}

}  // namespace

std::vector<std::string> OptionText::Names() const {
  std::vector<std::string> names;
  if (!short_name.empty()) names.push_back("-" + short_name);
  if (!long_name.empty()) names.push_back("--" + long_name);
  return names;
}

std::vector<std::string> OptionText::ArgumentWords() const {
  std::vector<std::string> words;
  if (argument.find('|') == argument.npos) return words;
  for (size_t begin = 0; begin <= argument.size();) {
    const size_t end = std::min(argument.find('|', begin), argument.size());
    words.push_back(argument.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

bool OptionText::TakesFile() const {
  return std::find(std::begin(kFileArguments), std::end(kFileArguments), argument) !=
         std::end(kFileArguments);
}

bool OptionText::Is(const std::string& name) const {
  return !name.empty() && (name == short_name || name == long_name);
}

std::vector<OptionGroup> ShownOptions(const ProgramText& text, const cxxopts::Options& options) {
  std::vector<OptionGroup> groups;
  const std::vector<std::string> declared = options.groups();
  for (const std::string& name : text.groups) {
    if (Holds(declared, name)) groups.push_back(GroupOf(options, name));
  }
  for (const std::string& name : declared) {
    if (name == kHiddenOptions || Holds(text.groups, name)) continue;
    groups.push_back(GroupOf(options, name));
  }
  const std::string implied = "With --" + text.implied + ": ";
  for (OptionGroup& group : groups) {
    std::erase_if(group.options, [&](const OptionText& option) {
      return Holds(text.left_out, option.short_name) || Holds(text.left_out, option.long_name);
    });
    for (OptionText& option : group.options) {
      if (!option.text.starts_with(implied)) continue;
      option.text.erase(0, implied.size());
      option.text.front() =
          static_cast<char>(std::toupper(static_cast<unsigned char>(option.text.front())));
    }
  }
  std::erase_if(groups, [](const OptionGroup& group) { return group.options.empty(); });
  return groups;
}

std::vector<WordText> ValueWords(const ProgramText& text, const OptionText& option, bool* several) {
  std::vector<WordText> words;
  *several = false;
  const auto add = [&](const WordText& word) {
    const bool known = std::any_of(words.begin(), words.end(),
                                   [&](const WordText& other) { return other.word == word.word; });
    if (!known) words.push_back(word);
  };
  for (const std::string& word : option.ArgumentWords()) add({word});
  for (const WordList& list : text.lists) {
    const bool its = std::any_of(list.options.begin(), list.options.end(),
                                 [&](const std::string& name) { return option.Is(name); });
    if (!its) continue;
    *several = *several || list.several;
    for (const WordText& word : list.words) add(word);
  }
  return words;
}

}  // namespace oplens
