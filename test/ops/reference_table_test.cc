// The reference tables of OPLENS_SPECS_DIR: prices of ops and Tensor Core use of kernels.
#include <gtest/gtest.h>

#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "ops/kernels/kernel_name.h"
#include "ops/kernels/tensor_core.h"
#include "ops/op_model.h"
#include "test/ops/cases.h"
#include "test/ops/csv_rows.h"
#include "test/support/test_files.h"

namespace oplens::ops::test::reference_table_test {
namespace {

using nlohmann::json;

OpArg ReadArg(const json& in) {
  using Kind = OpArg::Kind;
  OpArg arg;
  arg.name = in.at("name");
  arg.type = in.at("type");
  const json& value = in.at("value");
  if (arg.type == "tensor") {
    arg.kind = Kind::kTensor;
    arg.shape = in.at("shape").get<std::vector<int64_t>>();
    arg.dtype = in.at("dtype");
    // Recorded values, such as the ends of groups.
    if (value.is_array()) arg.int_list = value.get<std::vector<int64_t>>();
  } else if (value.is_null()) {
    arg.kind = Kind::kNone;
  } else if (value.is_boolean()) {
    arg.kind = Kind::kBool;
    arg.int_value = value.get<bool>() ? 1 : 0;
  } else if (value.is_number_integer()) {
    arg.kind = Kind::kInt;
    arg.int_value = value;
  } else if (value.is_number()) {
    arg.kind = Kind::kFloat;
    arg.float_value = value;
  } else if (value.is_string()) {
    arg.kind = Kind::kString;
    arg.text = value;
  } else {
    arg.kind = Kind::kIntList;
    arg.int_list = value.get<std::vector<int64_t>>();
  }
  return arg;
}

// The parts of a price that a row's direction asks for.
Work WorkOf(const PricedOp& price, const std::string& direction) {
  if (direction == "fprop") return price.forward.at(0).work;
  Work sum;
  for (const PartWork& part : price.backward) {
    const bool wanted = direction == "bprop" ||
                        (direction == "dgrad" && part.part == Part::kDgrad) ||
                        (direction == "wgrad" && part.part == Part::kWgrad) ||
                        (direction == "bgrad" && part.part == Part::kBgrad);
    if (!wanted) continue;
    sum.mma += part.work.mma;
    sum.vec += part.work.vec;
    sum.bytes += part.work.bytes;
  }
  return sum;
}

// The formula ends with "mma=1 vec=2".
int64_t FigureIn(const std::string& formula, const std::string& name) {
  const size_t at = formula.rfind(name + "=");
  return at == std::string::npos ? -1 : std::stoll(formula.substr(at + name.size() + 1));
}

// Families without a cost model yet.
const std::set<std::string> kToCome = {};

// The row's bytes are those of an fp32 result, but its arguments lack the dtype= that asks for one
// (the otherwise equal row softmax_f has an fp16 result).
constexpr const char* kLacksDType = "softmax_up";

// The table's weights that hardware counters refute (docs/costs.md): per output of a bilinear
// interpolation 9, not 7; of a dropout 4, not 5.
const std::map<std::string, int64_t> kRefuted = {{"up_bilinear", 9437184}, {"dropout_f", 560000}};

OpCall ReadCall(const std::map<std::string, std::string>& row) {
  OpCall call;
  call.op = row.at("op");
  for (const json& arg : json::parse(row.at("args_json"))) call.args.push_back(ReadArg(arg));
  if (row.at("case") == kLacksDType && call.args.size() == 2) {
    OpArg dtype;
    dtype.name = "dtype";
    dtype.kind = OpArg::Kind::kString;
    dtype.text = "float32";
    call.args.push_back(dtype);
  }
  return call;
}

TEST(ReferenceTableTest, OpCases) {
  OPLENS_NEED_SPECS();
  const auto rows =
      ParseCsv(oplens::test::ReadFile(oplens::test::SpecsDir().path / "op_cases.csv"));
  ASSERT_GT(rows.size(), 100u);
  int priced = 0;
  std::set<std::string> ops;
  for (const auto& row : rows) {
    SCOPED_TRACE(row.at("case"));
    const OpCall call = ReadCall(row);
    const PriceResult result = PriceCall(call);
    if (!result.price && kToCome.count(call.op) > 0) continue;
    if (!result.price) {
      ADD_FAILURE() << ReasonWord(result.reason);
      continue;
    }
    ++priced;
    ops.insert(call.op);
    const Work work = WorkOf(*result.price, row.at("direction"));
    const auto refuted = kRefuted.find(row.at("case"));
    const bool counted = refuted != kRefuted.end();
    const int64_t vec = counted ? refuted->second : FigureIn(row.at("source_of_formula"), "vec");
    EXPECT_EQ((work.mma + work.vec).Value(), counted ? vec : std::stoll(row.at("flops")));
    EXPECT_EQ(work.bytes.Value(), std::stoll(row.at("bytes")));
    EXPECT_EQ(work.mma.Value(), FigureIn(row.at("source_of_formula"), "mma"));
    EXPECT_EQ(work.vec.Value(), vec);
  }
  std::cout << priced << " of " << rows.size() << " rows priced, " << ops.size() << " ops\n";
  EXPECT_GE(priced, 50);
}

TEST(ReferenceTableTest, TensorCoreKernels) {
  OPLENS_NEED_SPECS();
  const auto rows =
      ParseCsv(oplens::test::ReadFile(oplens::test::SpecsDir().path / "tc_kernels.csv"));
  ASSERT_GT(rows.size(), 300u);
  for (const auto& row : rows) {
    const TensorCoreVerdict verdict = TensorCoreVerdictOf(row.at("kernel"));
    EXPECT_EQ(TensorCoreWord(verdict.use), row.at("tc"))
        << row.at("kernel") << " by rule " << verdict.rule;
    // What issues matrix instructions is no accessory.
    if (verdict.use == TensorCoreUse::kYes) {
      EXPECT_EQ(RoleOf(row.at("kernel")), Role::kMain) << row.at("kernel");
    }
  }
}

}  // namespace
}  // namespace oplens::ops::test::reference_table_test
