#ifndef OPLENS_RECORD_SESSION_H_
#define OPLENS_RECORD_SESSION_H_

#include <filesystem>
#include <map>
#include <string>

namespace oplens::record {

/// What `record` writes down of a recording before the program starts: names and values.
using Session = std::map<std::string, std::string>;

/// The value of a name, "" where there is none.
std::string ValueOf(const Session& session, const std::string& name);

/// Writes the file `session` of a spool so that it outlives a crash of the machine. Throws Error.
void WriteSession(const std::filesystem::path& spool, const Session& session);

/// Empty where the file is missing or not whole.
Session ReadSession(const std::filesystem::path& spool);

}  // namespace oplens::record

#endif  // OPLENS_RECORD_SESSION_H_
