#ifndef OPLENS_TEST_GATE_MADE_DIFF_H_
#define OPLENS_TEST_GATE_MADE_DIFF_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "prof/diff/diff.h"
#include "prof/gate/expression.h"

namespace oplens::prof::test {

/// What the expressions of these tests may name.
inline const std::vector<GateScope>& MadeScopes() {
  static const std::vector<GateScope> scopes = {
      {"operators",
       {"layer", "op", "shape"},
       {{"device_self_ns", "ns"},
        {"calls", ""},
        {"tc_ns", "ns"},
        {"tc_known_ns", "ns"},
        {"tc_self_pct", "%"},
        {"p95_ns", "ns"}},
       "device_self_ns"},
      {"overview", {"part"}, {{"total_ns", "ns"}, {"comm_ns", "ns"}, {"busy_pct", "%"}}},
      {"gpu", {"rank", "device"}, {{"busy_ns", "ns"}, {"busy_pct", "%"}}},
      {"memory", {"device"}, {{"peak_bytes", "B"}}},
      {"critical-path", {"cause"}, {{"time_ns", "ns"}}, "time_ns"},
  };
  return scopes;
}

inline Figure MadeFigure(std::optional<double> base, std::optional<double> now,
                         Verdict verdict = Verdict::kChanged) {
  Figure figure;
  figure.base = base;
  figure.now = now;
  figure.verdict = verdict;
  if (verdict != Verdict::kUnknown) figure.band = 1000;
  return figure;
}

inline DiffRow MadeOperator(std::string layer, std::string op, Figure self, Figure calls,
                            Figure tc = {}, Figure tc_known = {}) {
  const auto ratio = [](const std::optional<double>& a, const std::optional<double>& b) {
    return a && b && *b != 0 ? std::optional<double>(100 * *a / *b) : std::nullopt;
  };
  return {
      {std::move(layer), std::move(op), "[8, 8]"},
      {},
      {self, calls, tc, tc_known,
       MadeFigure(ratio(tc.base, tc_known.base), ratio(tc.now, tc_known.now)), MadeFigure(10, 20)}};
}

/// Two runs of a small network: `mm` of decoder.0 is slower, of decoder.1 within the noise, `add`
/// of head is new, `softmax` is gone.
inline Diff MadeDiff() {
  using enum FieldType;
  Diff diff;
  diff.base_name = "base.json";
  diff.new_name = "new.json";
  diff.base_steps = 20;
  diff.new_steps = 20;
  diff.total = MadeFigure(12e6, 14.1e6);
  diff.differences = {{"gpu", "A100", "H100", true}, {"steps", "20", "30", false}};
  diff.verdict = "slower by 2.1 ms a step: mm of decoder.0 takes longer";
  diff.causes = {{"kernels slower", 2e6, "the same kernels take longer", Verdict::kChanged},
                 {"new ops", 0.5e6, "ops that the base does not have", Verdict::kChanged},
                 {"idle: launch", -0.4e6, "the GPU waits less for launches", Verdict::kUnknown}};
  diff.notes = {"memory: the profile holds no allocations"};
  DiffTable operators;
  operators.view = "operators";
  operators.keys = {{"layer", "Layer", "", kText, 10, "", Fold::kKey},
                    {"op", "Op", "", kName, 10, "", Fold::kKey},
                    {"shape", "Shape", "", kText, 10, "", Fold::kKey}};
  operators.figures = {
      {"device_self_ns", "DevSelf", "ns", kInteger, 10, "", Fold::kSum},
      {"calls", "Calls", "", kInteger, 10, "", Fold::kSum},
      {"tc_ns", "TC", "ns", kInteger, 10, "", Fold::kSum},
      {"tc_known_ns", "TCKnown", "ns", kInteger, 10, "", Fold::kSum},
      AsRatio({"tc_self_pct", "TCSelf", "%", kDecimal, 10, ""}, {"tc_ns", "tc_known_ns", 100}),
      {"p95_ns", "P95", "ns", kInteger, 10, "", Fold::kQuantiles}};
  const Figure once = MadeFigure(1, 1, Verdict::kSame);
  operators.rows = {MadeOperator("decoder.0", "mm", MadeFigure(4e6, 7e6), once,
                                 MadeFigure(4e6, 3e6), MadeFigure(4e6, 7e6)),
                    MadeOperator("decoder.1", "mm", MadeFigure(4e6, 4.0004e6, Verdict::kSame), once,
                                 MadeFigure(4e6, 4e6), MadeFigure(4e6, 4e6)),
                    MadeOperator("head", "add", MadeFigure({}, 0.5e6), MadeFigure({}, 2)),
                    MadeOperator("head", "softmax", MadeFigure(0.9e6, {}), MadeFigure(1, {})),
                    MadeOperator("", "copy op", MadeFigure(1e6, 1.1e6, Verdict::kUnknown), once)};
  operators.shown_figures = 2;
  operators.explains_total = true;
  diff.tables.push_back(std::move(operators));
  DiffTable overview;
  overview.view = "overview";
  overview.keys = {{"part", "Part", "", kText, 10, "", Fold::kKey}};
  overview.figures = {{"time_ns", "Time", "ns", kInteger, 10, "", Fold::kSum}};
  overview.rows = {{{"kernel"}, {}, {MadeFigure(10e6, 11e6)}},
                   {{"comm"}, {}, {MadeFigure(2e6, 3e6)}}};
  diff.tables.push_back(std::move(overview));
  DiffTable gpu;
  gpu.view = "gpu";
  gpu.keys = {{"rank", "Rank", "", kText, 4, "", Fold::kKey},
              {"device", "Device", "", kInteger, 4, "", Fold::kKey, {}, {}, "(all)"}};
  gpu.figures = {{"busy_ns", "Busy", "ns", kInteger, 10, "", Fold::kSum},
                 {"busy_pct", "Busy", "%", kDecimal, 10, ""}};
  gpu.rows = {{{"0", "(all)"}, {}, {MadeFigure(100, 100), MadeFigure(99, 99)}},
              {{"0", "0"}, {}, {MadeFigure(100, 100), MadeFigure(70, 55)}}};
  diff.tables.push_back(std::move(gpu));
  DiffTable memory;
  memory.view = "memory";
  memory.keys = {{"device", "Device", "", kText, 4, "", Fold::kKey}};
  memory.figures = {{"peak_bytes", "Peak", "B", kInteger, 10, "", Fold::kMax}};
  diff.tables.push_back(std::move(memory));
  return diff;
}

}  // namespace oplens::prof::test

#endif  // OPLENS_TEST_GATE_MADE_DIFF_H_
