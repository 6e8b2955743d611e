#ifndef OPLENS_PROF_COMMAND_LINE_H_
#define OPLENS_PROF_COMMAND_LINE_H_

#include <memory>
#include <string>
#include <string_view>

#include "prof/input_options.h"
#include "prof/run/selection.h"

namespace cxxopts {
class Options;
class ParseResult;
}  // namespace cxxopts

namespace oplens::prof {

/// Declares --step, --gpu, --rules, --execution-trace, --evidence and --reference.
void AddPricingOptions(cxxopts::Options* options);
/// Declares --quiet and --strict.
void AddMessageOptions(cxxopts::Options* options);
/// Declares the inputs.
void AddFiles(cxxopts::Options* options);

/// What cxxopts says of a wrong command line, and where it knows no such option those that may have
/// been meant: "...: --quiet?".
std::string WrongOption(const cxxopts::Options& declared, std::string_view said);

// These throw UsageError with one line that says what to type instead.

/// The inputs, the execution traces, the evidence and the reference.
void ReadInputs(const cxxopts::ParseResult& given, InputOptions* options);
/// --step-range, --time-range and --device, of which a program may have declared some.
Selection ReadSelection(const cxxopts::ParseResult& given);
/// Of --step; null without it.
std::unique_ptr<StepFinder> ReadStepPattern(const cxxopts::ParseResult& given);
/// --gpu, --rules, --quiet and --strict.
void ReadPricing(const cxxopts::ParseResult& given, InputOptions* options);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_COMMAND_LINE_H_
