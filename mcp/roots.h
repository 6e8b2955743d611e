#ifndef OPLENS_MCP_ROOTS_H_
#define OPLENS_MCP_ROOTS_H_

#include <cstdint>
#include <string>
#include <vector>

namespace oplens::mcp {

/// An input that may be read.
struct Place {
  std::string named;     ///< As the client named it.
  std::string resolved;  ///< Without symbolic links, absolute.
  bool is_folder = false;
  /// Its files, or itself: resolved, sorted.
  std::vector<std::string> files;
  int64_t bytes = 0;  ///< Of all files.
};

/// The folders below which files may be read.
class Roots {
 public:
  /// Throws Error for a folder that is not there. `most_bytes`: of one input.
  Roots(const std::vector<std::string>& folders, int64_t most_bytes);

  /// A file or folder below one of the roots, with symbolic links resolved. Relative names are
  /// tried below each root in turn. Throws Error for what is not there, lies elsewhere (which tells
  /// no more), is too large, or is no file, such as a pipe.
  Place Find(const std::string& path) const;

  const std::vector<std::string>& folders() const { return folders_; }

 private:
  bool Holds(const std::string& resolved) const;
  void AddFiles(Place* place) const;

  std::vector<std::string> folders_;  // Resolved.
  int64_t most_bytes_;
};

}  // namespace oplens::mcp

#endif  // OPLENS_MCP_ROOTS_H_
