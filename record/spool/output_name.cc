#include "record/spool/output_name.h"

#include <stdint.h>
#include <string.h>  // NOLINT(modernize-deprecated-headers): as C has it, without a C++ runtime
#include <unistd.h>

namespace oplens::record {
namespace {

/// A part of the pattern: a sequence or a plain byte.
struct Part {
  char kind;    // 'p', 'h', 'q', '%', or 0 for a plain byte.
  size_t size;  // In the pattern.
  NameProblem problem;
};

Part VariablePart(const char* at) {
  if (at[2] != '{') return {0, 2, NameProblem::kUnclosed};
  const char* close = strchr(at, '}');
  if (close == nullptr) return {0, strlen(at), NameProblem::kUnclosed};
  const auto size = static_cast<size_t>(close - at) + 1;
  if (size == sizeof "%q{}" - 1) return {0, size, NameProblem::kUnclosed};
  return {'q', size, NameProblem::kNone};
}

Part NextPart(const char* at) {
  if (at[0] != '%') return {0, 1, NameProblem::kNone};
  switch (at[1]) {
    case 'p':
    case 'h':
    case '%':
      return {at[1], 2, NameProblem::kNone};
    case 'q':
      return VariablePart(at);
    case '\0':
      return {0, 1, NameProblem::kUnknownSequence};
    default:
      return {0, 2, NameProblem::kUnknownSequence};
  }
}

constexpr size_t kMostDigits = 16;

/// Writes the digits; returns their number.
size_t WriteNumber(int32_t number, char (&out)[kMostDigits]) {
  char reversed[kMostDigits];
  size_t size = 0;
  auto rest = static_cast<uint32_t>(number);
  do {
    reversed[size++] = static_cast<char>('0' + rest % 10);
    rest /= 10;
  } while (rest > 0);
  for (size_t i = 0; i < size; ++i) out[i] = reversed[size - 1 - i];
  return size;
}

/// The number of bytes of `name` that match the part at `at`; 0: no match.
size_t SizeOfMatch(const char* at, const Part& part, int32_t pid, const char* name) {
  char digits[kMostDigits];
  const char* text = at;
  size_t size = part.size;
  if (part.kind == '%') size = 1;
  if (part.kind == 'p') {
    size = WriteNumber(pid, digits);
    text = digits;
  }
  return strncmp(text, name, size) == 0 ? size : 0;
}

class NameWriter {
 public:
  NameWriter(int32_t pid, char* out, size_t size, NameFault* fault)
      : pid_(pid), out_(out), size_(size), fault_(fault) {}

  size_t Write(const char* pattern) {
    for (const char* at = pattern; *at != '\0';) {
      const Part part = NextPart(at);
      const auto begin = static_cast<size_t>(at - pattern);
      if (part.problem != NameProblem::kNone) Report(part.problem, begin, part.size);
      if (!WritePart(at, part)) Report(NameProblem::kUnsetVariable, begin, part.size);
      at += part.size;
    }
    // One byte is needed for the final zero.
    if (length_ >= size_) {
      Report(NameProblem::kTooLong, 0, strlen(pattern));
      length_ = 0;
    }
    if (size_ > 0) out_[length_] = '\0';
    return length_;
  }

 private:
  void Report(NameProblem problem, size_t begin, size_t size) {
    if (fault_->problem == NameProblem::kNone) *fault_ = {problem, begin, size};
  }

  /// False: a variable is not set.
  bool WritePart(const char* at, const Part& part) {
    switch (part.kind) {
      case 'p':
        AppendNumber(pid_);
        return true;
      case 'h':
        AppendHost();
        return true;
      case '%':
        Append("%", 1);
        return true;
      case 'q':
        return AppendVariable(at + 3, part.size - 4);
      default:
        Append(at, part.size);
        return true;
    }
  }

  void Append(const char* text, size_t size) {
    if (size_ > length_ && size <= size_ - length_) memcpy(out_ + length_, text, size);
    length_ = size > SIZE_MAX - length_ ? SIZE_MAX : length_ + size;
  }

  void AppendNumber(int32_t number) {
    char digits[kMostDigits];
    const size_t size = WriteNumber(number, digits);
    Append(digits, size);
  }

  void AppendHost() {
    char host[256];
    if (gethostname(host, sizeof host) != 0) return;
    host[sizeof host - 1] = '\0';
    Append(host, strlen(host));
  }

  bool AppendVariable(const char* name, size_t size) {
    // getenv would need a zero-terminated copy of the name.
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
      if (strncmp(*entry, name, size) != 0 || (*entry)[size] != '=') continue;
      Append(*entry + size + 1, strlen(*entry + size + 1));
      return true;
    }
    return false;
  }

  int32_t pid_;
  char* out_;
  size_t size_;
  NameFault* fault_;
  size_t length_ = 0;
};

}  // namespace

size_t ExpandOutputName(const char* pattern, int32_t pid, char* out, size_t size) noexcept {
  NameFault fault;
  return ExpandOutputName(pattern, pid, out, size, &fault);
}

size_t ExpandOutputName(const char* pattern, int32_t pid, char* out, size_t size,
                        NameFault* fault) noexcept {
  *fault = {};
  return NameWriter(pid, out, size, fault).Write(pattern);
}

bool MatchesOutputName(const char* pattern, int32_t pid, const char* name) noexcept {
  // Ends of the last part that matches any text, in the pattern and in the name.
  const char* after_any = nullptr;
  const char* end_of_any = nullptr;
  while (*pattern != '\0' || *name != '\0') {
    const Part part = NextPart(pattern);
    if (*pattern != '\0' && (part.kind == 'h' || part.kind == 'q')) {
      pattern += part.size;
      after_any = pattern;
      end_of_any = name;
      continue;
    }
    const size_t size = *pattern == '\0' ? 0 : SizeOfMatch(pattern, part, pid, name);
    if (size > 0) {
      pattern += part.size;
      name += size;
      continue;
    }
    if (after_any == nullptr || *end_of_any == '\0' || *end_of_any == '/') return false;
    pattern = after_any;
    name = ++end_of_any;
  }
  return true;
}

bool NamesProcess(const char* pattern) noexcept {
  for (const char* at = pattern; *at != '\0';) {
    const Part part = NextPart(at);
    if (part.kind == 'p') return true;
    at += part.size;
  }
  return false;
}

bool HasSequences(const char* pattern) noexcept {
  for (const char* at = pattern; *at != '\0';) {
    const Part part = NextPart(at);
    if (part.kind != 0) return true;
    at += part.size;
  }
  return false;
}

}  // namespace oplens::record
