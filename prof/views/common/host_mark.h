#ifndef OPLENS_PROF_VIEWS_COMMON_HOST_MARK_H_
#define OPLENS_PROF_VIEWS_COMMON_HOST_MARK_H_

#include <string>
#include <string_view>

namespace oplens::prof {

/// What views keep of the name of a machine: the name behind a byte that no other text of theirs
/// begins with. A summary gets a hash in its place (prof/summary_file/hashed_host.h); neither is
/// shown.
inline constexpr char kHostMark = '\x03';

inline std::string MarkedHost(std::string_view name) {
  std::string text(1, kHostMark);
  return text += name;
}

inline bool IsMarkedHost(std::string_view text) {
  return !text.empty() && text.front() == kHostMark;
}

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COMMON_HOST_MARK_H_
