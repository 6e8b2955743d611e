// parse: a profile database -> one record a kernel.

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cxxopts.hpp>
#include <exception>
#include <string>

#include "base/error.h"
#include "base/output.h"
#include "parse/correlate.h"
#include "parse/trace_reader.h"

namespace {

using oplens::Diagnostics;
using oplens::KernelRecord;
using oplens::Output;
using oplens::Trace;
using oplens::UsageError;
using oplens::parse::CorrelateOptions;
using oplens::parse::Correlation;

struct Options {
  std::string database;
  std::string output;
  bool json_lines = false;
  bool strict = false;
  bool quiet = false;
  CorrelateOptions correlate;
};

/// Reads the command line; empty `database` means that help or the version was printed.
Options ReadOptions(int argc, char** argv) {
  cxxopts::Options spec("parse", "One record a GPU kernel from an nvprof database.\n");
  spec.positional_help("DB");
  spec.add_options()("o,output", "write to FILE, whole or not at all (default: standard output)",
                     cxxopts::value<std::string>(),
                     "FILE")("format", "dict (Python literals, PyProf's format) or jsonl",
                             cxxopts::value<std::string>()->default_value("dict"), "FORMAT")(
      "strict", "exit with 3 when a row was damaged, kernels were unlaunched, or there were none")(
      "keep-open", "let ranges that were never closed give their op too")(
      "quiet", "print errors only")("h,help", "print this help")("version", "print the version")(
      "db", "", cxxopts::value<std::vector<std::string>>());
  spec.parse_positional("db");
  const auto args = spec.parse(argc, argv);
  Options options;
  if (args.count("help") > 0) {
    fmt::print("{}", spec.help({""}));
    return options;
  }
  if (args.count("version") > 0) {
    fmt::print("parse (oplens) {}\n", OPLENS_VERSION);
    return options;
  }
  if (args.count("db") == 0) throw UsageError("give the database: parse [OPTIONS] DB");
  const auto& databases = args["db"].as<std::vector<std::string>>();
  if (databases.size() > 1) throw UsageError("give one database: parse [OPTIONS] DB");
  const auto& format = args["format"].as<std::string>();
  if (format != "dict" && format != "jsonl") {
    throw UsageError(fmt::format("unknown format \"{}\": give --format dict or jsonl", format));
  }
  options.database = databases.front();
  if (args.count("output") > 0) options.output = args["output"].as<std::string>();
  options.json_lines = format == "jsonl";
  options.strict = args.count("strict") > 0;
  options.quiet = args.count("quiet") > 0;
  options.correlate.keep_open = args.count("keep-open") > 0;
  return options;
}

void WriteRecords(const Correlation& kernels, bool json_lines, Output* output) {
  const auto append = json_lines ? oplens::AppendJsonLine : oplens::AppendDictLine;
  KernelRecord record;
  for (size_t i = 0; i < kernels.kernel_count(); ++i) {
    kernels.RecordOf(i, &record);
    append(record, output->buffer());
    output->FlushIfLarge();
  }
  output->Commit();
}

int Run(const Options& options) {
  oplens::RefuseSameFile(options.database, options.output);
  Diagnostics diagnostics;
  Trace trace = oplens::parse::OpenTrace(options.database, &diagnostics);
  const Correlation kernels(&trace, options.correlate, &diagnostics);
  Output output(options.output);
  WriteRecords(kernels, options.json_lines, &output);
  if (!options.quiet) {
    fmt::print(stderr, "parse: {}: {} schema {}: {} kernels, {} ranges\n{}", options.database,
               trace.family, trace.schema_version, kernels.kernel_count(), trace.ranges.size(),
               diagnostics.Render("parse"));
  }
  const bool strict_failure = diagnostics.Damaged() || kernels.kernel_count() == 0;
  return options.strict && strict_failure ? oplens::kExitStrict : oplens::kExitOk;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const Options options = ReadOptions(argc, argv);
    return options.database.empty() ? oplens::kExitOk : Run(options);
  } catch (const oplens::ClosedPipe&) {
    return oplens::kExitOk;
  } catch (const UsageError& e) {
    fmt::print(stderr, "parse: {}\n", e.what());
    return oplens::kExitUsage;
  } catch (const cxxopts::exceptions::exception& e) {
    fmt::print(stderr, "parse: {}; see parse --help\n", e.what());
    return oplens::kExitUsage;
  } catch (const std::exception& e) {
    fmt::print(stderr, "parse: {}\n", e.what());
    return oplens::kExitCannotRead;
  }
}
