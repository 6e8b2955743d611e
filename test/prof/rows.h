#ifndef OPLENS_TEST_PROF_ROWS_H_
#define OPLENS_TEST_PROF_ROWS_H_

#include <string>
#include <string_view>

#include "parse/model/kernel_record.h"

namespace oplens::test {

/// A timed kernel "scale_kernel" of 100 ns without annotation on thread 7, stream 3.
inline KernelRecord PlainRecord() {
  KernelRecord record;
  record.short_name = "scale_kernel";
  record.long_name = "void scale_kernel<float>(float*, int)";
  record.duration_ns = 100;
  record.direction = Direction::kForward;
  record.mod = {"na"};
  record.thread_id = 7;
  record.stream_id = 3;
  record.grid = {2, 1, 1};
  record.block = {64, 1, 1};
  return record;
}

inline std::string Line(const KernelRecord& record) {
  std::string line;
  AppendDictLine(record, &line);
  return line;
}

/// The annotation of mm of two float32 matrices, m x k and k x n.
inline std::string MmText(int m, int k, int n) {
  const auto tensor = [](int rows, int columns) {
    return "{'name': '', 'type': 'tensor', 'shape': (" + std::to_string(rows) + ", " +
           std::to_string(columns) + "), 'dtype': 'float32'}";
  };
  return "{'mod': 'torch', 'op': 'mm', 'args': [" + tensor(m, k) + ", " + tensor(k, n) + "]}";
}

/// The annotation of an op without a cost model.
inline constexpr std::string_view kMysteryText =
    "{'mod': 'zoo', 'op': 'mystery', 'args': [{'name': '', 'type': 'int', 'value': 1}]}";

}  // namespace oplens::test

#endif  // OPLENS_TEST_PROF_ROWS_H_
