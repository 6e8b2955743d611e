// Forward and backward sequence numbers match one to one: the forward op of a node is the last op
// with its number on its forward thread that began before the node (docs/markers.md). What does not
// match is listed in unmatched.txt, with the reason.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <sstream>

#include "test/support/test_files.h"
#include "test/torch/torch_run.h"

namespace oplens::test::sequence_test {
namespace {

struct Call {
  std::string name;
  int64_t seq = -1;
  int64_t thread_id = 0;
  int64_t start_ns = 0;
};

/// "addmm" and 3 for "addmm, seq = 3".
bool ReadSequence(const NvtxRange& range, Call* call) {
  constexpr std::string_view kSeq = ", seq = ";
  const size_t at = range.text.rfind(kSeq);
  if (range.text.starts_with("{") || at == range.text.npos) return false;
  *call = {range.text.substr(0, at), std::stoll(range.text.substr(at + kSeq.size())),
           range.thread_id, range.start_ns};
  call->name = call->name.substr(0, call->name.find('.'));
  return true;
}

/// Every range with the number of an op, in the order of time.
std::vector<Call> ForwardCalls(const NvtxRanges& ranges) {
  std::vector<Call> calls;
  for (const NvtxRange& range : ranges.ranges) {
    Call call;
    if (!ReadSequence(range, &call)) continue;
    const bool of_node =
        range.parent >= 0 && IsNode(ranges.ranges[static_cast<size_t>(range.parent)]);
    if (!of_node) calls.push_back(call);
  }
  std::stable_sort(calls.begin(), calls.end(),
                   [](const Call& a, const Call& b) { return a.start_ns < b.start_ns; });
  return calls;
}

/// Lower case letters and digits of the last part of a name, without "Backward0".
std::string Bare(std::string name) {
  if (!name.ends_with(">"))
    name = name.substr(name.rfind(':') == name.npos ? 0 : name.rfind(':') + 1);
  name = name.substr(0, name.rfind("Backward"));
  std::string bare;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      bare += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return bare;
}

bool NamesFit(const std::string& node, const std::string& op) {
  const std::string a = Bare(node), b = Bare(op);
  return a.ends_with(b) || b.ends_with(a) || b.starts_with(a);
}

/// What does not match in the ranges of a run: "KIND NAME", how often.
std::map<std::string, int> Unmatched(const NvtxRanges& ranges) {
  const std::vector<Call> calls = ForwardCalls(ranges);
  std::map<std::string, int> faults;
  std::vector<std::string> made(calls.size());  // The node that each op made.
  for (const NvtxRange& range : ranges.ranges) {
    if (!IsNode(range)) continue;
    const std::string node = Fact(range.text, "node");
    const int64_t seq = std::stoll(Fact(range.text, "seq"));
    const int64_t thread = std::stoll(Fact(range.text, "ftid"));
    if (seq < 0) {
      ++faults["unnumbered " + node];
      continue;
    }
    size_t found = calls.size();
    for (size_t i = 0; i < calls.size() && calls[i].start_ns < range.start_ns; ++i) {
      if (calls[i].seq == seq && calls[i].thread_id == thread) found = i;
    }
    if (found == calls.size()) {
      ++faults["node " + node];
    } else if (!made[found].empty()) {
      ++faults["again " + node];
    } else {
      made[found] = node;
      if (!NamesFit(node, calls[found].name)) ++faults["names " + node + " " + calls[found].name];
    }
  }
  for (size_t i = 0; i < calls.size(); ++i) {
    if (made[i].empty()) ++faults["op " + calls[i].name];
  }
  return faults;
}

/// The lines of unmatched.txt for a program, "KIND NAME: COUNT". Each must have a reason.
std::vector<std::string> Listed(const std::string& program) {
  std::map<std::string, std::string> counts;  // By kind and name.
  std::istringstream file(ReadFile(SourceFile("test/torch/unmatched.txt")));
  bool mine = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("[")) {
      mine = line == "[" + program + "]" || line == "[" + program + " with " OPLENS_TORCH_MAJOR "]";
    }
    const size_t reason = line.find(" - ");
    if (!mine || line.starts_with("[") || line.starts_with("#") || line.empty()) continue;
    EXPECT_NE(reason, line.npos) << "without a reason: " << line;
    const std::string fault = line.substr(0, reason);
    const size_t count = fault.rfind(": ");
    counts[fault.substr(0, count)] = fault.substr(count);
  }
  std::vector<std::string> lines;
  for (const auto& [name, count] : counts) {
    if (count != ": 0") lines.push_back(name + count);
  }
  return lines;
}

void ExpectMatches(const std::string& program, const TorchRun& run) {
  std::vector<std::string> lines;
  for (const auto& [fault, count] : Unmatched(run.ranges)) {
    lines.push_back(fmt::format("{}: {}", fault, count));
  }
  EXPECT_THAT(lines, ::testing::UnorderedElementsAreArray(Listed(program))) << program;
}

TEST(SequenceTest, CxxExamples) {
  for (const char* const name : {"torch_cnn", "torch_transformer"}) {
    ExpectMatches(name, RunTorch({ExampleProgram(name)}, {"OPLENS_ANNOTATE=outer"}));
  }
}

TEST(SequenceTest, CxxCases) {
  for (const char* const name : {"custom", "reentrant", "threads", "double", "hook"}) {
    ExpectMatches(name, RunCase(name));
  }
}

TEST(SequenceTest, PythonExample) {
  OPLENS_NEED(WhyNoPython);
  ExpectMatches("train.py", RunTorch(AnnotatedPython({SourceFile("examples/train.py")}),
                                     {"PYTHONPATH=" + BuildFile("lib"), "OPLENS_ANNOTATE=outer"}));
}

TEST(SequenceTest, PythonCases) {
  OPLENS_NEED(WhyNoPython);
  for (const char* const name : {"layers", "custom", "reentrant_checkpoint", "other_checkpoint"}) {
    ExpectMatches(std::string("python ") + name, RunPythonCase(name));
  }
}

}  // namespace
}  // namespace oplens::test::sequence_test
