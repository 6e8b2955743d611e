#include "record/conversion.h"

#include <utility>

namespace oplens::record {

class Conversion::Impl {
 public:
  explicit Impl(ConversionOptions options) : options_(std::move(options)) {}
  const ConversionOptions& options() const { return options_; }

 private:
  ConversionOptions options_;
};

Conversion::Conversion(ConversionOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
Conversion::~Conversion() = default;

bool Conversion::Advance(std::chrono::milliseconds) { return false; }

std::vector<ProcessSummary> Conversion::Finish(const std::function<void(double)>&) { return {}; }

int64_t Conversion::processes() const { return 0; }
int64_t Conversion::skipped_processes() const { return 0; }

}  // namespace oplens::record
