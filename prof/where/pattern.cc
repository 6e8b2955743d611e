#include "prof/where/pattern.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/error.h"
#include "base/shown_text.h"

namespace oplens::prof {

Pattern::Pattern(std::string_view pattern, std::string_view option) {
  if (pattern.size() > kMaxLength) {
    throw UsageError(fmt::format("{}: the pattern is longer than {} bytes", option, kMaxLength));
  }
  RE2::Options options;
  options.set_log_errors(false);
  compiled_ = std::make_unique<RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (!compiled_->ok()) {
    throw UsageError(fmt::format("{}: '{}' is no pattern: {}", option, ShownText(pattern),
                                 ShownText(compiled_->error())));
  }
}

Pattern::~Pattern() = default;

bool Pattern::Matches(std::string_view text) const {
  return RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *compiled_);
}

std::optional<std::string_view> Pattern::Find(std::string_view text) const {
  re2::StringPiece parts[2];
  const int wanted = compiled_->NumberOfCapturingGroups() > 0 ? 2 : 1;
  const re2::StringPiece whole(text.data(), text.size());
  if (!compiled_->Match(whole, 0, text.size(), RE2::UNANCHORED, parts, wanted)) {
    return std::nullopt;
  }
  const re2::StringPiece& found =
      parts[wanted - 1].data() != nullptr ? parts[wanted - 1] : parts[0];
  return std::string_view(found.data(), found.size());
}

}  // namespace oplens::prof
