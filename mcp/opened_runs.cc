#include "mcp/opened_runs.h"

#include <fmt/format.h>
#include <malloc.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <future>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "engine/query_options.h"
#include "oplens/make_screen.h"
#include "prof/input/record_source.h"
#include "prof/options.h"
#include "prof/price_all.h"
#include "prof/table/formats.h"
#include "prof/table/sqlite_file.h"
#include "prof/views/kernels/raw_tables.h"
#include "prof/views/views.h"

namespace oplens::mcp {
namespace {

namespace fs = std::filesystem;

/// SHA-256, piece by piece.
class ContentHash {
 public:
  ContentHash() { sha256_init(&context_); }

  void Add(std::string_view bytes) {
    sha256_update(&context_, bytes.size(), reinterpret_cast<const uint8_t*>(bytes.data()));
  }
  /// Throws Error if the file cannot be read.
  void AddFile(const std::string& path, WorkMeter* meter) {
    std::FILE* const file = std::fopen(path.c_str(), "rb");
    if (file == nullptr) throw Error(path, "cannot be opened", "check its permissions");
    std::array<char, size_t{256} << 10> bytes;
    size_t count = 0;
    try {
      while ((count = std::fread(bytes.data(), 1, bytes.size(), file)) > 0) {
        meter->Check();
        Add({bytes.data(), count});
      }
    } catch (...) {
      std::fclose(file);
      throw;
    }
    std::fclose(file);
  }
  std::string Take() {
    std::array<uint8_t, SHA256_DIGEST_SIZE> sum{};
    sha256_digest(&context_, sum.size(), sum.data());
    std::string text = "sha256:";
    constexpr size_t kShown = 8;
    for (size_t i = 0; i < kShown; ++i) text += fmt::format("{:02x}", sum[i]);
    return text;
  }

 private:
  sha256_ctx context_;
};

/// Of the content of all files.
std::string HashOf(const Place& place, WorkMeter* meter) {
  ContentHash hash;
  for (const std::string& file : place.files) {
    if (place.is_folder) {
      hash.Add(fs::path(file).lexically_relative(place.resolved).string() + "\n");
    }
    hash.AddFile(file, meter);
  }
  return hash.Take();
}

/// Changes when a file is written, or replaced.
std::string StampOf(const Place& place) {
  std::string stamp = place.resolved;
  for (const std::string& file : place.files) {
    struct stat facts {};
    if (::stat(file.c_str(), &facts) != 0) continue;
    stamp += fmt::format("\n{} {} {} {}.{} {}", file, facts.st_ino, facts.st_size,
                         facts.st_mtim.tv_sec, facts.st_mtim.tv_nsec, facts.st_ctim.tv_nsec);
  }
  return stamp;
}

/// One table goes to a sink; others are not asked for.
class OneTable : public prof::Destination {
 public:
  explicit OneTable(prof::Sink* sink) : sink_(*sink) {}
  std::unique_ptr<prof::Sink> NewTable() override { return std::make_unique<Forward>(&sink_); }
  void Commit() override {}

 private:
  class Forward : public prof::Sink {
   public:
    explicit Forward(prof::Sink* sink) : sink_(*sink) {}
    void Begin(std::string_view table, std::vector<prof::Field> fields) override {
      sink_.Begin(table, std::move(fields));
    }
    void Row(std::span<const prof::Cell> cells) override { sink_.Row(cells); }

