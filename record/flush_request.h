#ifndef OPLENS_RECORD_FLUSH_REQUEST_H_
#define OPLENS_RECORD_FLUSH_REQUEST_H_

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <vector>

namespace oplens::record {

/// Asks the library in those of `processes` whose GPU is recorded to bring all that CUPTI holds
/// into the spool, and waits until they have, for `most` at most.
void RequestFlush(const std::filesystem::path& spool, const std::vector<int32_t>& processes,
                  std::chrono::milliseconds most);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_FLUSH_REQUEST_H_
