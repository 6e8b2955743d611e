#ifndef OPLENS_RECORD_PROCESS_TABLE_H_
#define OPLENS_RECORD_PROCESS_TABLE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "record/spool/process_identity.h"

// What /proc says of other processes. Where it says nothing, there are none.

namespace oplens::record {

/// Whether the process has a file mapped whose path contains `path`. Tells it from one that was
/// given the same number later.
bool MapsFile(int32_t process_id, std::string_view path);

/// Whether the process lives, in whichever namespace of processes that /proc shows.
bool IsAlive(const ProcessIdentity& identity);

/// Whether the process runs as another user than this one.
bool IsOfOtherUser(int32_t process_id);

/// Whether the process has every descriptor in use that its limit allows.
bool HasNoDescriptorLeft(int32_t process_id);

/// The children of this process, theirs, and so on.
std::vector<int32_t> Descendants();

}  // namespace oplens::record

#endif  // OPLENS_RECORD_PROCESS_TABLE_H_
