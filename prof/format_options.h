#ifndef OPLENS_PROF_FORMAT_OPTIONS_H_
#define OPLENS_PROF_FORMAT_OPTIONS_H_

#include <string>

#include "prof/table/formats.h"
#include "prof/table/text_sinks.h"

namespace cxxopts {
class OptionAdder;
class ParseResult;
}  // namespace cxxopts

namespace oplens::prof {

/// Declares the option of each format.
void AddFormats(cxxopts::OptionAdder* add);

/// Declares --schema and --max-rows.
void AddRowOptions(cxxopts::OptionAdder* add);
/// --max-rows; 0: not given. Throws UsageError.
size_t ReadMaxRows(const cxxopts::ParseResult& given);

/// The format that is asked for. `to_terminal`: fits the output to it. Throws UsageError for
/// several.
const Format* ReadFormat(const cxxopts::ParseResult& given, bool to_terminal);

/// How much of the terminal a table may take: few rows, unless --top requests more.
Screen ReadScreen(const cxxopts::ParseResult& given);

/// The value of the format's option: a width, or the name of its file; "": it has none. Throws
/// UsageError.
std::string ReadFormatValue(const cxxopts::ParseResult& given, const Format& format);

/// Whether --raw is given. Throws UsageError for what it cannot be given with.
bool ReadRaw(const cxxopts::ParseResult& given, const Format& format);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_FORMAT_OPTIONS_H_
