#include "prof/options.h"

#include <fmt/format.h>

#include <cxxopts.hpp>
#include <iterator>
#include <vector>

#include "base/error.h"

namespace oplens::prof {
namespace {

cxxopts::Options Declare() {
  cxxopts::Options options("prof", "One row a GPU kernel, from the records that parse writes.");
  options.positional_help("[FILE]");
  options.custom_help(
      "[-c COLS] [-w WIDTH | --csv | --json] [--op inner|outer] [-o FILE] [--quiet]");
  cxxopts::OptionAdder add = options.add_options();
  add("c", "Columns, separated by commas, or 'all'",
      cxxopts::value<std::string>()->default_value(std::string(kDefaultColumns)), "COLS");
  add("w", "Columns of fixed width that fill WIDTH characters; integers are never cut",
      cxxopts::value<int>(), "WIDTH");
  add("csv", "Comma separated values, every field quoted");
  add("json", "One JSON object a line");
  add("op",
      "Which of nested annotations is the op: the innermost with a known cost, or the outermost",
      cxxopts::value<std::string>()->default_value("inner"), "inner|outer");
  add("o,output", "Write to FILE, whole or not at all", cxxopts::value<std::string>(), "FILE");
  add("quiet", "No counts and notes on standard error");
  add("h,help", "This text");
  add("version", "The version");
  add("file", "The records; standard input without it", cxxopts::value<std::vector<std::string>>(),
      "FILE");
  options.parse_positional({"file"});
  return options;
}

std::string Help(const cxxopts::Options& options) {
  std::string text = options.help();
  text += "\nWithout -w, --csv and --json: fields separated by blanks.\n\nColumns of -c:\n";
  for (const Column& column : AllColumns()) {
    fmt::format_to(std::back_inserter(text), "  {:<8} {:<9} {}\n", column.key,
                   column.unit.empty() ? "" : fmt::format("[{}]", column.unit), column.help);
  }
  return text;
}

std::unique_ptr<RowWriter> MakeWriter(const cxxopts::ParseResult& given) {
  int formats = 0;
  for (const char* option : {"w", "csv", "json"}) formats += given.count(option) > 0 ? 1 : 0;
  if (formats > 1) {
    throw UsageError("-w, --csv and --json exclude each other: give one of them");
  }
  Columns columns = SelectColumns(given["c"].as<std::string>());
  if (given.count("w") > 0) return MakeTableWriter(std::move(columns), given["w"].as<int>());
  if (given.count("csv") > 0) return MakeCsvWriter(std::move(columns));
  if (given.count("json") > 0) return MakeJsonWriter(std::move(columns));
  return MakeSpaceWriter(std::move(columns));
}

OpChoice ReadOpChoice(const std::string& word) {
  if (word == "inner") return OpChoice::kInner;
  if (word == "outer") return OpChoice::kOuter;
  throw UsageError(fmt::format("--op: '{}' is neither inner nor outer", word));
}

Options Read(const cxxopts::Options& declared, const cxxopts::ParseResult& given) {
  Options options;
  if (given.count("help") > 0) {
    options.message = Help(declared);
    return options;
  }
  if (given.count("version") > 0) {
    options.message = fmt::format("prof (oplens) {}\n", OPLENS_VERSION);
    return options;
  }
  if (given.count("file") > 1) throw UsageError("one FILE at a time; join several with cat");
  if (given.count("file") == 1) {
    options.input = given["file"].as<std::vector<std::string>>().front();
    if (options.input.empty()) throw UsageError("the name of the input is empty");
  }
  if (given.count("output") > 0) {
    options.output = given["output"].as<std::string>();
    if (options.output.empty()) throw UsageError("-o: the name of the file is empty");
  }
  options.writer = MakeWriter(given);
  options.op_choice = ReadOpChoice(given["op"].as<std::string>());
  options.quiet = given.count("quiet") > 0;
  return options;
}

}  // namespace

Options ParseOptions(int argc, const char* const* argv) {
  cxxopts::Options declared = Declare();
  try {
    return Read(declared, declared.parse(argc, argv));
  } catch (const cxxopts::exceptions::exception& error) {
    throw UsageError(fmt::format("{}; prof -h lists the options", error.what()));
  }
}

}  // namespace oplens::prof
