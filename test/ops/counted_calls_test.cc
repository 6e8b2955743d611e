// Prices of calls against what Nsight Compute counted of their kernels on an A100: the folder
// `counters` of the corpus.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/kernels/tensor_core.h"
#include "ops/op_model.h"
#include "parse/model/op_call.h"
#include "test/ops/csv_rows.h"
#include "test/support/test_files.h"

namespace oplens::ops::test::counted_calls_test {
namespace {

using Row = std::map<std::string, std::string>;

// What a set of calls must reach. Absent: the counters do not tell.
struct Limits {
  std::string_view set;
  std::optional<double> exact;    // Share of FLOPs within 2 % where no tile pads the call.
  std::optional<double> covered;  // Share of calls whose FLOPs are no more than counted.
  std::optional<double> bytes;    // Least median of bytes / DRAM bytes of calls above the L2.
};

constexpr Limits kLimits[] = {
    {"linear", 0.85, 0.999, 0.60},
    {"relu", {}, {}, 0.99},
    {"conv2d_grid_64", 0.99, 0.999, 0.50},
    {"conv2d_models_gemm", 0.95, 0.99, 0.50},
    {"conv2d_models_winograd_fft", {}, {}, 0.25},
    {"attention_gpt2", 0.999, 0.999, {}},
};
constexpr double kMostBytes = 1.02;  // Of the median.
constexpr double kFitting = 0.999;   // Share of calls whose bytes are no more than counted.
constexpr double kL2Bytes = 40e6;    // Of an A100,
constexpr double kLeftInL2 = 20e6;   // and what it keeps of what a kernel wrote last.

// An argument "x=float32[2,3]" or "stride=(2, 2)" as a literal of a record.
std::string ArgText(const std::string& text) {
  const size_t bracket = text.find('[');
  const size_t equals = text.find('=');
  const bool named =
      equals != std::string::npos && (bracket == std::string::npos || equals < bracket);
  const std::string name = named ? text.substr(0, equals) : "";
  const std::string value = named ? text.substr(equals + 1) : text;
  const size_t open = value.find('[');
  if (open != std::string::npos && open > 0) {
    return fmt::format("{{'name': '{}', 'type': 'tensor', 'shape': ({},), 'dtype': '{}'}}", name,
                       value.substr(open + 1, value.size() - open - 2), value.substr(0, open));
  }
  return fmt::format("{{'name': '{}', 'type': 'object', 'value': {}}}", name, value);
}

OpCall CallOf(const Row& row) {
  std::string args;
  const std::string& text = row.at("args");
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find(';', at), text.size());
    args += ArgText(text.substr(at, end - at)) + ",";
    at = end + 1;
  }
  std::string error;
  const std::optional<OpCall> call = ParseOpCall(
      fmt::format("{{'mod': '{}', 'op': '{}', 'args': [{}]}}", row.at("mod"), row.at("op"), args),
      &error);
  if (!call) ADD_FAILURE() << text << ": " << error;
  return call.value_or(OpCall());
}

double NumberIn(const Row& row, const char* column) { return std::stod(row.at(column)); }

// DRAM bytes of the call, with what of its result was in the L2 when its last kernel ended.
double MovedBytes(const Row& row) {
  return NumberIn(row, "dram_bytes") + std::min(NumberIn(row, "out_bytes"), kLeftInL2);
}

struct Shares {
  int yes = 0;
  int all = 0;
  void Count(bool good) {
    yes += good ? 1 : 0;
    ++all;
  }
  double share() const { return all == 0 ? 1 : static_cast<double>(yes) / all; }
};

struct Tally {
  Shares known, exact, covered, fitting, below_l2;
  std::vector<double> ratios;
};

