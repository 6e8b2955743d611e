// Texts of op ranges: parsed, or refused with a sentence. A text that parses is an op to the
// classifier as well.

#include <string>

#include "parse/model/marker_text.h"
#include "parse/model/op_call.h"
#include "test/fuzz/fuzz_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using oplens::fuzz::Check;
  const std::string_view text = oplens::fuzz::TextOf(data, size);
  std::string error;
  const auto call = oplens::ParseOpCall(text, &error);
  if (!call) {
    Check(!error.empty());
    return 0;
  }
  for (const oplens::OpArg& arg : call->args) {
    for (const int64_t extent : arg.shape) Check(extent >= 0);
    Check(arg.kind == oplens::OpArg::Kind::kIntList || arg.int_list.empty());
  }
  const oplens::MarkerText marker = oplens::ClassifyMarker(text);
  if (!text.starts_with('{') || marker.kind == oplens::MarkerKind::kIgnored) return 0;
  Check(marker.kind == oplens::MarkerKind::kOp);
  Check(marker.mod == call->mod && marker.op == call->op);
  return 0;
}
