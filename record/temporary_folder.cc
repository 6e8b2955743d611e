#include "record/temporary_folder.h"

#include <fmt/format.h>
#include <limits.h>
#include <sqlite3.h>

#include <deque>

namespace oplens::record {

/// SQLite's own functions, but for the names of files that have none.
struct TemporaryFolder::Vfs : sqlite3_vfs {
  explicit Vfs(const std::filesystem::path& folder_path)
      : sqlite3_vfs(*sqlite3_vfs_find(nullptr)),
        base(sqlite3_vfs_find(nullptr)),
        folder(folder_path.string()),
        name(fmt::format("oplens-{}", fmt::ptr(this))) {
    zName = name.c_str();
    mxPathname = PATH_MAX;  // SQLite's own limit is 512 bytes.
    xOpen = Open;
  }

  static int Open(sqlite3_vfs* self, sqlite3_filename file_name, sqlite3_file* file, int flags,
                  int* out_flags) {
    auto* const vfs = static_cast<Vfs*>(self);
    if (file_name == nullptr) {
      // It is removed as soon as it is open. The name must stay; a zero byte more ends its options.
      vfs->temporaries.push_back(
          fmt::format("{}/temporary.{}{}", vfs->folder, vfs->temporaries.size(), '\0'));
      file_name = vfs->temporaries.back().c_str();
    }
    return vfs->base->xOpen(vfs->base, file_name, file, flags, out_flags);
  }

  sqlite3_vfs* const base;
  const std::string folder;
  const std::string name;
  std::deque<std::string> temporaries;
};

TemporaryFolder::TemporaryFolder(const std::filesystem::path& folder) {
  sqlite3_initialize();
  vfs_ = std::make_unique<Vfs>(folder);
  sqlite3_vfs_register(vfs_.get(), 0);
}

TemporaryFolder::~TemporaryFolder() { sqlite3_vfs_unregister(vfs_.get()); }

const char* TemporaryFolder::vfs_name() const { return vfs_->zName; }

}  // namespace oplens::record
