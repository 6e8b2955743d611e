#ifndef OPLENS_PARSE_MODEL_PYTHON_TEXT_H_
#define OPLENS_PARSE_MODEL_PYTHON_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/text_end.h"

namespace oplens {

void AppendPythonInt(int64_t value, std::string* out);
void AppendPythonInt(int64_t value, TextEnd* out);

/// Appends the shortest text that reads back as the same number; it has a point or an exponent. A
/// number that is not finite becomes the bare word inf, -inf or nan.
void AppendPythonFloat(double value, std::string* out);

/// Appends `text` as Python's repr writes it: single quotes, unless it holds one and no double
/// quote. The result is one line; bytes that are not UTF-8 become \udc80 to \udcff.
void AppendPythonString(std::string_view text, std::string* out);
void AppendPythonString(std::string_view text, TextEnd* out);

}  // namespace oplens

#endif  // OPLENS_PARSE_MODEL_PYTHON_TEXT_H_
