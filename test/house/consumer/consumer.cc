#include <cstdint>
#include <cstdio>
#include <string>

#include "ops/op_model.h"
#include "parse/model/kernel_record.h"
#include "parse/model/op_call.h"

int AskRun(const char* path);

#ifdef HAS_ANNOTATE
void RunAnnotatedStep();
extern "C" uint32_t emit_layer(void);
#endif

// A kernel record as a line and back, the price of an op, questions about a profile, and
// annotations.
int main(int argc, char** argv) {
  oplens::KernelRecord record;
  record.short_name = "kernel";
  std::string line;
  oplens::AppendDictLine(record, &line);
  if (line.rfind("{'kShortName': 'kernel'", 0) != 0) return 1;
  oplens::RecordReader reader;
  std::string error;
  line.pop_back();
  if (!reader.Read(line, &record, &error) || record.short_name != "kernel") return 2;

  if (oplens::ops::NormalizeOpName("aten::add_") != "add") return 3;
  const auto call = oplens::ParseOpCall(
      "{'mod': 'torch', 'op': 'mm', 'args': ["
      "{'name': '', 'type': 'tensor', 'shape': (2, 3), 'dtype': 'float32'}, "
      "{'name': '', 'type': 'tensor', 'shape': (3, 4), 'dtype': 'float32'}]}",
      &error);
  if (!call) return 4;
  const oplens::ops::PriceResult result = oplens::ops::PriceCall(*call);
  if (!result.price || result.price->forward.front().work.mma.Value() != 2 * 2 * 3 * 4) return 5;

  if (argc != 2 || AskRun(argv[1]) != 0) return 7;

#ifdef HAS_ANNOTATE
  RunAnnotatedStep();
  if (emit_layer() == 0) return 6;
#endif
  std::printf("ok\n");
  return 0;
}
