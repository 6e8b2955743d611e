#include "record/recovery.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>

#include "base/error.h"
#include "base/program.h"
#include "record/conversion_run.h"
#include "record/image_conversion.h"
#include "record/messages.h"
#include "record/recovery_target.h"
#include "record/spool_folder.h"

namespace oplens::record {
namespace {

namespace fs = std::filesystem;

/// How many processes have something to be written.
size_t CountProcesses(const fs::path& spool) {
  std::set<ProcessIdentity> known;
  std::set<int32_t> unknown;
  for (const ImageFolder& image : ListImages(spool)) {
    const PageFacts facts = ReadPage(image.path);
    if (facts.known && facts.state != spool::ProcessState::kSkipped) known.insert(facts.identity);
    if (!facts.known && !ListStreams(image.path).empty()) {
      unknown.insert(static_cast<int32_t>(image.process_id));
    }
  }
  for (const ProcessIdentity& process : known) unknown.erase(process.process_id);
  return known.size() + unknown.size();
}

void RefuseOtherFormat(const fs::path& spool, const Session& session) {
  const std::string version = ValueOf(session, "version");
  if (session.empty() || version == std::to_string(spool::kVersion)) return;
  throw Error(spool.string(),
              fmt::format("has version {} of the spool's format, not {}", version, spool::kVersion),
              fmt::format("recover it with oplens {}", ValueOf(session, "oplens")));
}

/// One name is that of one database.
void RefuseSeveral(const RecoveryTarget& target, const Session& session) {
  const size_t processes = CountProcesses(target.spool());
  if (processes == 0) {
    throw Error(target.spool().string(), "holds nothing that was recorded", "record again");
  }
  if (processes == 1 || target.is_pattern()) return;
  const fs::path given = ValueOf(session, "output");
  const fs::path pattern =
      target.spool().parent_path() / (given.empty() ? fs::path("NAME.%p.sql") : given.filename());
  throw Error(target.spool().string(),
              fmt::format("holds {} processes, each with a database of its own", processes),
              fmt::format("give the name as -o had it, with %p for the process id, as in `record "
                          "--recover {}`",
                          pattern.string()));
}

/// What is known of a recording without its machine. Where the session is lost, the processes tell
/// what they can: their names, commands and times stand in their own folders.
RecordingFacts FactsOf(const SpoolFolder& spool, const Session& session, const Options& options) {
  RecordingFacts facts;
  facts.directory = fs::current_path();
  facts.wanted_cuda = false;
  facts.wanted_children = ValueOf(session, "options").find("children") != std::string::npos;
  facts.library_failed = spool.HasFailedProcess();
  facts.library_error = spool.ErrorOfFailedProcess();
  if (!session.empty()) {
    facts.program_seen = spool.HasProcess(ProgramOf(session));
  } else if (!options.quiet) {
    PrintError(
        fmt::format("record: {}: its file `session` is missing or damaged: made from what "
                    "the processes wrote\n",
                    ShortName(spool.path(), facts.directory)));
  }
  return facts;
}

}  // namespace

int RecoverRecording(const Options& options) {
  const RecoveryTarget target(options.recover);
  SpoolFolder spool = SpoolFolder::Take(target.spool());
  const Session session = ReadSession(spool.path());
  RefuseOtherFormat(spool.path(), session);
  const RecordingFacts facts = FactsOf(spool, session, options);
  if (NeedsEmptyDatabase(facts, spool)) {
    spool.AddUnseenProcess(ProgramOf(session), ValueOf(session, "database"),
                           ValueOf(session, "command"));
  }
  RefuseSeveral(target, session);
  ConversionOptions conversion_options;
  conversion_options.spool = spool.path();
  conversion_options.force = options.force;
  conversion_options.recovered = true;
  conversion_options.version = OPLENS_VERSION;
  conversion_options.name_of = [&](const PageFacts& page) {
    const std::string output = target.OutputOf(page);
    if (output.empty()) {
      PrintError(
          fmt::format("record: process {}: the name of its database, {}, is none of {}: it "
                      "was not written\n",
                      page.identity.process_id, page.output, target.name()));
    }
    return output;
  };
  using Talk = ConversionRun::Talk;
  ConversionRun conversion(std::move(conversion_options),
                           ShortName(fs::absolute(target.name()), facts.directory),
                           options.quiet ? Talk::kFaults : Talk::kAll);
  if (!conversion.Finish(facts, &spool)) return kExitCannotRead;
  return options.strict && !conversion.is_whole() ? kExitStrict : kExitOk;
}

}  // namespace oplens::record
