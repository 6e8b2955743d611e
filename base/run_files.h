#ifndef OPLENS_BASE_RUN_FILES_H_
#define OPLENS_BASE_RUN_FILES_H_

#include <string>
#include <string_view>
#include <vector>

namespace oplens {

/// The files that a program was told to read and to write. Every program names all of them here
/// before it writes any, so that it overwrites nothing that it reads, and no result of its own.
///
/// Two names are of one file whatever they look like: links, hard links and other spellings of a
/// path count. Devices, pipes and folders are no files here.
class RunFiles {
 public:
  /// `what` the file is, for messages. "-" and files that are not there are no harm.
  void Read(const std::string& path, std::string_view what = "the input");
  void Read(const std::vector<std::string>& paths, std::string_view what = "the input");
  /// `option`: that names the file. Of the path "" or "-" it is standard output, which may lead to
  /// a file too.
  void Write(const std::string& path, std::string_view option);

  /// Throws UsageError where something that is written is a file that is read, or is written twice.
  void RefuseOverwriting() const;

 private:
  struct File {
    std::string identity;
    std::string path;
    std::string name;  // Of what is read: what it is; of what is written: its option.
  };

  std::vector<File> read_;
  std::vector<File> written_;
};

}  // namespace oplens

#endif  // OPLENS_BASE_RUN_FILES_H_
