#ifndef OPLENS_BASE_COUNT_LINE_H_
#define OPLENS_BASE_COUNT_LINE_H_

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace oplens {

/// Draws "TOOL: 12 of 64 files" on standard error if that is a terminal, from one second after the
/// work began. Like StatusLine, but without a thread, so that the process may fork: it is drawn by
/// Show() and erased by the destructor.
class CountLine {
 public:
  /// `wanted`: false with --quiet.
  CountLine(std::string_view tool, std::string_view what, size_t total, bool wanted);
  ~CountLine();
  CountLine(const CountLine&) = delete;
  CountLine& operator=(const CountLine&) = delete;

  void Show(size_t done);
  /// Call before printing anything else.
  void Erase();

 private:
  std::string tool_;
  std::string what_;
  size_t total_;
  bool wanted_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::string shown_;
};

}  // namespace oplens

#endif  // OPLENS_BASE_COUNT_LINE_H_
