#include "base/path_cutter.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"

namespace oplens {
namespace {

/// Whether `c` ends a path inside a longer text. Blanks do: they may be part of a path, but rarely
/// are.
bool EndsPath(char c) {
  return static_cast<unsigned char>(c) <= ' ' ||
         std::string_view(",;:\"'<>|()[]").find(c) != std::string_view::npos;
}

bool IsSlash(char c) { return c == '/' || c == '\\'; }

bool StartsPath(std::string_view text, size_t i) {
  if (i > 0 && !EndsPath(text[i - 1])) return false;
  if (text[i] == '/') return true;
  return IsLetter(text[i]) && i + 2 < text.size() && text[i + 1] == ':' && IsSlash(text[i + 2]);
}

/// The position after the last "/NAME/" of a path; 0 if there is none.
size_t BehindFolder(std::string_view path, std::string_view name) {
  for (size_t at = path.rfind(name); at != std::string_view::npos && at > 0;
       at = path.rfind(name, at - 1)) {
    const size_t end = at + name.size();
    if (IsSlash(path[at - 1]) && end < path.size() && IsSlash(path[end])) return end + 1;
  }
  return 0;
}

/// The position after a leading "/home/NAME/".
size_t BehindHome(std::string_view path) {
  if (path.size() > 2 && path[1] == ':') path.remove_prefix(2);
  if (path.starts_with("/root/")) return 6;
  for (const std::string_view homes : {"/home/", "/Users/", "\\Users\\"}) {
    if (!path.starts_with(homes)) continue;
    const size_t end = path.find_first_of("/\\", homes.size());
    if (end != std::string_view::npos) return end + 1;
  }
  return 0;
}

}  // namespace

PathCutter::PathCutter(std::string folder) : active_(true), folder_(std::move(folder)) {
  if (!folder_.ends_with('/')) folder_ += '/';
}

size_t PathCutter::PrefixOf(std::string_view path) const {
  const size_t package =
      std::max(BehindFolder(path, "site-packages"), BehindFolder(path, "dist-packages"));
  if (package > 0) return package;
  if (folder_.size() > 1 && path.starts_with(folder_)) return folder_.size();
  const size_t drive = path.size() > 2 && path[1] == ':' ? 2 : 0;
  const size_t home = BehindHome(path);
  return home == 0 ? 0 : home + drive;
}

std::string PathCutter::Cut(std::string_view text) const {
  if (!MayCut(text)) return std::string(text);
  std::string cut;
  size_t i = 0;
  while (i < text.size()) {
    if (!StartsPath(text, i)) {
      cut.push_back(text[i++]);
      continue;
    }
    size_t end = i + (text[i] == '/' ? 1 : 2);
    while (end < text.size() && !EndsPath(text[end])) ++end;
    const std::string_view path = text.substr(i, end - i);
    cut.append(path.substr(PrefixOf(path)));
    i = end;
  }
  return cut;
}

}  // namespace oplens
