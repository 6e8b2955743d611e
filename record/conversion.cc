#include "record/conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "record/image_conversion.h"
#include "record/process_conversion.h"
#include "record/spool_reader.h"

namespace oplens::record {
namespace {

namespace fs = std::filesystem;

/// Total file size of all chunks.
uint64_t SizeOf(const fs::path& spool) {
  uint64_t bytes = 0;
  for (const ImageFolder& image : ListImages(spool)) {
    std::error_code error;
    for (fs::directory_iterator it(image.path, error), end; !error && it != end;
         it.increment(error)) {
      std::error_code ignored;
      const uintmax_t size = it->file_size(ignored);
      if (!ignored) bytes += size;
    }
  }
  return bytes;
}

/// Fraction of the progress for reading; the rest is for indices.
constexpr double kReadingPart = 0.7;

}  // namespace

class Conversion::Impl {
 public:
  explicit Impl(ConversionOptions options) : options_(std::move(options)) {}

  bool Advance(Deadline* deadline) {
    FindImages();
    bool more = false;
    for (auto& [id, process] : processes_) more |= process->Advance(deadline);
    return more;
  }

  std::vector<ProcessSummary> Finish(const std::function<void(double)>& progress) {
    last_ = true;
    FindImages();
    for (auto& [id, process] : processes_) process->End();
    ReadAll(progress);
    std::vector<ProcessSummary> summaries;
    std::exception_ptr failure;
    double finished = 0;
    const auto count = static_cast<double>(processes_.size());
    for (auto& [id, process] : processes_) {
      const auto tell = [&](double part) {
        if (progress) progress(kReadingPart + (1 - kReadingPart) * (finished + part) / count);
      };
      try {
        summaries.push_back(process->Finish(tell));
      } catch (const Error&) {
        if (!failure) failure = std::current_exception();  // Finish the others first.
      }
      ++finished;
    }
    processes_.clear();
    if (failure) std::rethrow_exception(failure);
    return summaries;
  }

  int64_t processes() const { return static_cast<int64_t>(outputs_.size()); }
  int64_t skipped_processes() const { return static_cast<int64_t>(skipped_.size()); }
  int64_t unnamed_processes() const { return static_cast<int64_t>(unnamed_.size()); }

 private:
  void ReadAll(const std::function<void(double)>& progress) {
    constexpr auto kTurn = std::chrono::milliseconds(200);
    const auto total = static_cast<double>(std::max<uint64_t>(SizeOf(options_.spool), 1));
    for (bool more = true; more;) {
      Deadline deadline(Deadline::Clock::now() + kTurn);
      more = false;
      uint64_t bytes = 0;
      for (auto& [id, process] : processes_) {
        more |= process->Advance(&deadline);
        bytes += process->bytes_read();
      }
      if (progress) progress(kReadingPart * std::min(1.0, static_cast<double>(bytes) / total));
    }
  }

  void FindImages() {
    std::vector<std::pair<ImageFolder, PageFacts>> found;
    for (ImageFolder& image : ListImages(options_.spool)) {
      if (known_.count(image.path) != 0) continue;
      PageFacts facts = ReadPage(image.path);
      // A missing page is being created, or was when the process was killed; or the page is
      // damaged.
      if (!facts.known && (!last_ || ListStreams(image.path).empty())) continue;
      known_.insert(image.path);
      // For damaged pages: the process id is in the folder's name.
      facts.identity.process_id = static_cast<int32_t>(image.process_id);
      if (facts.known && facts.state == spool::ProcessState::kSkipped) {
        skipped_.insert(facts.identity);
      } else {
        found.emplace_back(std::move(image), std::move(facts));
      }
    }
    // The earliest process has first choice of a name.
    const auto earlier = [](const auto& a, const auto& b) {
      return std::pair(!a.second.known, a.second.start_ns) <
             std::pair(!b.second.known, b.second.start_ns);
    };
    std::stable_sort(found.begin(), found.end(), earlier);
    for (auto& [image, facts] : found) AddImage(std::move(image), std::move(facts));
  }

  void AddImage(ImageFolder image, PageFacts facts) {
    if (!facts.known) facts.identity = KnownOf(facts.identity);
    if (unnamed_.count(facts.identity) != 0) return;
    auto place = processes_.find(facts.identity);
    if (place == processes_.end()) {
      const std::string output = OutputOf(facts);
      if (output.empty()) {
        unnamed_.insert(facts.identity);
        return;
      }
      auto process =
          std::make_unique<ProcessConversion>(image.process_id, output, PartOf(output), options_);
      place = processes_.emplace(facts.identity, std::move(process)).first;
      outputs_.insert(output);
    }
    place->second->AddImage(std::move(image), std::move(facts));
  }

  /// Assigns an image with a damaged page to the process with its id, if there is one.
  ProcessIdentity KnownOf(const ProcessIdentity& identity) const {
    const auto place = processes_.lower_bound(identity);
    const bool is_it = place != processes_.end() && place->first.process_id == identity.process_id;
    return is_it ? place->first : identity;
  }

  std::string OutputOf(const PageFacts& facts) const {
    fs::path spool = options_.spool;
    const std::string by_default = spool.replace_extension().string();  // Without ".spool".
    const std::string wanted = options_.name_of       ? options_.name_of(facts)
                               : facts.output.empty() ? by_default
                                                      : facts.output;
    // Neither the name pattern nor the process id is always unique.
    std::string name = wanted;
    for (int i = 1; !wanted.empty() && outputs_.count(name) != 0; ++i) {
      name = fmt::format("{}.{}{}", wanted, facts.identity.process_id,
                         i == 1 ? "" : fmt::format(".{}", i));
    }
    return name;
  }

  /// The temporary database; parse looks for this name.
  fs::path PartOf(const std::string& output) {
    const std::string name = fs::path(output).filename().string();
    std::string part = name + ".part";
    for (int i = 2; !parts_.insert(part).second; ++i) part = fmt::format("{}.{}.part", name, i);
    return options_.spool / part;
  }

  const ConversionOptions options_;
  bool last_ = false;
  std::set<fs::path> known_;
  std::set<ProcessIdentity> skipped_;
  std::set<ProcessIdentity> unnamed_;
  std::set<std::string> outputs_;
  std::set<std::string> parts_;
  std::map<ProcessIdentity, std::unique_ptr<ProcessConversion>> processes_;
};

Conversion::Conversion(ConversionOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
Conversion::~Conversion() = default;

bool Conversion::Advance(std::chrono::milliseconds budget) {
  Deadline deadline(Deadline::Clock::now() + budget);
  return impl_->Advance(&deadline);
}

std::vector<ProcessSummary> Conversion::Finish(const std::function<void(double)>& progress) {
  return impl_->Finish(progress);
}

int64_t Conversion::processes() const { return impl_->processes(); }
int64_t Conversion::skipped_processes() const { return impl_->skipped_processes(); }
int64_t Conversion::unnamed_processes() const { return impl_->unnamed_processes(); }

}  // namespace oplens::record
