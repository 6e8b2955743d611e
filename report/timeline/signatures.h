#ifndef OPLENS_REPORT_TIMELINE_SIGNATURES_H_
#define OPLENS_REPORT_TIMELINE_SIGNATURES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "parse/model/string_pool.h"
#include "parse/model/trace.h"
#include "prof/price/priced_kernel.h"
#include "report/data/column.h"

namespace oplens::report {

/// The kind of a timeline event.
enum class EventClass : uint8_t {
  kCompute,
  kCommunication,
  kCopy,
  kFill,
  kReplay,
  kOperator,
  kAnnotation,
  kModule,
  kFrame,
  kStep,
  kMarker,
  kCall,  ///< CUDA API call.
};

/// The word in the signatures' field "class".
std::string_view EventClassWord(EventClass of);
EventClass ClassOf(RangeKind kind);

/// The distinct properties of timeline events, without their times.
class Signatures {
 public:
  /// No event.
  static constexpr uint32_t kNone = UINT32_MAX;

  /// A column of the table of signatures.
  struct Field {
    std::string_view key;
    std::string_view header;
    std::string_view unit;
    std::string_view type;
    std::string_view help;
  };
  static std::span<const Field> Fields();

  /// `of`: kCompute, kCommunication or, for a replay, kReplay.
  uint32_t OfKernel(const prof::PricedKernel& kernel, EventClass of);
  uint32_t OfCopy(const MemoryCopy& copy);
  uint32_t OfFill(const MemorySet& fill);
  uint32_t OfReplay(const GraphReplay& replay);
  /// The recorded tensor arguments of an operator.
  struct Tensors {
    std::string shapes;      ///< "(32,128,768);(3072,768)"
    std::string_view dtype;  ///< Of the first tensor with a known type: ops::DTypeWord, or "".
  };
  uint32_t OfOperator(std::string_view name, const Tensors& tensors);
  /// For events with only a name.
  uint32_t OfName(std::string_view name, EventClass of);

  size_t size() const { return all_.size(); }
  std::vector<Column> Columns(const PathCutter* cutter) const;

  // Beyond these limits, further signatures lose their details, then their names, so that hostile
  // files stay bounded.
  static constexpr size_t kMaxDetailed = size_t{1} << 18;
  static constexpr size_t kMaxNamed = size_t{1} << 19;
  static constexpr size_t kMaxTextBytes = size_t{64} << 20;

 private:
  struct Key {
    StringId name = 0;
    StringId full_name = 0;
    StringId op = 0;
    StringId layer = 0;
    StringId shapes = 0;
    StringId dtype = 0;
    Dim3 grid = {-1, -1, -1};
    Dim3 block = {-1, -1, -1};
    std::optional<int64_t> flops = {};
    std::optional<int64_t> bytes = {};
    std::optional<bool> tensor_core = {};
    Direction direction = Direction::kUnknown;
    Evidence evidence = Evidence::kNone;
    Confidence confidence = Confidence::kUnknown;
    EventClass of = EventClass::kCompute;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const;
  };

  StringId Intern(std::string_view text);
  uint32_t NumberOf(Key key);

  StringPool texts_;
  size_t text_bytes_ = 0;
  std::unordered_map<Key, uint32_t, Hash> numbers_;
  std::vector<const Key*> all_;  // Points into numbers_, whose keys do not move.
  std::string scratch_;
};

}  // namespace oplens::report

#endif  // OPLENS_REPORT_TIMELINE_SIGNATURES_H_
