#include "parse/options.h"

#include <fmt/format.h>

#include <cxxopts.hpp>
#include <vector>

#include "base/error.h"

namespace oplens::parse {
namespace {

cxxopts::Options Spec() {
  cxxopts::Options spec("parse", "One record a GPU kernel from an nvprof database.\n");
  spec.positional_help("DB");
  spec.add_options()("o,output", "write to FILE, whole or not at all (default: standard output)",
                     cxxopts::value<std::string>(), "FILE");
  spec.add_options()("format", "dict (Python literals, PyProf's format) or jsonl",
                     cxxopts::value<std::string>()->default_value("dict"), "FORMAT");
  spec.add_options()(
      "strict", "exit with 3 when a row was damaged, kernels were unlaunched, or there were none");
  spec.add_options()("keep-open", "let ranges that were never closed give their op too");
  spec.add_options()("quiet", "print errors only");
  spec.add_options()("h,help", "print this help");
  spec.add_options()("version", "print the version");
  spec.add_options()("db", "", cxxopts::value<std::vector<std::string>>());
  spec.parse_positional("db");
  return spec;
}

Options FromArguments(const cxxopts::Options& spec, const cxxopts::ParseResult& args) {
  Options options;
  if (args.count("help") > 0) {
    options.message = spec.help({""});
    return options;
  }
  if (args.count("version") > 0) {
    options.message = fmt::format("parse (oplens) {}\n", OPLENS_VERSION);
    return options;
  }
  if (args.count("db") == 0) throw UsageError("give the database: parse [OPTIONS] DB");
  const auto& databases = args["db"].as<std::vector<std::string>>();
  if (databases.size() > 1) throw UsageError("give one database: parse [OPTIONS] DB");
  options.database = databases.front();
  if (options.database.empty()) throw UsageError("the name of the database is empty");
  const auto& format = args["format"].as<std::string>();
  if (format != "dict" && format != "jsonl") {
    throw UsageError(fmt::format("unknown format \"{}\": give --format dict or jsonl", format));
  }
  if (args.count("output") > 0) {
    options.output = args["output"].as<std::string>();
    if (options.output.empty()) throw UsageError("-o: the name of the file is empty");
  }
  options.json_lines = format == "jsonl";
  options.strict = args.count("strict") > 0;
  options.quiet = args.count("quiet") > 0;
  options.correlate.keep_open = args.count("keep-open") > 0;
  return options;
}

}  // namespace

Options ReadOptions(int argc, char** argv) {
  cxxopts::Options spec = Spec();
  try {
    return FromArguments(spec, spec.parse(argc, argv));
  } catch (const cxxopts::exceptions::exception& e) {
    throw UsageError(fmt::format("{}; see parse --help", e.what()));
  }
}

}  // namespace oplens::parse
