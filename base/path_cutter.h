#ifndef OPLENS_BASE_PATH_CUTTER_H_
#define OPLENS_BASE_PATH_CUTTER_H_

#include <string>
#include <string_view>

namespace oplens {

/// Shortens absolute paths inside texts, so that a file that is passed on reveals less about the
/// machine: to the part below a package folder (site-packages, dist-packages), else below the
/// working folder, else below a home folder. Other paths stay.
class PathCutter {
 public:
  PathCutter() = default;
  /// `folder`: the working folder, as an absolute path.
  explicit PathCutter(std::string folder);

  /// False only if Cut leaves the text unchanged.
  bool MayCut(std::string_view text) const {
    return active_ && text.find_first_of("/\\") != std::string_view::npos;
  }
  std::string Cut(std::string_view text) const;

 private:
  /// The number of leading bytes of a path to remove.
  size_t PrefixOf(std::string_view path) const;

  bool active_ = false;
  std::string folder_;  // Ends with '/'.
};

}  // namespace oplens

#endif  // OPLENS_BASE_PATH_CUTTER_H_
