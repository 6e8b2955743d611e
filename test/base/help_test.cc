// What is made of an option table and a ProgramText: help, manual page, completion.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/cxxopts.h"
#include "base/error.h"
#include "base/help_options.h"
#include "base/help_text.h"
#include "base/manual.h"

namespace oplens::help_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

ProgramText Text() {
  return {.name = "prof",
          .summary = "it's a summary",
          .synopsis = {"[OPTIONS] FILE"},
          .groups = {"Second", "First"},
          .description = {"One paragraph whose words .begin with a full stop, and - a dash."},
          .examples = {{"parse x | prof -c op", "what an example does"},
                       {"sort prof", "a file called prof"}},
          .lists = {{"Columns of -c", {"c"}, true, {{"op", "the op", "ns"}, {"mod", "a module"}}},
                    {"", {"c"}, true, {{"all", "everything"}, {"op", "once only"}}},
                    {"Keys", {"by"}, true, {{"k1"}, {"k2"}}}},
          .exit_codes = {{"0", "fine"}},
          .see_also = {"oplens", "parse"}};
}

cxxopts::Options Declared() {
  cxxopts::Options options("prof");
  options.add_options("First")("c", "Columns", cxxopts::value<std::string>()->default_value("op"),
                               "COLS");
  options.add_options("First")("by", "Keys", cxxopts::value<std::string>(), "KEYS");
  options.add_options("Second")("o,output", "Where to", cxxopts::value<std::string>(), "FILE");
  options.add_options("Second")("mode", "How", cxxopts::value<std::string>(), "on|off");
  options.add_options()("late", "In no group");
  options.add_options(kHiddenOptions)("secret", "Not told");
  AddHelpOptions(&options);
  return options;
}

std::vector<OptionGroup> Shown() { return ShownOptions(Text(), Declared()); }

std::string Message(std::vector<std::string> words) {
  words.insert(words.begin(), "prof");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  cxxopts::Options options = Declared();
  const auto given = options.parse(static_cast<int>(argv.size()), argv.data());
  return HelpMessage(Text(), options, given).value_or("(none)");
}

TEST(ProgramTextTest, GroupsInTheirOrderThenTheOthersAndNothingHidden) {
  std::vector<std::string> titles;
  for (const OptionGroup& group : Shown()) {
    titles.push_back(group.title);
    for (const OptionText& option : group.options) {
      EXPECT_NE(option.long_name, "secret");
    }
  }
  EXPECT_THAT(titles, ElementsAre("Second", "First", "Other options", "Help"));
}

TEST(ProgramTextTest, WordsOfValues) {
  bool several = false;
  const auto words = [&](const OptionText& option) {
    std::vector<std::string> found;
    for (const WordText& word : ValueWords(Text(), option, &several)) found.push_back(word.word);
    return found;
  };
  EXPECT_THAT(words({"c", "", "COLS", ""}), ElementsAre("op", "mod", "all"));
  EXPECT_TRUE(several);
  EXPECT_THAT(words({"", "mode", "on|off", ""}), ElementsAre("on", "off"));
  EXPECT_FALSE(several);
  EXPECT_THAT(words({"o", "output", "FILE", ""}), IsEmpty());
}

TEST(HelpTextTest, EachLineFits) {
  for (const size_t columns : {40U, 60U, 100U}) {
    std::istringstream help(HelpText(Text(), Shown(), columns));
    for (std::string line; std::getline(help, line);) {
      EXPECT_LE(line.size(), columns) << line;
      EXPECT_FALSE(line.ends_with(' ')) << line;
    }
  }
}

TEST(HelpTextTest, ShowsExamplesBeforeOptionsAndDefaults) {
  const std::string help = Message({"-h"});
  EXPECT_LT(help.find("Examples:"), help.find("Second:"));
  EXPECT_THAT(help, HasSubstr("  -c COLS"));
  EXPECT_THAT(help, HasSubstr("Columns (default: op)\n"));
  EXPECT_THAT(help, HasSubstr("  -o, --output FILE"));
  EXPECT_THAT(help, HasSubstr("      --mode on|off"));
  EXPECT_THAT(help, HasSubstr("  op   [ns] the op\n  mod       a module\n"));
  EXPECT_THAT(help, HasSubstr("Keys:\n  k1, k2\n"));
  EXPECT_THAT(help, Not(HasSubstr("everything")));
  EXPECT_THAT(help, Not(HasSubstr("secret")));
}

