// Lines of records. What is read must be written as a line that reads as the same record.

#include <string>

#include "base/literal.h"
#include "parse/model/kernel_record.h"
#include "test/fuzz/fuzz_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using oplens::fuzz::Check;
  const std::string_view line = oplens::fuzz::TextOf(data, size);
  oplens::LiteralScanner scanner(line);
  const bool skipped = scanner.Skip() && scanner.Finish();

  oplens::RecordReader reader;
  oplens::KernelRecord record;
  std::string error;
  if (!reader.Read(line, &record, &error)) {
    Check(!error.empty());
    return 0;
  }
  // A record is a literal, whoever reads it.
  Check(skipped);

  std::string written;
  oplens::AppendDictLine(record, &written);
  Check(written.find('\n') == written.size() - 1);
  written.pop_back();
  oplens::RecordReader second_reader;
  oplens::KernelRecord second;
  Check(second_reader.Read(written, &second, &error));
  Check(second.long_name == record.long_name && second.markers == record.markers);
  std::string written_again;
  oplens::AppendDictLine(second, &written_again);
  Check(written_again == written + "\n");
  return 0;
}
