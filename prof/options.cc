#include "prof/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "prof/views/kernel_columns.h"

// Names of files may hold commas: each argument is one name.
#define CXXOPTS_VECTOR_DELIMITER '\0'
#include <cxxopts.hpp>
#include <vector>

#include "base/append_format.h"
#include "base/error.h"
#include "base/shown_text.h"
#include "ops/kernels/tensor_core.h"
#include "prof/load_rules.h"
#include "prof/views/copy_row.h"
#include "prof/views/kernel_columns.h"

namespace oplens::prof {
namespace {

cxxopts::Options Declare() {
  cxxopts::Options options("prof",
                           "One row a GPU kernel, from profiles or the records that parse writes.");
  options.positional_help("[FILE...]");
  options.custom_help(
      "[-c COLS] [-w WIDTH | --csv | --json | --sqlite DB | --check] [--copies] [--op inner|outer] "
      "[--by KEYS [--sort COL] [--top N]] [--range PATTERN] [--step PATTERN] [--gpu NAME] [--rules "
      "FILE] [--execution-trace FILE] [-o FILE] [--quiet] [--strict]");
  cxxopts::OptionAdder add = options.add_options();
  add("c", "Columns, separated by commas, or 'all'",
      cxxopts::value<std::string>()->default_value(std::string(kDefaultColumns)), "COLS");
  add("w", "Columns of fixed width that fill WIDTH characters; integers are never cut",
      cxxopts::value<int>(), "WIDTH");
  add("csv", "Comma separated values, every field quoted");
  add("json", "One JSON object a line");
  add("sqlite",
      "Write a SQLite database with the rows as a table, whole or not at all (all columns "
      "unless -c is given)",
      cxxopts::value<std::string>(), "DB");
  add("check",
      "Say how many kernels have each column, and why the others have none (all columns unless -c "
      "is given)");
  add("copies", "List memory copies and fills instead of kernels; needs profiles, not records");
  add("op",
      "Which of nested annotations is the op: the innermost with a known cost, or the outermost",
      cxxopts::value<std::string>()->default_value("inner"), "inner|outer");
  add("by", "One row a group of kernels that are alike in these, separated by commas",
      cxxopts::value<std::string>(), "KEYS");
  add("sort",
      "With --by: the column to sort by, figures largest first, keys in order; -COL turns it "
      "round, COL:asc and COL:desc say which",
      cxxopts::value<std::string>()->default_value("total"), "COL");
  add("top", "With --by: the first N groups, the others summed up in one row",
      cxxopts::value<int>(), "N");
  add("range",
      "Only kernels inside a step, layer or range whose text holds a match of PATTERN (RE2 "
      "syntax), with their backward pass",
      cxxopts::value<std::string>(), "PATTERN");
  add("step",
      "Take the step of a kernel from the number in the range or layer that matches PATTERN",
      cxxopts::value<std::string>(), "PATTERN");
  add("gpu",
      "The GPU that the kernels ran on, such as H200, whatever the profile says: gives peaks and "
      "occupancy",
      cxxopts::value<std::string>(), "NAME");
  add("rules", "Costs of your own ops and facts on your kernels (docs/rules.md)",
      cxxopts::value<std::string>(), "FILE");
  add("execution-trace",
      "Take what emit_nvtx does not tell of PyTorch's ops from the execution trace of the same "
      "run; "
      "once for each process",
      cxxopts::value<std::vector<std::string>>(), "FILE");
  add("o,output", "Write to FILE, whole or not at all", cxxopts::value<std::string>(), "FILE");
  add("quiet", "No counts and notes on standard error");
  add("strict",
      "Exit with 3 when a row was damaged, kernels were unlaunched, or there is nothing to show");
  add("h,help", "This text");
  add("version", "The version");
  add("file",
      "Profiles (nvprof, Nsight Systems, PyTorch), folders of them, or records; standard "
      "input: records",
      cxxopts::value<std::vector<std::string>>(), "FILE");
  options.parse_positional({"file"});
  return options;
}

void AppendColumns(std::span<const Column> columns, std::string* text) {
  for (const Column& column : columns) {
    AppendFormat(text, "  {:<8} {:<9} {}\n", column.key,
                 column.unit.empty() ? "" : fmt::format("[{}]", column.unit), column.help);
  }
}

std::string Help(const cxxopts::Options& options) {
  std::string text = options.help();
  text += "\nWithout -w, --csv and --json: fields separated by blanks.\n\nColumns of -c:\n";
  AppendColumns(KernelColumns(), &text);
  text += "\nColumns of -c with --copies:\n";
  AppendColumns(CopyColumns(), &text);
  text += fmt::format("\nKeys of --by: {}\nColumns with --by: the keys, then\n",
                      fmt::join(GroupKeys(), ","));
  AppendColumns(FigureColumns(), &text);
  AppendFormat(&text, "\nRules of tc: version {}.\n", ops::TensorCoreRulesVersion());
  return text;
}

std::string KeysOf(const SummaryPlan& plan) {
  std::string keys;
  for (size_t i = 0; i < plan.keys.size(); ++i) {
    keys += plan.columns[i].key;
    keys += ',';
  }
  return keys;
}

Columns ReadColumns(const cxxopts::ParseResult& given, const Options& options) {
  const bool chosen = given.count("c") > 0;
  const std::string list = given["c"].as<std::string>();
  if (options.copies) return SelectColumns(chosen ? list : "all", CopyColumns());
  if (options.summary == nullptr) {
    const bool whole = given.count("sqlite") > 0 || given.count("check") > 0;
    return SelectKernelColumns(chosen || !whole ? list : "all");
  }
  const SummaryPlan& plan = *options.summary;
  if (chosen) return SelectColumns(list, plan.columns);
  if (given.count("w") == 0) return SelectColumns("all", plan.columns);
  return SelectColumns(KeysOf(plan).append(kNarrowFigures), plan.columns);
}

/// Fills what is about --by, --range and --step.
void ReadSummary(const cxxopts::ParseResult& given, Options* options) {
  for (const char* option : {"by", "range", "step"}) {
    if (options->copies && given.count(option) > 0) {
      throw UsageError(fmt::format("--{} is about kernels: it does not go with --copies", option));
    }
  }
  if (given.count("range") > 0) {
    options->filter = std::make_unique<RangeFilter>(given["range"].as<std::string>());
  }
  if (given.count("step") > 0) {
    options->steps = std::make_unique<StepFinder>(given["step"].as<std::string>());
  }
  if (given.count("by") == 0) {
    for (const char* option : {"sort", "top"}) {
      if (given.count(option) > 0) throw UsageError(fmt::format("--{} needs --by", option));
    }
    return;
  }
  options->summary = std::make_unique<SummaryPlan>(PlanSummary(given["by"].as<std::string>()));
  options->order = ParseOrder(given["sort"].as<std::string>(), *options->summary);
  if (given.count("top") == 0) return;
  const int top = given["top"].as<int>();
  if (top < 1) throw UsageError("--top: the least number of groups is 1");
  options->top = static_cast<size_t>(top);
}

/// Fills format, columns and what goes with them.
void ReadFormat(const cxxopts::ParseResult& given, Options* options) {
  int formats = 0;
  for (const char* option : {"w", "csv", "json", "sqlite", "check"}) {
    formats += given.count(option) > 0 ? 1 : 0;
  }
  if (formats > 1) {
    throw UsageError(
        "-w, --csv, --json, --sqlite and --check exclude each other: give one of them");
  }
  options->copies = given.count("copies") > 0;
  options->check = given.count("check") > 0;
  for (const char* option : {"copies", "by"}) {
    if (options->check && given.count(option) > 0) {
      throw UsageError(
          fmt::format("--check is about rows of kernels: it does not go with --{}", option));
    }
  }
  ReadSummary(given, options);
  options->columns = ReadColumns(given, *options);
  if (given.count("sqlite") > 0) {
    options->sqlite = given["sqlite"].as<std::string>();
    if (options->sqlite.empty()) throw UsageError("--sqlite: the name of the database is empty");
    if (options->sqlite == "-")
      throw UsageError("--sqlite: a database cannot go to standard output");
    if (given.count("output") > 0) throw UsageError("--sqlite names its file itself: drop -o");
  } else if (options->check) {
    return;
  } else if (given.count("w") > 0) {
    options->writer = MakeTableWriter(options->columns, given["w"].as<int>());
  } else if (given.count("csv") > 0) {
    options->writer = MakeCsvWriter(options->columns);
  } else if (given.count("json") > 0) {
    options->writer = MakeJsonWriter(options->columns);
  } else {
    options->writer = MakeSpaceWriter(options->columns);
  }
}

OpChoice ReadOpChoice(const std::string& word) {
  if (word == "inner") return OpChoice::kInner;
  if (word == "outer") return OpChoice::kOuter;
  throw UsageError(fmt::format("--op: '{}' is neither inner nor outer", word));
}

ops::Gpu ReadGpu(const std::string& name) {
  ops::GpuMatch match = ops::FindGpu(name);
  if (match.gpu) return *std::move(match.gpu);
  throw UsageError(fmt::format("--gpu: {} '{}'; give one of: {}",
                               match.ambiguous ? "there are several GPUs named" : "no GPU is named",
                               ShownText(name), fmt::join(match.choices, ", ")));
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
  if (given.count("file") > 0) options.inputs = given["file"].as<std::vector<std::string>>();
  for (const std::string& input : options.inputs) {
    if (input.empty()) throw UsageError("the name of the input is empty");
    if (input == "-" && options.inputs.size() > 1) {
      throw UsageError("standard input (-) does not go with other inputs");
    }
  }
  if (given.count("execution-trace") > 0) {
    options.execution_traces = given["execution-trace"].as<std::vector<std::string>>();
  }
  for (const std::string& path : options.execution_traces) {
    if (path.empty()) throw UsageError("--execution-trace: the name of the file is empty");
  }
  if (given.count("output") > 0) {
    options.output = given["output"].as<std::string>();
    if (options.output.empty()) throw UsageError("-o: the name of the file is empty");
  }
  ReadFormat(given, &options);
  options.op_choice = ReadOpChoice(given["op"].as<std::string>());
  if (given.count("gpu") > 0) options.gpu = ReadGpu(given["gpu"].as<std::string>());
  if (given.count("rules") > 0) options.rules = LoadRules(given["rules"].as<std::string>());
  options.quiet = given.count("quiet") > 0;
  options.strict = given.count("strict") > 0;
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
