#ifndef OPLENS_TEST_SUPPORT_NVTX_CAPTURE_H_
#define OPLENS_TEST_SUPPORT_NVTX_CAPTURE_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "nvtx_annotate/payload.h"
#include "test/support/trace_script.h"

namespace oplens::test {

/// A binary payload of an event.
struct NvtxPayload {
  uint64_t schema = 0;
  std::string schema_name;  ///< "" when it was not registered.
  std::string bytes;
};

/// One call of NVTX, as the tool saw it.
struct NvtxEvent {
  enum class Kind { kPush, kPop, kStart, kEnd, kMark };
  Kind kind = Kind::kMark;
  int64_t time_ns = 0;
  int64_t thread_id = 0;  ///< As the operating system numbers it.
  std::string domain;     ///< "": the default domain.
  std::string text;       ///< Also that of a registered string.
  bool registered = false;
  uint64_t range_id = 0;  ///< Of kStart and kEnd.
  uint32_t category = 0;
  std::string category_name;
  std::optional<uint32_t> color;                                   ///< ARGB
  std::variant<std::monostate, int64_t, uint64_t, double> number;  ///< The payload of the C union.
  std::vector<NvtxPayload> payloads;
};

/// What liboplens_test_recorder.so wrote.
struct NvtxCapture {
  int64_t process_id = 0;
  std::vector<NvtxEvent> events;  ///< Those of a thread in the order of its calls.
  std::vector<std::string> domains;
  std::map<int64_t, std::string> thread_names;
};

/// Reads a file in the format of test/recorder/test_recorder.h. Throws std::runtime_error with the
/// number of the first line that is not as described there.
NvtxCapture ReadCapture(const std::filesystem::path& path);

/// A range, with the text that a profile would show.
struct NvtxRange {
  std::string text;
  std::string domain;
  int64_t thread_id = 0;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t parent = -1;    ///< Index of the pushed range around it, on the same thread.
  bool pushed = true;     ///< False: nvtxRangeStart, which takes no part in nesting.
  bool rendered = false;  ///< The text comes from a payload.
};

struct NvtxRanges {
  /// A thread after the other, each in the order of their beginning; outer ones first.
  std::vector<NvtxRange> ranges;
  /// What is wrong: ranges that were not closed or closed twice, or across another domain's, and
  /// payloads that cannot be rendered. Empty: all is well.
  std::vector<std::string> faults;
};

/// Joins begin and end. A range with a payload of the schema "oplens.op.v1" becomes the ranges that
/// text mode would have emitted, nested in one another, with its times.
/// `place`: whether the texts of payloads hold what differs from call to call.
NvtxRanges RangesOf(const NvtxCapture& capture, markers::Facts place = markers::Facts::kInText);

/// The texts of all pushed ranges in order, each behind two blanks for every range around it.
std::vector<std::string> Outline(const NvtxRanges& ranges);

/// Whether a text is that of an op or of a backward node.
bool IsCallText(const std::string& text);

/// Which ranges launch a kernel.
struct CaptureLaunches {
  /// Asked for every range. Null: the ops and nodes that hold no other.
  std::function<bool(const NvtxRange&)> chooses = nullptr;
  /// The kernel of a chosen range. Null: KernelSpec's defaults.
  std::function<KernelSpec(const NvtxRange&)> kernel = nullptr;
};

/// Writes the ranges as an nvprof database. Each chosen range launches one kernel: the call follows
/// the beginning of the range, or of the range with its sequence number if that is the first
/// inside, and the kernels run after one another. Times are stretched a thousandfold, so that a
/// call fits between any two events of a thread.
void WriteNvprofCapture(const NvtxRanges& ranges, int64_t process_id,
                        const std::filesystem::path& path, const CaptureLaunches& launches = {});

}  // namespace oplens::test

#endif  // OPLENS_TEST_SUPPORT_NVTX_CAPTURE_H_
