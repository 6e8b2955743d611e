#ifndef OPLENS_RECORD_DURABLE_FILE_H_
#define OPLENS_RECORD_DURABLE_FILE_H_

#include <filesystem>
#include <string_view>

// Files that survive a crash of the machine. All functions throw Error.

namespace oplens::record {

/// Waits until a file's contents or a folder's entries are on disk.
void SyncPath(const std::filesystem::path& path);

/// Writes a file, readable by its owner only, atomically, and waits until it is on disk.
void WriteDurably(const std::filesystem::path& file, std::string_view bytes);

enum class Replace {
  kNothing,  ///< Throw Error if the name exists, even as a link.
  kFile,     ///< Replaces a file or link of that name, but not the link's target.
};

/// Throws if PutInPlace would, as far as can be known in advance.
void CheckPlace(const std::filesystem::path& name, Replace replace);

/// Renames a complete file, within its file system, and waits until the new name is on disk.
void PutInPlace(const std::filesystem::path& complete, const std::filesystem::path& name,
                Replace replace);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_DURABLE_FILE_H_
