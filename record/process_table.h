#ifndef OPLENS_RECORD_PROCESS_TABLE_H_
#define OPLENS_RECORD_PROCESS_TABLE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "record/spool/process_identity.h"

// Facts about other processes from /proc; without /proc there are none.

namespace oplens::record {

/// Whether the process maps a file whose path contains `path`. Tells it apart from a later process
/// with the same id.
bool MapsFile(int32_t process_id, std::string_view path);

/// Whether the process lives, in any PID namespace visible in /proc.
bool IsAlive(const ProcessIdentity& identity);

/// Whether the process runs as a different user.
bool IsOfOtherUser(int32_t process_id);

/// Whether the process has reached its limit of descriptors.
bool HasNoDescriptorLeft(int32_t process_id);

/// All descendants of this process.
std::vector<int32_t> Descendants();

}  // namespace oplens::record

#endif  // OPLENS_RECORD_PROCESS_TABLE_H_
