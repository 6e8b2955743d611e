#include <cstdio>

#include "ops/op_model.h"
#include "parse/model/kernel_record.h"

// One call into each of two libraries: a kernel record as a line, and the price of an op.
int main() {
  oplens::KernelRecord record;
  record.short_name = "kernel";
  std::string line;
  oplens::AppendDictLine(record, &line);
  if (line.rfind("{'kShortName': 'kernel'", 0) != 0) return 1;
  if (oplens::ops::NormalizeOpName("aten::add_") != "add") return 2;
  std::printf("ok\n");
  return 0;
}
