#include "record/conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <optional>
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

/// Bytes of all chunks in the spool, as large as their files are.
uint64_t SizeOf(const fs::path& spool) {
  uint64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator it(spool, error), end; !error && it != end;
       it.increment(error)) {
    std::error_code ignored;
    const uintmax_t size = it->file_size(ignored);
    if (!ignored) bytes += size;
  }
  return bytes;
}

/// Part of the progress that reading takes; the rest are the indices.
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
        if (!failure) failure = std::current_exception();  // The others can be finished.
      }
      ++finished;
    }
    processes_.clear();
    if (failure) std::rethrow_exception(failure);
    return summaries;
  }

  int64_t processes() const { return static_cast<int64_t>(outputs_.size()); }
  int64_t skipped_processes() const { return static_cast<int64_t>(skipped_.size()); }

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
      // Without a page it is being made, or was when all was killed; or the page is damaged.
      if (!facts.known && (!last_ || ListStreams(image.path).empty())) continue;
      known_.insert(image.path);
      if (facts.known && facts.state == spool::ProcessState::kSkipped) {
        skipped_.insert(image.process_id);
      } else {
        found.emplace_back(std::move(image), std::move(facts));
      }
    }
    // The one that started first has the first choice of a name.
    const auto earlier = [](const auto& a, const auto& b) {
      return std::pair(!a.second.known, a.second.start_ns) <
             std::pair(!b.second.known, b.second.start_ns);
    };
    std::stable_sort(found.begin(), found.end(), earlier);
    for (auto& [image, facts] : found) AddImage(std::move(image), std::move(facts));
  }

  void AddImage(ImageFolder image, PageFacts facts) {
    std::unique_ptr<ProcessConversion>& process = processes_[image.process_id];
    if (!process) {
      const std::string output = OutputOf(facts, image.process_id);
      process = std::make_unique<ProcessConversion>(image.process_id, output, options_);
      outputs_.insert(output);
    }
    process->AddImage(std::move(image), std::move(facts));
  }

  std::string OutputOf(const PageFacts& facts, int64_t process_id) const {
    fs::path output = facts.output;
    std::error_code error;
    if (output.empty()) {
      output = options_.spool;
      output.replace_extension();  // ".spool"
    } else if (options_.recovered && !fs::is_directory(output.parent_path(), error)) {
      output = options_.spool.parent_path() / output.filename();  // The spool was moved.
    }
    // The pattern of names does not tell the processes apart.
    if (outputs_.count(output.string()) != 0) output += fmt::format(".{}", process_id);
    return output.string();
  }

  const ConversionOptions options_;
  bool last_ = false;
  std::set<fs::path> known_;
  std::set<int64_t> skipped_;
  std::set<std::string> outputs_;
  std::map<int64_t, std::unique_ptr<ProcessConversion>> processes_;
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

}  // namespace oplens::record
