#include "prof/verdicts/served_step.h"

#include <algorithm>
#include <string>

#include "base/ascii.h"
#include "base/parse_number.h"
#include "base/saturating.h"

namespace oplens::prof {
namespace {

/// Reads a label from left to right.
class LabelReader {
 public:
  explicit LabelReader(std::string_view text) : rest_(text) {}

  bool Skip(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  bool SkipPast(std::string_view word) {
    const size_t at = rest_.find(word);
    if (at == std::string_view::npos) return false;
    rest_.remove_prefix(at + word.size());
    return true;
  }
  std::optional<int64_t> Number() {
    size_t length = 0;
    while (length < rest_.size() && IsDigit(rest_[length])) ++length;
    int64_t number = 0;
    if (!ParseNumber(rest_.substr(0, length), &number)) return std::nullopt;
    rest_.remove_prefix(length);
    return number;
  }
  bool Done() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

/// What is said of the requests of one phase.
struct ServedPart {
  int64_t requests = 0;
  std::optional<int64_t> tokens;
  std::optional<int64_t> kv_tokens = std::nullopt;
};

std::optional<int64_t> SumOf(std::optional<int64_t> a, std::optional<int64_t> b) {
  return a && b ? std::optional(SaturatingSum(*a, *b)) : std::nullopt;
}

ServedStep StepOf(const ServedPart& prefill, const ServedPart& decode) {
  ServedStep step;
  if (prefill.requests > 0 || decode.requests > 0) {
    step.phase = decode.requests == 0    ? ServedPhase::kPrefill
                 : prefill.requests == 0 ? ServedPhase::kDecode
                                         : ServedPhase::kMixed;
  }
  step.requests = SaturatingSum(prefill.requests, decode.requests);
  const auto of = [](const ServedPart& part, std::optional<int64_t> ServedPart::*tokens) {
    return part.requests == 0 ? std::optional<int64_t>(0) : part.*tokens;
  };
  step.tokens = SumOf(of(prefill, &ServedPart::tokens), of(decode, &ServedPart::tokens));
  step.kv_tokens = SumOf(of(prefill, &ServedPart::kv_tokens), of(decode, &ServedPart::kv_tokens));
  return step;
}

/// "2(14721)", "2(888_788544)" (tokens, sum of squares) or "2(sq14721sk...)".
std::optional<ServedPart> VllmPart(LabelReader* reader) {
  const auto requests = reader->Number();
  if (!requests || !reader->Skip("(")) return std::nullopt;
  const bool lengths = reader->Skip("sq");
  ServedPart part{*requests, reader->Number()};
  if (!part.tokens) return std::nullopt;
  if (lengths && reader->Skip("sk")) part.kv_tokens = reader->Number();
  if (!reader->SkipPast(")")) return std::nullopt;
  return part;
}

std::optional<ServedStep> VllmStep(LabelReader reader) {
  if (reader.Skip("new_")) {
    const auto added = reader.Number();
    if (!added || !reader.Skip("_cached_")) return std::nullopt;
    const auto cached = reader.Number();
    if (!cached || !reader.Done()) return std::nullopt;
    return StepOf({*added, {}}, {*cached, {}});
  }
  if (reader.Number() && !reader.Skip("_")) return std::nullopt;
  if (!reader.Skip("context_")) return std::nullopt;
  const auto prefill = VllmPart(&reader);
  if (!prefill || !reader.Skip("_generation_")) return std::nullopt;
  const auto decode = VllmPart(&reader);
  if (!decode || !reader.Done()) return std::nullopt;
  return StepOf(*prefill, *decode);
}

/// The number of " KEY=" in the fields of a label.
std::optional<int64_t> FieldOf(std::string_view fields, std::string_view key) {
  LabelReader reader(fields);
  while (reader.SkipPast(" ")) {
    LabelReader field = reader;
    if (field.Skip(key) && field.Skip("=")) return field.Number();
  }
  return std::nullopt;
}

/// After "step[".
std::optional<ServedStep> SglangStep(std::string_view text) {
  const std::string_view mode = text.substr(0, text.find(' '));
  const auto requests = FieldOf(text, "bs");
  if (!requests || !text.ends_with(']')) return std::nullopt;
  ServedStep step = {ServedPhase::kUnknown, requests, std::nullopt, std::nullopt};
  if (mode == "EXTEND" || mode == "SPLIT_PREFILL") {
    step.phase = ServedPhase::kPrefill;
    step.tokens = FieldOf(text, "toks");
    if (!step.tokens) step.tokens = FieldOf(text, "c_sq");
    step.kv_tokens = FieldOf(text, "c_sk");
  } else if (mode == "DECODE" || mode == "TARGET_VERIFY") {
    step.phase = ServedPhase::kDecode;
    step.tokens = FieldOf(text, "g_sq");
    step.kv_tokens = FieldOf(text, "g_sk");
    // One token of each; speculation verifies several.
    if (!step.tokens && mode == "DECODE") step.tokens = requests;
  } else if (mode == "MIXED") {
    const auto prefills = FieldOf(text, "c");
    const auto decodes = FieldOf(text, "g");
    step.phase = ServedPhase::kMixed;
    step.tokens = SumOf(FieldOf(text, "c_sq"), FieldOf(text, "g_sq"));
    step.kv_tokens = SumOf(FieldOf(text, "c_sk"), FieldOf(text, "g_sk"));
    if (prefills && decodes) step.phase = StepOf({*prefills, {}}, {*decodes, {}}).phase;
  }
  return step;
}

/// After "prefill[" or "decode[".
std::optional<ServedStep> AtomStep(std::string_view text, ServedPhase phase) {
  const std::string fields = " " + std::string(text);
  const auto requests = FieldOf(fields, "bs");
  if (!requests || !text.ends_with(']')) return std::nullopt;
  if (phase == ServedPhase::kDecode && FieldOf(fields, "p").value_or(0) > 0) {
    phase = ServedPhase::kMixed;
  }
  return ServedStep{phase, requests, FieldOf(fields, "tok"), std::nullopt};
}

/// After "_forward_step" or "executeStep".
std::optional<ServedStep> TensorRtStep(LabelReader reader) {
  if (!reader.SkipPast(": ")) return std::nullopt;
  ServedPart prefill;
  auto number = reader.Number();
  if (!number || !reader.Skip(" ctx reqs, ")) return std::nullopt;
  prefill.requests = *number;
  number = reader.Number();
  if (number && reader.Skip(" ctx tokens, ")) {
    prefill.tokens = number;
    number = reader.Number();
  }
  if (!number || !reader.Skip(" gen reqs")) return std::nullopt;
  return StepOf(prefill, {*number, {}});
}

/// Whether a word alone, or with a number, is left: "", "_7", " #12".
bool IsNumbering(std::string_view rest) {
  return std::all_of(rest.begin(), rest.end(), [](char c) {
    return IsDigit(c) || std::string_view("_ #:-").find(c) != std::string_view::npos;
  });
}

}  // namespace

std::string_view ServedPhaseWord(ServedPhase phase) {
  constexpr std::string_view kWords[] = {"", "prefill", "decode", "mixed"};
  return kWords[static_cast<size_t>(phase)];
}

std::optional<ServedStep> ServedStepOf(std::string_view text) {
  LabelReader reader(text);
  if (reader.Skip("execute_")) return VllmStep(reader);
  if (reader.Skip("step[")) return SglangStep(reader.rest());
  reader.Skip("[Executor] ");
  if (reader.Skip("_forward_step") || reader.Skip("executeStep")) return TensorRtStep(reader);
  for (const ServedPhase phase : {ServedPhase::kPrefill, ServedPhase::kDecode}) {
    if (!reader.Skip(ServedPhaseWord(phase))) continue;
    if (reader.Skip("[")) return AtomStep(reader.rest(), phase);
    if (IsNumbering(reader.rest()))
      return ServedStep{phase, std::nullopt, std::nullopt, std::nullopt};
  }
  return std::nullopt;
}

std::optional<ServedLabels> ServedLabelsOf(std::string_view text) {
  struct Entry {
    std::string_view start;
    ServedLabels labels;
  };
  constexpr ServedLabels kAtom = {"prefill[...], decode[...]", "^(?:prefill|decode)\\["};
  constexpr Entry kEntries[] = {
      {"execute_", {"execute_*", "^execute_(?:\\d+_)?(?:context|new)_\\d"}},
      {"step[", {"step[...]", "^step\\["}},
      {"[Executor] _forward_step", {"[Executor] _forward_step *", "^\\[Executor\\] _forward_step"}},
      {"_forward_step", {"_forward_step *", "^_forward_step"}},
      {"executeStep", {"executeStep *", "^executeStep"}},
      {"prefill[", kAtom},
      {"decode[", kAtom}};
  for (const Entry& entry : kEntries) {
    if (text.starts_with(entry.start) && ServedStepOf(text)) return entry.labels;
  }
  return std::nullopt;
}

ServedStep Together(const ServedStep& a, const ServedStep& b) {
  return {a.phase == b.phase ? a.phase : ServedPhase::kMixed, std::nullopt,
          SumOf(a.tokens, b.tokens), SumOf(a.kv_tokens, b.kv_tokens)};
}

}  // namespace oplens::prof