void CountCall(const Row& row, Tally* tally) {
  const PriceResult result = PriceCall(CallOf(row));
  tally->known.Count(result.price.has_value());
  if (!result.price) return;
  const Work& work = result.price->forward.at(0).work;
  const auto flops = static_cast<double>((work.mma + work.vec).Value().value_or(0));
  const auto bytes = static_cast<double>(work.bytes.Value().value_or(0));
  const double counted = NumberIn(row, "counted_flops");
  const std::string& expect = row.at("expect");
  if (expect == "exact") {
    const double own = counted - NumberIn(row, "overhead_flops");
    tally->exact.Count(std::abs(flops - own) <= 0.02 * own);
  }
  if (expect != "bytes" && expect != "algo") tally->covered.Count(flops <= counted * 1.001);
  tally->fitting.Count(bytes <= MovedBytes(row) * kMostBytes + 2048);
  tally->below_l2.Count(bytes <= NumberIn(row, "l2_bytes") * 1.001 + 4096);
  if (bytes > kL2Bytes && NumberIn(row, "dram_bytes") > 0) {
    tally->ratios.push_back(bytes / MovedBytes(row));
  }
}

std::vector<Row> RowsOf(const std::filesystem::path& path) {
  return ParseCsv(oplens::test::ReadFile(path));
}

TEST(CountedCallsTest, CorpusPricesAgreeWithCounters) {
  OPLENS_NEED_CORPUS();
  const std::filesystem::path folder = oplens::test::CorpusDir().path / "counters";
  for (const Limits& limits : kLimits) {
    SCOPED_TRACE(limits.set);
    Tally tally;
    for (const Row& row : RowsOf(folder / fmt::format("{}.csv", limits.set))) {
      CountCall(row, &tally);
    }
    std::sort(tally.ratios.begin(), tally.ratios.end());
    const double median = tally.ratios.empty() ? 0 : tally.ratios[tally.ratios.size() / 2];
    std::cout << fmt::format(
        "{}: {} calls, exact {:.3f}, no more than counted {:.3f}, bytes {:.3f}, fitting {:.3f}\n",
        limits.set, tally.known.all, tally.exact.share(), tally.covered.share(), median,
        tally.fitting.share());
    EXPECT_GT(tally.known.all, 30);
    EXPECT_EQ(tally.known.share(), 1);
    EXPECT_GE(tally.exact.share(), limits.exact.value_or(0));
    EXPECT_GE(tally.covered.share(), limits.covered.value_or(0));
    EXPECT_GE(tally.fitting.share(), kFitting);
    EXPECT_GE(tally.below_l2.share(), kFitting);
    EXPECT_GE(median, limits.bytes.value_or(0));
    EXPECT_LE(median, kMostBytes);
  }
}

// The kernels of all sets: whether any of their instructions ran on Tensor Cores.
std::map<std::string, bool> CountedKernels(const std::filesystem::path& folder) {
  std::map<std::string, std::string> names;
  for (const Row& row : RowsOf(folder / "kernel_names.csv")) names[row.at("id")] = row.at("name");
  std::map<std::string, bool> kernels;
  for (const Limits& limits : kLimits) {
    for (const Row& row : RowsOf(folder / fmt::format("{}.csv", limits.set))) {
      const std::string& text = row.at("kernels");
      for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find('|', at), text.size());
        const std::string kernel = text.substr(at, end - at);
        const size_t first = kernel.find(':');
        const size_t tensor = kernel.find(':', first + 1) + 1;
        const std::string& name = names.at(kernel.substr(0, first));
        kernels[name] = kernels[name] || std::stoll(kernel.substr(tensor)) > 0;
        at = end + 1;
      }
    }
  }
  return kernels;
}

TEST(CountedCallsTest, CorpusTensorCoresAreThoseOfNames) {
  OPLENS_NEED_CORPUS();
  Shares known;
  for (const auto& [name, counted] : CountedKernels(oplens::test::CorpusDir().path / "counters")) {
    if (name.starts_with("unrecorded")) continue;
    const TensorCoreUse use = TensorCoreVerdictOf(name).use;
    known.Count(use != TensorCoreUse::kUnknown);
    if (use == TensorCoreUse::kUnknown) continue;
    EXPECT_EQ(use == TensorCoreUse::kYes, counted) << name;
  }
  EXPECT_GT(known.all, 50);
  EXPECT_GE(known.share(), 0.75);
}

}  // namespace
}  // namespace oplens::ops::test::counted_calls_test
