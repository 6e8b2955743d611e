// Expressions of --fail-if: read, or refused with a sentence. What was read, written in full, reads
// as the same.

#include <string>

#include "base/error.h"
#include "prof/gate/expression.h"
#include "test/fuzz/fuzz_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using oplens::fuzz::Check;
  const std::string_view text = oplens::fuzz::TextOf(data, size);
  std::string full;
  try {
    full = oplens::prof::ParseGateExpression(text).Canonical();
  } catch (const oplens::UsageError& error) {
    Check(std::string_view(error.what()).starts_with("--fail-if: "));
    return 0;
  }
  // Whatever throws here ends the fuzzer.
  Check(oplens::prof::ParseGateExpression(full).Canonical() == full);
  return 0;
}
