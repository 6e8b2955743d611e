#ifndef OPLENS_PROF_TABLE_DESCRIPTOR_VFS_H_
#define OPLENS_PROF_TABLE_DESCRIPTOR_VFS_H_

#include <sqlite3.h>

#include <memory>
#include <string>

namespace oplens::prof {

/// Lets SQLite write a new database into an open file, which need have no name, so that nothing of
/// it is left however the program ends. For one connection at a time, without a journal: what
/// SQLite writes besides the database goes where it always does.
class DescriptorVfs {
 public:
  /// `fd` is open for reading and writing, empty, and stays open as long as this object, which must
  /// outlive the connection.
  explicit DescriptorVfs(int fd);
  ~DescriptorVfs();
  DescriptorVfs(const DescriptorVfs&) = delete;
  DescriptorVfs& operator=(const DescriptorVfs&) = delete;

  /// What sqlite3_open_v2() takes to open it; any file name will do.
  const std::string& name() const { return name_; }

 private:
  struct System;
  static int Open(sqlite3_vfs* vfs, const char* path, sqlite3_file* file, int flags,
                  int* flags_out);

  std::string name_;
  std::unique_ptr<System> system_;
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_TABLE_DESCRIPTOR_VFS_H_
