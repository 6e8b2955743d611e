#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "parse/model/python_text.h"
#include "parse/model/record_fields.h"

namespace oplens {
namespace {

// One overload of AppendRecordWriterValue and of JsonOf per field type.

void AppendRecordWriterValue(int64_t value, std::string* out) { AppendPythonInt(value, out); }
void AppendRecordWriterValue(std::string_view text, std::string* out) {
  AppendPythonString(text, out);
}
void AppendRecordWriterValue(Direction direction, std::string* out) {
  AppendPythonString(DirectionWord(direction), out);
}
void AppendRecordWriterValue(Phase phase, std::string* out) {
  AppendPythonString(PhaseWord(phase), out);
}

void AppendRecordWriterValue(Evidence evidence, std::string* out) {
  AppendPythonString(EvidenceWord(evidence), out);
}
void AppendRecordWriterValue(Confidence confidence, std::string* out) {
  AppendPythonString(ConfidenceWord(confidence), out);
}

void AppendRecordWriterValue(const Dim3& dim, std::string* out) {
  out->push_back('(');
  AppendPythonInt(dim.x, out);
  out->append(", ");
  AppendPythonInt(dim.y, out);
  out->append(", ");
  AppendPythonInt(dim.z, out);
  out->push_back(')');
}

void AppendRecordWriterValue(ReasonSet reasons, std::string* out) {
  out->push_back('[');
  bool first = true;
  reasons.ForEach([&](Reason reason) {
    if (!first) out->append(", ");
    first = false;
    AppendPythonString(ReasonWord(reason), out);
  });
  out->push_back(']');
}

template <typename T>
void AppendRecordWriterValue(const std::optional<T>& value, std::string* out) {
  if (value) {
    AppendRecordWriterValue(*value, out);
  } else {
    out->append("None");
  }
}

template <typename T>
void AppendRecordWriterValue(const std::vector<T>& values, std::string* out) {
  out->push_back('[');
  for (size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out->append(", ");
    AppendRecordWriterValue(values[i], out);
  }
  out->push_back(']');
}

using Json = nlohmann::ordered_json;

template <typename T>
Json JsonOf(const T& value) {
  return value;
}
template <typename T>
Json JsonOf(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}
Json JsonOf(Direction direction) { return DirectionWord(direction); }
Json JsonOf(Phase phase) { return PhaseWord(phase); }
Json JsonOf(Evidence evidence) { return EvidenceWord(evidence); }
Json JsonOf(Confidence confidence) { return ConfidenceWord(confidence); }
Json JsonOf(const Dim3& dim) { return {dim.x, dim.y, dim.z}; }
Json JsonOf(ReasonSet reasons) {
  Json words = Json::array();
  reasons.ForEach([&](Reason reason) { words.push_back(ReasonWord(reason)); });
  return words;
}

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
  out->push_back('{');
  const size_t begin = out->size();
  ForEachField(record, [&](auto field, const auto& value) {
    if constexpr (field.kUse == FieldUse::kIfAny) {
      if (IsEmpty(value)) return;
    }
    const bool first = out->size() == begin;
    out->append(first ? field.kSpelling.substr(2) : field.kSpelling);
    AppendRecordWriterValue(value, out);
  });
  out->append("}\n");
}

void AppendJsonLine(const KernelRecord& record, std::string* out) {
  Json line = Json::object();
  ForEachField(record, [&](auto field, const auto& value) {
    if constexpr (field.kUse != FieldUse::kIfAny) line[std::string(field.kKey)] = JsonOf(value);
  });
  // Rarely written fields come last.
  ForEachField(record, [&](auto field, const auto& value) {
    if constexpr (field.kUse == FieldUse::kIfAny) {
      if (!IsEmpty(value)) line[std::string(field.kKey)] = JsonOf(value);
    }
  });
  out->append(line.dump(-1, ' ', false, Json::error_handler_t::replace));
  out->push_back('\n');
}

}  // namespace oplens
