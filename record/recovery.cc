#include "record/recovery.h"

#include <charconv>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/error.h"
#include "record/conversion_run.h"
#include "record/messages.h"
#include "record/preflight.h"
#include "record/spool_folder.h"

namespace oplens::record {
namespace {

namespace fs = std::filesystem;

/// The database; users may as well name the spool.
fs::path OutputNamed(std::string name) {
  while (name.size() > 1 && name.ends_with('/')) name.pop_back();
  constexpr std::string_view kSpool = ".spool";
  if (name.size() > kSpool.size() && name.ends_with(kSpool)) {
    name.resize(name.size() - kSpool.size());
  }
  return fs::absolute(name);
}

int32_t ProcessIdOf(const Session& session) {
  const auto place = session.find("process_id");
  int32_t process_id = 0;
  if (place == session.end()) return 0;
  const std::string& text = place->second;
  std::from_chars(text.data(), text.data() + text.size(), process_id);
  return process_id;
}

std::string ValueOf(const Session& session, const char* name) {
  const auto place = session.find(name);
  return place == session.end() ? "" : place->second;
}

}  // namespace

int RecoverRecording(const Options& options) {
  const fs::path output = OutputNamed(options.recover);
  SpoolFolder spool = SpoolFolder::Take(output);
  const Session session = spool.ReadSession();
  const int32_t process_id = ProcessIdOf(session);
  if (process_id <= 0) {
    throw Error(spool.path().string(), "its file `session` is missing or damaged",
                "the program was not started: remove the folder");
  }
  RecordingFacts facts;
  facts.directory = fs::current_path();
  // Nothing is known of the machine on which it was recorded.
  facts.wanted_cuda = false;
  facts.wanted_children = ValueOf(session, "options").find("children") != std::string::npos;
  facts.program_seen = spool.HasProcess(process_id);
  facts.library_failed = spool.HasFailedProcess();
  facts.library_error = spool.ErrorOfFailedProcess();
  if (NeedsEmptyDatabase(facts, spool)) {
    spool.AddUnseenProcess(process_id, ValueOf(session, "database"), ValueOf(session, "command"));
  }
  using Talk = ConversionRun::Talk;
  const bool force = options.force || ValueOf(session, "force") == "1";
  ConversionRun conversion({spool.path(), force, true, OPLENS_VERSION},
                           ShortName(output, facts.directory),
                           options.quiet ? Talk::kFaults : Talk::kAll);
  if (!conversion.Finish(facts, &spool)) return kExitCannotRead;
  return options.strict && !conversion.is_whole() ? kExitStrict : kExitOk;
}

}  // namespace oplens::record
