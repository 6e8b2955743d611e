#ifndef OPLENS_PROF_SUMMARY_FILE_HASHED_HOST_H_
#define OPLENS_PROF_SUMMARY_FILE_HASHED_HOST_H_

#include <string>
#include <string_view>

namespace oplens::prof {

/// Replaces a MarkedHost text in a summary: equal for the same host of a run, without revealing its
/// name. The first 64 bits of HMAC-SHA256 (RFC 2104) with the salt as key, in hex, after the mark.
std::string HashedHost(std::string_view salt, std::string_view host);

/// The default salt of a run: the full path of its traces' folder; for a trace in a folder of its
/// rank ("run/rank3/trace.json") the parent folder. All processes that summarise a run, now or
/// later, can derive it, and no summary contains it.
std::string SaltOf(const std::string& input);
/// `given`, or SaltOf if it is empty.
std::string SaltOr(const std::string& given, const std::string& input);

}  // namespace oplens::prof

#endif  // OPLENS_PROF_SUMMARY_FILE_HASHED_HOST_H_