   private:
    prof::Sink& sink_;
  };
  prof::Sink& sink_;
};

/// Memory that this process holds; 0 if the system does not tell.
int64_t HeldBytes() {
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  long long pages = 0;
  long long resident = 0;
  const bool read = std::fscanf(file, "%lld %lld", &pages, &resident) == 2;
  std::fclose(file);
  return read ? static_cast<int64_t>(resident) * ::sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace

OpenedRun::OpenedRun(Place place) : place_(std::move(place)), run_({place_.resolved}) {}

OpenedRun::~OpenedRun() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

const screen::Screen& OpenedRun::Facts(WorkMeter* meter, const std::function<void()>& loaded) {
  const auto lock = meter->Lock(&mutex_);
  if (facts_) return *facts_;
  const prof::Options options = engine::OptionsOf({place_.resolved}, {}, {});
  screen::Screen facts;
  Messages messages("oplens");
  const auto read = [&](prof::RecordSource* records, const std::vector<std::string>& files) {
    if (loaded != nullptr) loaded();
    screen::ScreenPlan plan;
    plan.inputs = {place_.named};
    plan.several = files.size() > 1;
    plan.one_file = std::ranges::count(files, files.front()) == std::ssize(files);
    plan.pricing = options.Pricing();
    plan.run = options.RunOf({});
    facts = screen::MakeScreen(records, plan, messages.losses());
  };
  // What most views need too, so that a second question does not read the file again.
  run_.Read(screen::NeedsOfScreen() | prof::kAdviceView.needs, {}, read, &messages, meter);
  said_ = messages.Sentences();
  facts_ = std::move(facts);
  return *facts_;
}

const KernelKeys& OpenedRun::Keys(WorkMeter* meter) {
  const auto lock = meter->Lock(&mutex_);
  if (keys_) return *keys_;
  KernelKeys keys;
  KernelKeys::Collector collector(&keys);
  OneTable table(&collector);
  Messages messages("oplens");
  run_.Ask({.columns = KernelKeys::Collector::kColumns}, &table, &messages, meter);
  keys_ = std::move(keys);
  return *keys_;
}

const std::string& OpenedRun::Database(WorkMeter* meter) {
  const auto lock = meter->Lock(&mutex_);
  if (!database_.empty()) return database_;
  if (folder_.empty()) {
    std::string folder = (fs::temp_directory_path() / "oplens_mcp_XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) {
      throw Error(folder, "cannot be made", "check TMPDIR");
    }
    folder_ = folder;
  }
  const std::string path = folder_ + "/run.sqlite";
  const prof::Options options = engine::OptionsOf({place_.resolved}, {}, {.columns = "all"});
  prof::SqliteFile file(path, {{"program", "oplens"}, {"inputs", place_.named}});
  prof::RawTables tables(options.kernel_columns(), &file);
  Messages messages("oplens");
  const auto read = [&](prof::RecordSource* records, const std::vector<std::string>&) {
    prof::PriceAll(records, options.Pricing(), &tables, messages.losses());
  };
  run_.Read(prof::NeedsOf(options.views) | prof::NeedsOfRawTables(), {}, read, &messages, meter);
  tables.Finish();
  file.Commit();
  database_ = path;
  return database_;
}

std::string OpenedRuns::KnownHash(const std::string& stamp) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = std::ranges::find(known_, stamp, &Known::stamp);
  return known == known_.end() ? std::string() : known->hash;
}

std::shared_ptr<OpenedRun> OpenedRuns::Find(const std::string& hash, const Place& place) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto known = std::ranges::find_if(runs_, [&](const auto& run) {
    return run->hash() == hash && run->place().resolved == place.resolved;
  });
  if (known == runs_.end()) return nullptr;
  runs_.splice(runs_.begin(), runs_, known);
  return runs_.front();
}

std::shared_ptr<OpenedRun> OpenedRuns::Open(const std::string& path, WorkMeter* meter) {
  const Place place = roots_.Find(path);
  std::string stamp = StampOf(place);
  std::string hash = KnownHash(stamp);
  if (!hash.empty()) {
    if (std::shared_ptr<OpenedRun> known = Find(hash, place)) return known;
  }
  auto run = std::make_shared<OpenedRun>(place);
  if (hash.empty()) {
    // Beside what one thread does after the reading, where another can be started.
    std::future<std::string> made;
    const auto make = [&] {
      made = std::async(std::launch::async | std::launch::deferred,
                        [&] { return HashOf(place, meter); });
    };
    run->Facts(meter, make);
    hash = made.get();
  }
  run->SetHash(hash);
  std::shared_ptr<OpenedRun> other = Find(hash, place);
  const std::lock_guard<std::mutex> lock(mutex_);
  constexpr size_t kMostKnown = 100;
  known_.push_front({std::move(stamp), std::move(hash)});
  if (known_.size() > kMostKnown) known_.pop_back();
  if (other != nullptr) return other;
  runs_.push_front(run);
  return run;
}

void OpenedRuns::ForgetSome() {
  const std::lock_guard<std::mutex> lock(mutex_);
  // Runs in use by other calls stay until these end.
  while (!runs_.empty() && HeldBytes() > most_bytes_) {
    runs_.pop_back();
    ::malloc_trim(0);
  }
}

}  // namespace oplens::mcp
