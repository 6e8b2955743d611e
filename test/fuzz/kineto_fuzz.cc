// The text of a trace of PyTorch's profiler.

#include "test/fuzz/read_profile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text = oplens::fuzz::TextOf(data, size);
  // Anything else is no JSON to the reader.
  if (text.starts_with('{') || text.starts_with('[')) oplens::fuzz::ReadProfile(data, size);
  return 0;
}
