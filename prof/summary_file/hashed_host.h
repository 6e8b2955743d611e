#ifndef OPLENS_PROF_SUMMARY_FILE_HASHED_HOST_H_
#define OPLENS_PROF_SUMMARY_FILE_HASHED_HOST_H_

#include <string>
#include <string_view>

namespace oplens::prof {

/// What stands in a summary in the place of a text of MarkedHost: the same for the same host of a
/// run, and nothing that tells the name. The first 64 bits of HMAC-SHA256 (RFC 2104) with the salt
/// as key, in hex, behind the mark.
std::string HashedHost(std::string_view salt, std::string_view host);

/// The salt of a run where none is given: the folder of its traces, whole; of a trace in a folder
/// of its own rank ("run/rank3/trace.json") the one above. All processes that summarise a run, and
/// those that do so again, know it, and no summary holds it.
std::string SaltOf(const std::string& input);
/// `given`, or SaltOf where it is empty.
std::string SaltOr(const std::string& given, const std::string& input);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_SUMMARY_FILE_HASHED_HOST_H_
