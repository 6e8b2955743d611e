#ifndef OPLENS_BASE_PATH_CUTTER_H_
#define OPLENS_BASE_PATH_CUTTER_H_

#include <string>
#include <string_view>

namespace oplens {

/// Cuts absolute paths inside texts, so that a file that is passed on tells less of the machine:
/// to what is below a folder of packages (site-packages, dist-packages), else below the working
/// folder, else below somebody's home. Others stay.
class PathCutter {
 public:
  /// Cuts nothing.
  PathCutter() = default;
  /// `folder`: the working folder, absolute.
  explicit PathCutter(std::string folder);

  /// Whether Cut may change it.
  bool MayCut(std::string_view text) const {
    return active_ && text.find_first_of("/\\") != std::string_view::npos;
  }
  std::string Cut(std::string_view text) const;

 private:
  /// How many bytes of a path to leave out.
  size_t PrefixOf(std::string_view path) const;

  bool active_ = false;
  std::string folder_;  // With a '/' at its end.
};

}  // namespace oplens

#endif  // OPLENS_BASE_PATH_CUTTER_H_
