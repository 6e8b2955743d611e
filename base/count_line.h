#ifndef OPLENS_BASE_COUNT_LINE_H_
#define OPLENS_BASE_COUNT_LINE_H_

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace oplens {

/// "TOOL: 12 of 64 files" on standard error, where that is a terminal, from one second after the
/// work began: a StatusLine of work that others do, without a thread of its own, so that processes
/// can be forked. It is drawn when Show() is called and erased with this object.
class CountLine {
 public:
  /// `wanted`: false with --quiet.
  CountLine(std::string_view tool, std::string_view what, size_t total, bool wanted);
  ~CountLine();
  CountLine(const CountLine&) = delete;
  CountLine& operator=(const CountLine&) = delete;

  void Show(size_t done);
  /// Before something else is printed.
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
