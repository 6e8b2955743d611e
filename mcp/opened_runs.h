#ifndef OPLENS_MCP_OPENED_RUNS_H_
#define OPLENS_MCP_OPENED_RUNS_H_

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status_line.h"
#include "engine/run.h"
#include "mcp/kernel_keys.h"
#include "mcp/roots.h"
#include "oplens/screen.h"
#include "parse/model/messages.h"

namespace oplens::mcp {

/// A run that was asked about, with what every answer needs of it.
class OpenedRun {
 public:
  /// Throws as engine::Run.
  explicit OpenedRun(Place place);

  engine::Run& run() { return run_; }
  const Place& place() const { return place_; }
  /// "sha256:" with 16 digits of the content's hash.
  const std::string& hash() const { return hash_; }
  /// Call once, before others see the run.
  void SetHash(std::string hash) { hash_ = std::move(hash); }

  /// What the screen shows, made at the first call. Throws as engine::Run::Price.
  /// `loaded` is called when the file is read, before the facts are made.
  const screen::Screen& Facts(WorkMeter* meter, const std::function<void()>& loaded = nullptr);
  /// What was said of the file while the facts were made.
  const std::vector<std::string>& said() const { return said_; }
  /// The keys of all kernels, likewise.
  const KernelKeys& Keys(WorkMeter* meter);
  /// A file of the tables of prof --sqlite --raw, which is removed with the run.
  const std::string& Database(WorkMeter* meter);
  ~OpenedRun();

 private:
  const Place place_;
  std::string hash_;
  engine::Run run_;
  std::timed_mutex mutex_;  // Guards what follows.
  std::optional<screen::Screen> facts_;
  std::vector<std::string> said_;
  std::optional<KernelKeys> keys_;
  std::string folder_;  // Of the database; "": there is none yet.
  std::string database_;
};

/// Runs by their content, the last ones that were asked about.
class OpenedRuns {
 public:
  /// `most_bytes`: of memory that this process may hold before it forgets runs.
  OpenedRuns(Roots roots, int64_t most_bytes) : roots_(std::move(roots)), most_bytes_(most_bytes) {}

  /// The run of a path of a client. Throws as Roots::Find and engine::Run, and Interrupted.
  std::shared_ptr<OpenedRun> Open(const std::string& path, WorkMeter* meter);
  /// Forgets those that were not asked for longest, while too much memory is held.
  void ForgetSome();

  const Roots& roots() const { return roots_; }

 private:
  struct Known {
    std::string stamp;  // Path, sizes and times of the files.
    std::string hash;
  };

  /// The hash of the content, if no file was written since it was made; "": not known.
  std::string KnownHash(const std::string& stamp);
  /// The run of this content and place, if there is one, now the first; else null.
  std::shared_ptr<OpenedRun> Find(const std::string& hash, const Place& place);

  const Roots roots_;
  const int64_t most_bytes_;
  std::mutex mutex_;
  std::list<std::shared_ptr<OpenedRun>> runs_;  // The last one that was asked comes first.
  std::list<Known> known_;
};

}  // namespace oplens::mcp

#endif  // OPLENS_MCP_OPENED_RUNS_H_
