#include <fmt/format.h>

#include <array>
#include <bit>
#include <tuple>

#include "base/literal.h"
#include "parse/model/record_fields.h"

namespace oplens {
namespace {

/// The source of a line's values and the destination of its decoded texts.
struct Source {
  LiteralScanner in;
  std::string* storage;
};

// One overload of ReadValue per field type. They return false once the scanner has failed.

bool ReadValue(Source* source, int64_t* value) { return source->in.ReadInteger(value); }

bool ReadValue(Source* source, std::string_view* text) {
  return source->in.ReadString(source->storage, text);
}

template <typename T>
bool ReadValue(Source* source, std::optional<T>* value) {
  if (source->in.TakeNone()) return true;
  return ReadValue(source, &value->emplace());
}

template <typename T>
bool ReadValue(Source* source, std::vector<T>* values) {
  source->in.EnterSequence();
  while (source->in.NextItem()) {
    if (!ReadValue(source, &values->emplace_back())) return false;
  }
  return !source->in.failed();
}

bool ReadValue(Source* source, Dim3* extent) {
  LiteralScanner& in = source->in;
  in.EnterSequence();
  for (int64_t* axis : {&extent->x, &extent->y, &extent->z}) {
    if (!in.NextItem()) return in.Refuse("three integers are expected");
    if (!in.ReadInteger(axis)) return false;
  }
  return !in.NextItem() || in.Refuse("three integers are expected");
}

bool ReadValue(Source* source, Direction* direction) {
  std::string_view word;
  if (!ReadValue(source, &word)) return false;
  for (const Direction known : {Direction::kForward, Direction::kBackward}) {
    if (word == DirectionWord(known)) *direction = known;
  }
  return true;
}

bool ReadValue(Source* source, Phase* phase) {
  std::string_view word;
  if (!ReadValue(source, &word)) return false;
  for (const Phase known : {Phase::kForward, Phase::kBackward, Phase::kRecompute, Phase::kGradient,
                            Phase::kAccumulate, Phase::kOptimizer}) {
    if (word == PhaseWord(known)) *phase = known;
  }
  return true;
}

bool ReadValue(Source* source, Evidence* evidence) {
  std::string_view word;
  if (!ReadValue(source, &word)) return false;
  for (const Evidence known : kEvidences) {
    if (word == EvidenceWord(known)) *evidence = known;
  }
  return true;
}

bool ReadValue(Source* source, Confidence* confidence) {
  std::string_view word;
  if (!ReadValue(source, &word)) return false;
  for (const Confidence known : {Confidence::kLow, Confidence::kMedium, Confidence::kHigh}) {
    if (word == ConfidenceWord(known)) *confidence = known;
  }
  return true;
}

// Ignores words of a later version: their meaning is lost, but not the record.
bool ReadValue(Source* source, ReasonSet* reasons) {
  source->in.EnterSequence();
  while (source->in.NextItem()) {
    std::string_view word;
    if (!ReadValue(source, &word)) return false;
    if (Reason reason; FindReason(word, &reason)) reasons->Add(reason);
  }
  return !source->in.failed();
}

using FieldReader = bool (*)(Source*, KernelRecord*);

template <auto Member>
bool ReadField(Source* source, KernelRecord* record) {
  return ReadValue(source, &(record->*Member));
}

template <auto Member>
struct FieldReaderOf {
  static constexpr FieldReader kRead = ReadField<Member>;
};

/// A list of texts, or one text instead of it.
template <auto Member>
bool ReadTexts(Source* source, KernelRecord* record) {
  if (source->in.Peek() != LiteralKind::kString) return ReadField<Member>(source, record);
  return ReadValue(source, &(record->*Member).emplace_back());
}

/// A negative duration would falsify every sum.
bool ReadDuration(Source* source, KernelRecord* record) {
  if (!ReadValue(source, &record->duration_ns)) return false;
  if (record->duration_ns < 0) {
    record->duration_ns = 0;
    record->reasons.Add(Reason::kBadTimes);
  }
  return true;
}

template <>
struct FieldReaderOf<&KernelRecord::duration_ns> {
  static constexpr FieldReader kRead = ReadDuration;
};
template <>
struct FieldReaderOf<&KernelRecord::mod> {
  static constexpr FieldReader kRead = ReadTexts<&KernelRecord::mod>;
};
template <>
struct FieldReaderOf<&KernelRecord::op> {
  static constexpr FieldReader kRead = ReadTexts<&KernelRecord::op>;
};

struct Field {
  std::string_view key;
  std::string_view spelling;  // As in lines, with quotes and colon.
  FieldReader read;
  bool required = false;
};

template <typename F>
constexpr Field FieldOf(F) {
  // Without the comma before it and the blank behind it.
  return {F::kKey, F::kSpelling.substr(2, F::kSpelling.size() - 3),
          FieldReaderOf<F::kMember>::kRead, F::kUse == FieldUse::kRequired};
}

constexpr auto kFields =
    std::apply([](auto... fields) { return std::array{FieldOf(fields)...}; }, kRecordFields);
constexpr size_t kFieldCount = kFields.size();
static_assert(kFieldCount <= 64, "the set of keys met is one word");

constexpr uint64_t Bit(size_t field) { return uint64_t{1} << field; }

constexpr uint64_t RequiredFields() {
  uint64_t required = 0;
  for (size_t i = 0; i < kFieldCount; ++i) {
    if (kFields[i].required) required |= Bit(i);
  }
  return required;
}

/// Returns the field of a key, or kFieldCount if it is unknown.
size_t FindField(std::string_view key) {
  size_t field = 0;
  while (field != kFieldCount && kFields[field].key != key) ++field;
  return field;
}

/// Reads the key of the next item. Lines have them in table order, so `expected` is tried first.
/// Returns kFieldCount if the key is unknown or the scanner failed.
size_t ReadFieldKey(Source* source, size_t expected) {
  if (expected != kFieldCount && source->in.TakeKey(kFields[expected].spelling)) return expected;
  std::string_view key;
  if (!source->in.ReadKey(source->storage, &key)) return kFieldCount;
  // JSON has the keys in that order too.
  if (expected != kFieldCount && kFields[expected].key == key) return expected;
  return FindField(key);
}

}  // namespace

bool RecordReader::Read(std::string_view line, KernelRecord* record, std::string* error) {
  record->Clear();
  unescaped_.clear();
  const bool json = line.starts_with("{\"");
  const auto dialect = json ? LiteralDialect::kPythonOrJson : LiteralDialect::kPython;
  Source source{LiteralScanner(line, dialect), &unescaped_};
  uint64_t seen = 0;
  size_t expected = 0;
  source.in.EnterDict();
  while (source.in.NextItem()) {
    const size_t field = ReadFieldKey(&source, expected);
    if (field == kFieldCount) {
      source.in.Skip();
      continue;
    }
    if ((seen & Bit(field)) != 0) source.in.Refuse("a key stands twice");
    seen |= Bit(field);
    expected = field + 1;
    if (!kFields[field].read(&source, record)) {
      *error = fmt::format("'{}': {}", kFields[field].key, source.in.ErrorText());
      return false;
    }
  }
  if (!source.in.Finish()) {
    *error = source.in.ErrorText();
    return false;
  }
  if (const uint64_t missing = RequiredFields() & ~seen; missing != 0) {
    *error = fmt::format("the key '{}' is missing",
                         kFields[static_cast<size_t>(std::countr_zero(missing))].key);
    return false;
  }
  return true;
}

}  // namespace oplens
