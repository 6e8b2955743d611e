#include "oplens/options.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "base/cxxopts.h"
#include "base/error.h"
#include "base/help_options.h"
#include "oplens/program_text.h"
#include "prof/command_line.h"

namespace oplens::screen {
namespace {

cxxopts::Options Declare() {
  cxxopts::Options options("oplens");
  cxxopts::OptionAdder add = options.add_options(prof::kSelectionOptions);
  add("step-range", "Only steps with these numbers", cxxopts::value<std::string>(), "A-B");
  add("time-range", "Only what begins in these milliseconds, from the first event of the file",
      cxxopts::value<std::string>(), "MS-MS");
  add("device", "Only this GPU", cxxopts::value<int64_t>(), "N");
  prof::AddPricingOptions(&options);
  cxxopts::OptionAdder said = options.add_options(prof::kMessageOptions);
  said("quiet", "Nothing on standard error of rows that are damaged");
  said("strict",
       "Exit with 3 when a row was damaged, kernels were unlaunched, a file was left out, or there "
       "is nothing to show");
  AddHelpOptions(&options);
  prof::AddFiles(&options);
  return options;
}

Options Read(const cxxopts::Options& declared, const cxxopts::ParseResult& given) {
  Options options;
  if (std::optional<std::string> message = HelpMessage(TextOfOplens(), declared, given)) {
    options.message = *std::move(message);
    return options;
  }
  prof::ReadInputs(given, &options);
  if (options.inputs.empty()) {
    throw UsageError("name a file, or - for records from standard input");
  }
  options.run.selection = prof::ReadSelection(given);
  options.steps = prof::ReadStepPattern(given);
  options.run.step_in = options.StepIn();
  prof::ReadPricing(given, &options);
  return options;
}

}  // namespace

Options ParseOptions(int argc, const char* const* argv) {
  cxxopts::Options declared = Declare();
  try {
    return Read(declared, declared.parse(argc, argv));
  } catch (const cxxopts::exceptions::exception& error) {
    throw UsageError(
        fmt::format("{}; oplens -h lists the options, oplens help prof those of tables",
                    prof::WrongOption(declared, error.what())));
  }
}

}  // namespace oplens::screen