TEST(HelpTextTest, WrapsAtBlanksOnly) {
  std::string text = "    ";
  AppendWrapped("aaaa bbbb cccccccccccccccc d", 4, 10, &text);
  EXPECT_EQ(text, "    aaaa\n    bbbb\n    cccccccccccccccc\n    d\n");
  text = "ab";
  AppendWrapped("", 4, 10, &text);
  EXPECT_EQ(text, "ab\n");
}

TEST(HelpOptionsTest, VersionAndOthers) {
  EXPECT_THAT(Message({"--version"}), testing::StartsWith("prof (oplens) "));
  EXPECT_EQ(Message({"--late"}), "(none)");
  EXPECT_THROW(Message({"--manual", "pdf"}), UsageError);
}

TEST(ManualTest, NothingOfATextIsAnInstruction) {
  ProgramText text = Text();
  text.description = {"'quote at the beginning", ".dot \\backslash",
                      std::string(77, 'x') + " .json begins a line"};
  std::istringstream page(ManualPage(text, Shown(), "", "1.2"));
  int macros = 0;
  for (std::string line; std::getline(page, line);) {
    EXPECT_FALSE(line.starts_with('\'')) << line;
    if (!line.starts_with('.')) continue;
    ++macros;
    EXPECT_TRUE(line.starts_with(".\\\"") || line.starts_with(".TH") || line.starts_with(".S") ||
                line.starts_with(".TP") || line.starts_with(".PP") || line.starts_with(".BR") ||
                line.starts_with(".nh") || line.starts_with(".ad") || line.starts_with(".br"))
        << line;
  }
  EXPECT_GT(macros, 20);
  const std::string whole = ManualPage(text, Shown(), "", "1.2");
  EXPECT_THAT(whole, HasSubstr("\\&.dot \\ebackslash\n"));
  EXPECT_THAT(whole, HasSubstr("\n\\&.json begins a line\n"));
}

TEST(ManualTest, InstalledNamesHaveThePrefixAndOplensHasNot) {
  const std::string page = Message({"--manual", "man,my-"});
  EXPECT_THAT(page, HasSubstr(".TH MY\\-PROF 1"));
  EXPECT_THAT(page, HasSubstr("my\\-prof \\- it\\(aqs a summary\n"));
  EXPECT_THAT(page, HasSubstr("\\fBmy\\-parse x | my\\-prof \\-c op\\fR"));
  EXPECT_THAT(page, HasSubstr("\\fBsort prof\\fR"));
  EXPECT_THAT(page, HasSubstr(".BR oplens (1),\n.BR my\\-parse (1)\n"));
  EXPECT_EQ(InstalledName("oplens", "my-"), "oplens");
}

TEST(CompletionTest, NamesFollowThePrefix) {
  const std::string bash = Message({"--manual", "bash,my-"});
  EXPECT_THAT(bash, HasSubstr("complete -F _oplens_complete_my_prof my-prof\n"));
  EXPECT_THAT(bash, HasSubstr("words='op mod all' several=1"));
  EXPECT_THAT(bash, Not(HasSubstr("secret")));
  const std::string zsh = Message({"--manual", "zsh,my-"});
  EXPECT_THAT(zsh, testing::StartsWith("#compdef my-prof\n"));
  EXPECT_THAT(zsh, HasSubstr("'op[the op]'"));
}

TEST(CompletionTest, ProgramsThatTheFirstWordNames) {
  ProgramText text = Text();
  text.name = "oplens";
  text.first_words = {{"parse"}, {"check"}};
  const std::string bash = BashCompletion(text, Shown(), "my-");
  EXPECT_THAT(bash, HasSubstr("      parse)\n        at=_oplens_complete_my_${COMP_WORDS[1]}\n"));
  EXPECT_THAT(bash, HasSubstr("compgen -f -W 'parse check'"));
  EXPECT_THAT(bash, HasSubstr("complete -F _oplens_complete_oplens oplens\n"));
  const std::string zsh = ZshCompletion(text, Shown(), "my-");
  EXPECT_THAT(zsh, HasSubstr("${words[2]} == (parse)"));
  EXPECT_THAT(zsh, HasSubstr("words[1]=my-${words[1]}"));
  EXPECT_THAT(BashCompletion(Text(), Shown(), ""), Not(HasSubstr("COMP_WORDS[1]")));
}

}  // namespace
}  // namespace oplens::help_test
