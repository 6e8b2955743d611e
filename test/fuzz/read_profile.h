#ifndef OPLENS_TEST_FUZZ_READ_PROFILE_H_
#define OPLENS_TEST_FUZZ_READ_PROFILE_H_

#include <stdlib.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/error.h"
#include "parse/model/kernel_record.h"
#include "parse/readers/open_trace.h"
#include "parse/records/kernel_records.h"
#include "test/fuzz/fuzz_check.h"

namespace oplens::fuzz {

/// A file of these bytes, gone with this object. In memory where the system has such a folder.
class InputFile {
 public:
  InputFile(const uint8_t* data, size_t size) {
    const int fd = ::mkstemp(path_);
    Check(fd >= 0);
    for (size_t written = 0; written < size;) {
      const ssize_t n = ::write(fd, data + written, size - written);
      Check(n > 0);
      written += static_cast<size_t>(n);
    }
    ::close(fd);
  }
  ~InputFile() { ::unlink(path_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const char* path() const { return path_; }

 private:
  char path_[32] = "/dev/shm/oplens-fuzz-XXXXXX";
};

/// Reads the bytes as the file of a profile and correlates it, or has them refused with an Error.
/// Every kernel becomes a record that reads back.
inline void ReadProfile(const uint8_t* data, size_t size) {
  const InputFile file(data, size);
  Diagnostics diagnostics;
  try {
    Trace trace = parse::OpenTrace(file.path(), TraceNeeds::All(), &diagnostics);
    const size_t kernels = trace.kernels.size();
    const parse::KernelRecords records(&trace, {}, &diagnostics);
    Check(records.kernel_count() == kernels);
    KernelRecord record;
    RecordReader reader;
    std::string line;
    std::string error;
    for (size_t i = 0; i < kernels; ++i) {
      records.RecordOf(i, &record);
      line.clear();
      AppendDictLine(record, &line);
      line.pop_back();
      KernelRecord again;
      Check(reader.Read(line, &again, &error));
    }
  } catch (const Error& refused) {
    Check(*refused.what() != '\0');
  }
  diagnostics.Render("fuzz");
}

}  // namespace oplens::fuzz

#endif  // OPLENS_TEST_FUZZ_READ_PROFILE_H_
