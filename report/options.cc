#include "report/options.h"

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/cxxopts.h"
#include "base/error.h"
#include "base/help_options.h"
#include "base/program_text.h"
#include "base/shown_text.h"
#include "base/size_text.h"
#include "prof/input_options.h"

namespace oplens::report {
namespace {

constexpr char kPageOptions[] = "Page";

/// The texts about `report` besides its options.
ProgramText TextOfReport() {
  return {
      .name = "report",
      .summary =
          "one self-contained page (HTML) of a run, from profiles or the records that parse writes",
      .synopsis = {"[OPTIONS] FILE..."},
      .groups = {kPageOptions, prof::kSelectionOptions, prof::kPricingOptions, prof::kSpeedOptions,
                 prof::kMessageOptions, kHelpOptions},
      .description = {"The page holds the tables of all views and a timeline, and opens in any "
                      "browser without "
                      "a network. Several files, or a folder of them, are the ranks of one run."},
      .examples = {{"report net.sqlite", "writes net.sqlite.html"},
                   {"report -o run.html --title 'Batch 64' runs/", "one page of all ranks"},
                   {"report --step-range 10-12 --report-limit 20MB net.sqlite",
                    "three steps, in more detail"},
                   {"report --diff before.json after.json -o diff.html",
                    "what changed from one run to the other, and why"}},
      .lists = {prof::GpuWords()},
      .exit_codes = prof::ExitCodesOfPricing(),
      .see_also = {"oplens", "parse", "prof", "record"},
  };
}

constexpr std::string_view kDefaultLimit = "10MB";

cxxopts::Options Declare() {
  cxxopts::Options options("report");
  cxxopts::OptionAdder add = options.add_options(kPageOptions);
  add("o,output",
      "Write to FILE, whole or not at all (default for one input: its name with .html appended, in "
      "the working folder)",
      cxxopts::value<std::string>(), "FILE");
  add("title", "Title of the page (default: the names of its inputs)",
      cxxopts::value<std::string>(), "TEXT");
  add("report-limit",
      "Largest size of the page, such as 500k or 20MB; the page says what is left out",
      cxxopts::value<std::string>()->default_value(std::string(kDefaultLimit)), "SIZE");
  add("no-host", "Leave events of host threads out of the timeline");
  add("keep-paths",
      "Keep paths as recorded; by default they are cut to the part below a folder of packages "
      "(site-packages, dist-packages), the working folder or a home");
  add("diff", "A page of what changed from BASE to the inputs (docs/diff.md)",
      cxxopts::value<std::string>(), "BASE");
  add("open", "Show the page with xdg-open");
  options.add_options(prof::kSelectionOptions)("step-range", "Only steps with these numbers",
                                               cxxopts::value<std::string>(), "A-B");
  prof::AddPricingOptions(&options);
  prof::AddSpeedOptions(&options);
  prof::AddMessageOptions(&options);
  AddHelpOptions(&options);
  prof::AddFiles(&options);
  return options;
}

std::string ReadOutput(const cxxopts::ParseResult& given, const Options& options) {
  if (given.count("output") > 0) return GivenFile(given, "output");
  if (options.inputs.size() != 1 || options.inputs.front() == "-") {
    throw UsageError("name the page: -o run.html");
  }
  std::string output = DefaultOutput(options.inputs.front());
  if (!options.diff_base.empty()) output.insert(output.rfind(".html"), ".diff");
  return output;
}

/// Throws UsageError for options that the page of a diff does not support.
void ReadDiff(const cxxopts::ParseResult& given, Options* options) {
  if (given.count("diff") == 0) return;
  options->diff_base = given["diff"].as<std::string>();
  if (options->diff_base.empty()) throw UsageError("--diff: the name of the base is empty");
  if (options->diff_base == "-") {
    throw UsageError("--diff: the base is a file, not standard input");
  }
  if (options->inputs.empty()) {
    throw UsageError("--diff: name the run that is compared with it: report --diff BASE NEW");
  }
}

Options Read(const cxxopts::Options& declared, const cxxopts::ParseResult& given) {
  Options options;
  if (std::optional<std::string> message = HelpMessage(TextOfReport(), declared, given)) {
    options.message = *std::move(message);
    return options;
  }
  prof::ReadInputs(given, &options);
  ReadDiff(given, &options);
  options.output = ReadOutput(given, options);
  options.title = GivenText(given, "title");
  options.limit_bytes = ReadSize(given["report-limit"].as<std::string>());
  options.host = given.count("no-host") == 0;
  options.keep_paths = given.count("keep-paths") > 0;
  options.open = given.count("open") > 0;
  if (options.open && options.output == "-") {
    throw UsageError("--open: a page on standard output cannot be opened; name a file with -o");
  }
  options.steps = prof::ReadStepPattern(given);
  options.run = options.RunOf(prof::ReadSelection(given));
  prof::ReadPricing(given, &options);
  return options;
}

}  // namespace

size_t ReadSize(std::string_view text) {
  constexpr int64_t kMost = 1'000'000'000'000;
  const std::optional<int64_t> bytes = ReadSizeText(text);
  if (bytes && *bytes <= kMost) return static_cast<size_t>(*bytes);
  throw UsageError(fmt::format("--report-limit: '{}' is no size; give one such as 10MB or 500k",
                               prof::ShownText(text)));
}

std::string DefaultOutput(const std::string& input) {
  std::error_code unknown;
  std::filesystem::path path = std::filesystem::path(input).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  if (path.filename() == "." || path.filename() == "..") {
    path = std::filesystem::weakly_canonical(path, unknown);
  }
  const std::string name = path.filename().string();
  if (name.empty() || name == "/") throw UsageError("name the page: -o run.html");
  return name + ".html";
}

Options ParseOptions(int argc, const char* const* argv) {
  cxxopts::Options declared = Declare();
  Options options;
  ReadCommandLine(&declared, argc, argv, "report -h lists the options",
                  [&](const auto& given) { options = Read(declared, given); });
  return options;
}

}  // namespace oplens::report
