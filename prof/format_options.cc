#include "prof/format_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include "base/append_format.h"
#include "base/cxxopts.h"
#include "base/error.h"
#include "base/terminal.h"

namespace oplens::prof {
namespace {

void AddFormat(const Format& format, cxxopts::OptionAdder* add) {
  const std::string option(format.option);
  const std::string help(format.help);
  switch (format.value) {
    case Format::Value::kWidth:
      (*add)(option, help, cxxopts::value<int>(), "WIDTH");
      break;
    case Format::Value::kFile:
      (*add)(option, help, cxxopts::value<std::string>(),
             format.file == "database" ? "DB" : "FILE");
      break;
    case Format::Value::kNone:
      if (!option.empty()) (*add)(option, help);
  }
}

}  // namespace

void AddFormats(cxxopts::OptionAdder* add) {
  for (const Format& format : Formats()) AddFormat(format, add);
}

void AddRowOptions(cxxopts::OptionAdder* adder) {
  cxxopts::OptionAdder& add = *adder;
  add("schema",
      "Print the JSON Schema of lines of --json, without a file: of kernels, copies, summary "
      "(--by), "
      "a view, diff or gate",
      cxxopts::value<std::string>(), "TABLE");
  add("max-rows",
      "Print at most N rows of each table and say how many are missing; unlike --top, nothing is "
      "summed",
      cxxopts::value<int64_t>(), "N");
}

size_t ReadMaxRows(const cxxopts::ParseResult& given) {
  if (given.count("max-rows") == 0) return 0;
  const int64_t most = given["max-rows"].as<int64_t>();
  if (most < 1) throw UsageError("--max-rows: the least number is 1");
  return static_cast<size_t>(most);
}

const Format* ReadFormat(const cxxopts::ParseResult& given, bool to_terminal) {
  const Format* chosen = &Formats().front();
  size_t formats = given.count("chrome");
  // What --check prints is words, or a table.
  if (given.count("check") > 0 && given.count("markdown") == 0) ++formats;
  for (const Format& format : Formats()) {
    if (format.option.empty() || given.count(std::string(format.option)) == 0) continue;
    chosen = &format;
    ++formats;
  }
  if (formats > 1) {
    std::string options;
    for (const Format& format : Formats()) {
      if (format.option.empty()) continue;
      AppendFormat(&options, "{}{}, ", format.option.size() == 1 ? "-" : "--", format.option);
    }
    throw UsageError(
        fmt::format("{}--chrome and --check exclude each other: give one of them", options));
  }
  for (const char* option : {"header", "cells"}) {
    if (given.count(option) == 0 || chosen->option == "csv") continue;
    throw UsageError(fmt::format("--{} needs --csv", option));
  }
  return formats == 0 && to_terminal ? &ScreenFormat() : chosen;
}

Screen ReadScreen(const cxxopts::ParseResult& given) {
  const Terminal terminal = TerminalAt(STDOUT_FILENO);
  Screen screen;
  screen.columns = static_cast<size_t>(terminal.columns);
  screen.colours = terminal.takes_colours;
  if (given.count("top") > 0) screen.most_rows = 0;
  return screen;
}

std::string ReadFormatValue(const cxxopts::ParseResult& given, const Format& format) {
  const std::string option(format.option);
  if (format.value == Format::Value::kWidth) return std::to_string(given[option].as<int>());
  if (!format.owns_file()) return "";
  std::string file = given[option].as<std::string>();
  if (file.empty())
    throw UsageError(fmt::format("--{}: the name of the {} is empty", option, format.file));
  if (file == "-") {
    throw UsageError(fmt::format("--{}: a {} cannot go to standard output", option,
                                 format.file == "database" ? "database" : "file of Arrow"));
  }
  if (given.count("output") > 0) {
    throw UsageError(fmt::format("--{} names its file itself: drop -o", option));
  }
  return file;
}

bool ReadRaw(const cxxopts::ParseResult& given, const Format& format) {
  if (given.count("raw") == 0) return false;
  if (format.option != "sqlite") throw UsageError("--raw needs --sqlite DB");
  for (const char* option : {"c", "by", "copies", "sort", "top", "max-rows"}) {
    if (given.count(option) == 0) continue;
    throw UsageError(fmt::format("{}{} is about one table: it does not go with --raw",
                                 option[1] == '\0' ? "-" : "--", option));
  }
  return true;
}

}  // namespace oplens::prof
