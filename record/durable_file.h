#ifndef OPLENS_RECORD_DURABLE_FILE_H_
#define OPLENS_RECORD_DURABLE_FILE_H_

#include <filesystem>
#include <string_view>

// Files that a crash of the machine must not take back. All functions throw Error.

namespace oplens::record {

/// Waits until a file's contents, or a folder's names, are on the disk.
void SyncPath(const std::filesystem::path& path);

/// Writes a file for its owner only, whole or not at all, and waits until it is on the disk.
void WriteDurably(const std::filesystem::path& file, std::string_view bytes);

enum class Replace {
  kNothing,  ///< What has the name already, a link too, stays: Error.
  kFile,     ///< A file or a link of that name goes, not what the link names.
};

/// Throws where PutInPlace would, as far as that can be seen before.
void CheckPlace(const std::filesystem::path& name, Replace replace);

/// Gives a complete file its name, in the same file system, and waits until that is on the disk.
void PutInPlace(const std::filesystem::path& complete, const std::filesystem::path& name,
                Replace replace);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_DURABLE_FILE_H_
