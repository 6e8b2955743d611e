#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "base/append_format.h"
#include "base/json_text.h"
#include "parse/model/python_text.h"
#include "parse/model/record_fields.h"

namespace oplens {
namespace {

struct PythonStyle {
  using Text = TextEnd;
  static constexpr std::string_view kNone = "None", kComma = ", ", kOpen = "(", kClose = ")";
  static void Append(int64_t value, Text* out) { AppendPythonInt(value, out); }
  static void Append(std::string_view text, Text* out) { AppendPythonString(text, out); }
};

struct JsonStyle {
  using Text = std::string;
  static constexpr std::string_view kNone = "null", kComma = ",", kOpen = "[", kClose = "]";
  static void Append(int64_t value, Text* out) { AppendInteger(value, out); }
  static void Append(std::string_view text, Text* out) { AppendJsonString(text, out); }
};

/// Appends the value of a field; one overload a type.
template <typename Style>
struct RecordValue {
  using Text = typename Style::Text;
  static void Append(int64_t value, Text* out) { Style::Append(value, out); }
  static void Append(std::string_view text, Text* out) { Style::Append(text, out); }
  static void Append(Direction direction, Text* out) {
    Style::Append(DirectionWord(direction), out);
  }
  static void Append(Phase phase, Text* out) { Style::Append(PhaseWord(phase), out); }
  static void Append(Evidence evidence, Text* out) { Style::Append(EvidenceWord(evidence), out); }
  static void Append(Confidence confidence, Text* out) {
    Style::Append(ConfidenceWord(confidence), out);
  }

  static void Append(const Dim3& dim, Text* out) {
    out->append(Style::kOpen);
    Append(dim.x, out);
    out->append(Style::kComma);
    Append(dim.y, out);
    out->append(Style::kComma);
    Append(dim.z, out);
    out->append(Style::kClose);
  }

  static void Append(ReasonSet reasons, Text* out) {
    out->push_back('[');
    bool first = true;
    reasons.ForEach([&](Reason reason) {
      if (!first) out->append(Style::kComma);
      first = false;
      Style::Append(ReasonWord(reason), out);
    });
    out->push_back(']');
  }

  template <typename T>
  static void Append(const std::optional<T>& value, Text* out) {
    if (value) {
      Append(*value, out);
    } else {
      out->append(Style::kNone);
    }
  }

  template <typename T>
  static void Append(const std::vector<T>& values, Text* out) {
    out->push_back('[');
    for (size_t i = 0; i < values.size(); ++i) {
      if (i > 0) out->append(Style::kComma);
      Append(values[i], out);
    }
    out->push_back(']');
  }
};

/// Of a line.
constexpr size_t kLikelyBytes = 1536;

// For fields that are written only if not empty.
template <typename T>
bool IsEmpty(const std::vector<T>& values) {
  return values.empty();
}
bool IsEmpty(int64_t count) { return count == 0; }
bool IsEmpty(Evidence evidence) { return EvidenceWord(evidence).empty(); }
bool IsEmpty(Confidence confidence) { return ConfidenceWord(confidence).empty(); }

template <typename F>
void ForEachField(const KernelRecord& record, F f) {
  std::apply([&](auto... fields) { (f(fields, record.*fields.kMember), ...); }, kRecordFields);
}

}  // namespace

void AppendDictLine(const KernelRecord& record, std::string* out) {
  TextEnd end(out, kLikelyBytes);
  end.push_back('{');
  const size_t begin = end.size();
  ForEachField(record, [&](auto field, const auto& value) {
    if constexpr (field.kUse == FieldUse::kIfAny) {
      if (IsEmpty(value)) return;
    }
    if (end.size() != begin) [[likely]] {
      end.append(field.kSpelling);
    } else {
      end.append(field.kSpelling.substr(2));
    }
    RecordValue<PythonStyle>::Append(value, &end);
  });
  end.append("}\n");
}

void AppendJsonLine(const KernelRecord& record, std::string* out) {
  const auto append = [&](std::string_view key, const auto& value) {
    out->append(",\"").append(key).append("\":");
    RecordValue<JsonStyle>::Append(value, out);
  };
  const size_t begin = out->size();
  ForEachField(record, [&](auto field, const auto& value) {
    if constexpr (field.kUse != FieldUse::kIfAny) append(field.kKey, value);
  });
  // Rarely written fields come last.
  ForEachField(record, [&](auto field, const auto& value) {
    if constexpr (field.kUse == FieldUse::kIfAny) {
      if (!IsEmpty(value)) append(field.kKey, value);
    }
  });
  (*out)[begin] = '{';
  out->append("}\n");
}

}  // namespace oplens
