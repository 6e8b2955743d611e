// Compiled code of real traces: every call of TorchInductor's kernels that holds dims has a price.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "ops/families/compiled_call.h"
#include "ops/op_model.h"
#include "ops/pricing.h"
#include "parse/model/compiled_call.h"
#include "parse/readers/open_trace.h"
#include "test/support/test_files.h"

namespace oplens::prof::compiled_corpus_test {
namespace {

using test::CorpusFile;

struct Counts {
  int calls = 0;
  int priced = 0;      ///< With FLOPs and bytes.
  int bytes_only = 0;  ///< Names that tell no op.
  std::map<std::string, int> reasons;
};

Counts CountCalls(const std::string& name) {
  Counts counts;
  Diagnostics diagnostics;
  const Trace trace = parse::OpenTrace(CorpusFile(name).string(), {}, &diagnostics);
  for (const Range& range : trace.ranges) {
    if (range.kind != RangeKind::kOperator ||
        !IsCompiledKernelName(trace.strings.View(range.text))) {
      continue;
    }
    ++counts.calls;
    std::string error;
    const auto call = ParseOpCall(trace.strings.View(trace.OperatorOf(range)->call), &error);
    if (!call) {
      ++counts.reasons[error];
      continue;
    }
    const ops::PriceResult result = ops::PriceCall(*call);
    if (!result.price) {
      ++counts.reasons[std::string(ReasonWord(result.reason))];
    } else {
      ++(result.price->flops_known ? counts.priced : counts.bytes_only);
      EXPECT_TRUE(result.price->bytes_known);
      EXPECT_FALSE(ops::SumOf(result.price->forward).bytes == 0);
    }
  }
  return counts;
}

TEST(CompiledCorpus, CallsWithDimsHaveAPrice) {
  OPLENS_NEED_CORPUS();
  struct Row {
    std::string file;
    int calls;
    int bytes_only;
  };
  for (const Row& row :
       {Row{"kineto/triton/triton_a100.json", 1, 0}, Row{"kineto/b200/eager_rank0.json", 1, 0},
        Row{"kineto/vllm_piecewise/capture.json", 48, 1},
        Row{"kineto/xdit_flux/capture_compiled.json", 433, 0}}) {
    SCOPED_TRACE(row.file);
    const Counts counts = CountCalls(row.file);
    EXPECT_EQ(counts.calls, row.calls);
    EXPECT_EQ(counts.bytes_only, row.bytes_only);
    EXPECT_EQ(counts.priced + counts.bytes_only, counts.calls);
    EXPECT_TRUE(counts.reasons.empty());
  }
}

TEST(CompiledCorpus, CallsWithoutDimsHaveTheReason) {
  OPLENS_NEED_CORPUS();
  const Counts counts = CountCalls("kineto/sam_amg/compiled_triton.json");
  EXPECT_EQ(counts.calls, 312);
  EXPECT_EQ(counts.reasons, (std::map<std::string, int>{{"no-arguments", 312}}));
}

// What is taken for the sizes of the loops is the size of a tensor that they run over.
TEST(CompiledCorpus, LoopsAreThoseOfTheCall) {
  OPLENS_NEED_CORPUS();
  Diagnostics diagnostics;
  const Trace trace = parse::OpenTrace(
      CorpusFile("kineto/xdit_flux/capture_compiled.json").string(), {}, &diagnostics);
  int checked = 0;
  for (const Operator& op : trace.operators) {
    std::string error;
    const auto call = ParseOpCall(trace.strings.View(op.call), &error);
    if (!call || !IsCompiledKernelName(call->op)) continue;
    Reason reason;
    const auto compiled = ops::ReadCompiledCall(*call, &reason);
    ASSERT_TRUE(compiled.has_value());
    ASSERT_FALSE(compiled->extents.empty()) << call->op;
    // Some tensor is as large as the loops, or what is left of them after the sum.
    const bool reduces = compiled->name.kind == ops::CompiledKind::kPersistent ||
                         compiled->name.kind == ops::CompiledKind::kReduction;
    bool fits = false;
    for (const ops::CompiledTensor& tensor : compiled->tensors) {
      fits |= tensor.tensor.elements() == compiled->points();
      fits |= reduces && tensor.tensor.elements() == compiled->extents.front();
    }
    // A kernel that writes slices of a larger tensor has none.
    if (fits) ++checked;
  }
  EXPECT_GT(checked, 380);
}

}  // namespace
}  // namespace oplens::prof::compiled_corpus_test
