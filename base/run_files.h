#ifndef OPLENS_BASE_RUN_FILES_H_
#define OPLENS_BASE_RUN_FILES_H_

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace oplens {

/// The files that a program reads and writes. A program registers all of them before it writes any,
/// so that it overwrites neither its input nor its own results.
///
/// Files are compared by identity: links, hard links and other spellings of a path count as the
/// same file. Devices, pipes and folders are ignored.
class RunFiles {
 public:
  /// `what` describes the file in messages. "-" and missing files are ignored.
  void Read(const std::string& path, std::string_view what = "the input");
  void Read(const std::vector<std::string>& paths, std::string_view what = "the input");
  /// `option`: the option that names the file. `path` "" or "-": standard output, which may be
  /// redirected to a file.
  void Write(const std::string& path, std::string_view option);

  /// Throws UsageError if an output file is also an input, or is written twice. O(n) in the files.
  void RefuseOverwriting() const;

 private:
  struct File {
    std::string identity;
    std::string name;  // Input: its description; output: its option and path.
  };

  std::unordered_map<std::string, File> read_;  // The first of each identity.
  std::vector<File> written_;
};

}  // namespace oplens

#endif  // OPLENS_BASE_RUN_FILES_H_
