// discard_rows FILE: the CPU that all kernels of a profile take up to a sink that drops their rows,
// for bench/python.py.

#include <fmt/format.h>

#include <ctime>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "base/program.h"
#include "engine/run.h"

namespace {

using namespace oplens;

class Dropping : public prof::Destination {
 public:
  class DroppingSink : public prof::Sink {
   public:
    void Begin(std::string_view, std::vector<prof::Field>) override {}
    void Row(std::span<const prof::Cell>) override {}
  };
  std::unique_ptr<prof::Sink> NewTable() override { return std::make_unique<DroppingSink>(); }
  void Commit() override {}
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  try {
    engine::Run run({argv[1]});
    Dropping dropping;
    Messages messages("discard_rows");
    const int64_t kernels = run.Ask({}, &dropping, &messages);
    fmt::print("{} kernels, {:.3f} s of CPU\n", kernels,
               static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "discard_rows: {}\n", error.what());
    return 1;
  }
}
