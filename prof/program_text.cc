#include "prof/program_text.h"

#include <fmt/format.h>

#include <utility>

#include "base/help_options.h"
#include "ops/kernels/tensor_core.h"
#include "prof/input_options.h"
#include "prof/rank_options.h"
#include "prof/views/common/view.h"
#include "prof/views/kernels/copy_row.h"
#include "prof/views/kernels/kernel_columns.h"
#include "prof/views/kernels/summary_columns.h"

namespace oplens::prof {
namespace {

constexpr char kAll[] = "all";
constexpr char kList[] = "list";

WordList ListOfFields(std::string title, std::vector<std::string> options,
                      const std::vector<Field>& fields) {
  return {std::move(title), std::move(options), true, WordsOf(fields)};
}

WordList ListOfKeys(std::string title, std::span<const std::string_view> keys) {
  WordList list{std::move(title), {"by"}, true, {}};
  for (const std::string_view key : keys) list.words.push_back({std::string(key)});
  return list;
}

/// Keys that only some views know.
std::vector<std::string_view> KeysOfViews() {
  std::vector<std::string_view> keys;
  for (const View& view : Views()) {
    keys.insert(keys.end(), view.by.begin(), view.by.end());
  }
  return keys;
}

WordList ViewNames() {
  WordList list{
      "Views of --view; prof -h --view VIEW lists the columns of one", {"view"}, true, {}};
  for (const View& view : Views()) {
    list.words.push_back({std::string(view.name), std::string(view.help)});
  }
  return list;
}

std::vector<WordList> Lists() {
  WordList every_column{"", {"c"}, true, {{kAll, "all of them"}}};
  WordList every_view{"", {"view"}, true, {{kAll, "all of them"}, {kList, "name them"}}};
  return {
      ListOfFields("Columns of -c", {"c"}, FieldsOf(KernelColumns())),
      ListOfFields("Columns of -c with --copies", {"c"}, FieldsOf(CopyColumns())),
      ListOfKeys("Keys of --by", kGroupKeys),
      ListOfKeys("", KeysOfViews()),
      ListOfFields("Columns with --by: the keys, then", {"c", "sort"}, FigureFields()),
      ListOfKeys("Keys of --by with --copies", CopyGroupKeys()),
      ListOfFields("Columns with --copies --by: the keys, then", {"c", "sort"}, CopyFigureFields()),
      ViewNames(),
      every_column,
      every_view,
      GpuWords(),
  };
}

/// With those of a gate.
std::vector<WordText> ExitCodes() {
  std::vector<WordText> codes = ExitCodesOfPricing();
  const WordText of_gate[] = {
      {"4",
       "with --fail-if or --require-comparable: data is lost or missing, or the runs cannot be "
       "compared; takes precedence over 5 and 3"},
      {"5", "an expression of --fail-if holds"},
  };
  codes.insert(codes.end(), std::begin(of_gate), std::end(of_gate));
  return codes;
}

}  // namespace

std::vector<WordText> WordsOf(std::span<const Field> fields) {
  std::vector<WordText> words;
  for (const Field& field : fields) {
    words.push_back({std::string(field.key), std::string(field.help), std::string(field.unit)});
  }
  return words;
}

ProgramText TextOfProf() {
  return {
      .name = "prof",
      .summary = "one row per GPU kernel, from profiles or the records that parse writes",
      .synopsis = {"[OPTIONS] [FILE...]"},
      .groups = {kTableOptions, kViewOptions, kRankOptions, kDiffOptions, kSelectionOptions,
                 kPricingOptions, kOutputOptions, kSpeedOptions, kMessageOptions, kHelpOptions},
      .description =
          {"FILE is a profile of nvprof, Nsight Systems or PyTorch, a folder of them, or records "
           "of parse; without FILE: records on standard input.",
           "Without an option of the output: columns that fit the terminal, or all of them, lined "
           "up, "
           "if there is none; kernels with PyProf's columns then are as PyProf prints them, "
           "separated by blanks. An unknown value is never 0: it is - here, an empty field in "
           "CSV, null in JSON; the column reason says why.",
           fmt::format("Rules of tc: version {}.", ops::TensorCoreRulesVersion())},
      .examples = {{"prof -w 130 net.sqlite", "the op of each kernel"},
                   {"prof --by op,dir --top 10 net.sqlite", "the costliest ops"},
                   {"prof --view overview net.sqlite", "where the time of each step went"},
                   {"prof --summary traces", "a small file per rank, which --view shows"},
                   {"prof --diff old.json new.json", "what changed in a step, and why"},
                   {"prof --diff old.json new.json --fail-if 'total>+5%'", "fail a build"}},
      .lists = Lists(),
      .exit_codes = ExitCodes(),
      .see_also = {"oplens", "parse", "record", "report"},
  };
}

}  // namespace oplens::prof
