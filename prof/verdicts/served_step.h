#ifndef OPLENS_PROF_VERDICTS_SERVED_STEP_H_
#define OPLENS_PROF_VERDICTS_SERVED_STEP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace oplens::prof {

/// What a step of a server of language models works on.
enum class ServedPhase : uint8_t {
  kUnknown,
  kPrefill,  ///< Prompts, or parts of them.
  kDecode,   ///< The next tokens of requests whose prompts are done.
  kMixed,    ///< Both.
};
constexpr size_t WordCountOf(ServedPhase) { return 4; }

/// "", "prefill", "decode", "mixed".
std::string_view ServedPhaseWord(ServedPhase phase);

struct ServedStep {
  ServedPhase phase = ServedPhase::kUnknown;
  std::optional<int64_t> requests;
  std::optional<int64_t> tokens;  ///< That the model takes in: of prompts, and to decode.
  /// Whose keys and values the requests attend to, those taken in included: a sum over requests.
  std::optional<int64_t> kv_tokens = std::nullopt;

  friend bool operator==(const ServedStep&, const ServedStep&) = default;
};

/// What the label of a server's step says; nullopt if it is no such label:
///
///     vLLM          execute_context_2(14721)_generation_3(3)
///                   execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk9sqsq32sqsk9)
///                   execute_new_2_cached_30: cached requests are taken to decode
///     SGLang        step[EXTEND bs=15 toks=15360], step[DECODE bs=32], step[MIXED bs=5 c=2 g=3]
///     TensorRT-LLM  [Executor] _forward_step 7: 1 ctx reqs, 900 ctx tokens, 8 gen reqs
///     ATOM          prefill[bs=2 tok=14721 ...], decode[bs=117/128 tok=117 d=117]
///     any           prefill, decode_7
///
/// Any other text that begins so is none. O(length).
std::optional<ServedStep> ServedStepOf(std::string_view text);

/// The labels that the server of such a text writes: a name of them, and what takes them with
/// --step.
struct ServedLabels {
  std::string_view name;
  std::string_view pattern;
};

/// nullopt if the text is no such label, or a word that anyone may write.
std::optional<ServedLabels> ServedLabelsOf(std::string_view text);

/// Two steps of one, one after the other.
ServedStep Together(const ServedStep& a, const ServedStep& b);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VERDICTS_SERVED_STEP_H_
