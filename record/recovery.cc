#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <system_error>
#include <vector>

#include "base/error.h"
#include "base/program.h"
#include "record/conversion_run.h"
#include "record/image_conversion.h"
#include "record/messages.h"
#include "record/preflight.h"
#include "record/recording.h"
#include "record/spool/output_name.h"
#include "record/spool_folder.h"

namespace oplens::record {
namespace {

/// The interrupted recording that `record --recover NAME` names, and its databases. Paths stored in
/// the spool never decide where something is written.
class RecoveryTarget {
 public:
  /// NAME is a database, its spool, or a name with %-sequences as given to -o. Throws Error if no
  /// recording, or several, match.
  explicit RecoveryTarget(const std::string& name);

  const std::filesystem::path& spool() const { return spool_; }
  /// For another --recover.
  const std::string& name() const { return name_; }
  /// Whether NAME has %-sequences and so may name several databases.
  bool is_pattern() const { return !base_.empty(); }

  /// The database of a process, from what is known of its page, in NAME's folder. For a pattern: ""
  /// if the process's own name does not match it.
  std::string OutputOf(const PageFacts& facts) const;

 private:
  bool TakeLiteral(const std::filesystem::path& path);
  void TakePattern(const std::string& pattern);
  /// Finds the recording with a process whose database has this name.
  void FindByProcess(const std::filesystem::path& output);

  std::string name_;
  std::filesystem::path spool_;
  std::filesystem::path output_;  // For a name without sequences.
  std::filesystem::path folder_;  // For a pattern: its folder.
  std::string base_;              // For a pattern: its last component.
};

namespace fs = std::filesystem;

std::string Expand(const std::string& pattern, int32_t process_id) {
  std::array<char, 4096> name{};
  ExpandOutputName(pattern.c_str(), process_id, name.data(), name.size());
  return name.data();
}

/// A folder owned by this user; others are not looked into.
bool IsOwnFolder(const fs::path& path) {
  struct stat facts {};
  return ::lstat(path.c_str(), &facts) == 0 && S_ISDIR(facts.st_mode) &&
         facts.st_uid == ::geteuid();
}

/// The only spool in a folder for which `is_it` holds; empty if there is none.
fs::path OnlySpool(const fs::path& folder, const std::string& name,
                   const std::function<bool(const fs::path&)>& is_it) {
  std::vector<fs::path> spools;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    const fs::path& path = at->path();
    if (SpoolFolder::OutputOf(path) != path && IsOwnFolder(path) && is_it(path)) {
      spools.push_back(path);
    }
  }
  if (spools.size() > 1) {
    throw Error(name,
                fmt::format("{} recordings have that name, {} for one", spools.size(),
                            std::min_element(spools.begin(), spools.end())->string()),
                "give --recover one of the folders NAME.spool");
  }
  return spools.empty() ? fs::path() : spools.front();
}

[[noreturn]] void ThrowNone(const fs::path& output, const fs::path& spool) {
  std::error_code error;
  throw Error(output.string(), fmt::format("there is no {}", spool.string()),
              fs::exists(output, error) ? "the recording is complete: nothing is to be recovered"
                                        : "check the name: it is that of record -o");
}

RecoveryTarget::RecoveryTarget(const std::string& name) : name_(name) {
  while (name_.size() > 1 && name_.ends_with('/')) name_.pop_back();
  if (TakeLiteral(fs::absolute(name_))) return;
  if (HasSequences(name_.c_str())) {
    TakePattern(AbsolutePattern(name_));
  } else {
    FindByProcess(fs::absolute(name_));
  }
}

bool RecoveryTarget::TakeLiteral(const fs::path& path) {
  output_ = SpoolFolder::OutputOf(path);
  spool_ = SpoolFolder::PathFor(output_);
  std::error_code error;
  return fs::exists(fs::symlink_status(spool_, error));
}

void RecoveryTarget::TakePattern(const std::string& pattern) {
  const size_t slash = pattern.rfind('/');
  const std::string folder = pattern.substr(0, slash + 1);
  if (NamesProcess(folder.c_str())) {
    throw Error(name_, "has %p in the name of a folder", "give --recover the folder NAME.spool");
  }
  folder_ = Expand(folder, 0);
  base_ = pattern.substr(slash + 1);
  // The spool is named after the program's own database.
  spool_ = OnlySpool(folder_, name_, [this](const fs::path& spool) {
    const std::string own = SpoolFolder::OutputOf(spool).filename().string();
    const auto fits = [&](int32_t process_id) {
      return MatchesOutputName(base_.c_str(), process_id, own.c_str());
    };
    if (fits(ProgramOf(ReadSession(spool)).process_id)) return true;
    const std::vector<ImageFolder> images = ListImages(spool);
    return std::any_of(images.begin(), images.end(), [&](const ImageFolder& image) {
      return fits(static_cast<int32_t>(image.process_id));
    });
  });
  if (spool_.empty()) ThrowNone(name_, SpoolFolder::PathFor(folder_ / base_));
}

void RecoveryTarget::FindByProcess(const fs::path& output) {
  const fs::path found = OnlySpool(output.parent_path(), name_, [&](const fs::path& spool) {
    const std::vector<ImageFolder> images = ListImages(spool);
    return std::any_of(images.begin(), images.end(), [&](const ImageFolder& image) {
      return fs::path(ReadPage(image.path).output).filename() == output.filename();
    });
  });
  if (found.empty()) ThrowNone(output, spool_);
  spool_ = found;
}

std::string RecoveryTarget::OutputOf(const PageFacts& facts) const {
  if (!is_pattern()) return output_.string();
  const int32_t process_id = facts.identity.process_id;
  std::string own = fs::path(facts.output).filename().string();
  if (own.empty()) own = Expand(base_, process_id);  // Its page is damaged.
  const bool fits = MatchesOutputName(base_.c_str(), process_id, own.c_str());
  return fits ? (folder_ / own).string() : "";
}

/// The number of processes with something to write.
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

/// Throws if a name without sequences would name several databases.
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

/// Facts about a recording that do not need its machine. If the session file is lost, the
/// processes' own folders provide names, commands and times.
RecordingFacts FactsOf(const SpoolFolder& spool, const Session& session, const Options& options) {
  RecordingFacts facts;
  facts.directory = fs::current_path();
  facts.requested_cuda = false;
  facts.requested_children = ValueOf(session, "options").find("children") != std::string::npos;
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
