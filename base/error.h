#ifndef OPLENS_BASE_ERROR_H_
#define OPLENS_BASE_ERROR_H_

// Public header: installed, docs/library.md.

#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

namespace oplens {

/// Process exit codes of every oplens program.
enum ExitCode : int {
  kExitOk = 0,          ///< The result is complete; degraded rows are counted on stderr.
  kExitCannotRead = 1,  ///< No result: unreadable input, or output that cannot be written.
  kExitUsage = 2,       ///< Wrong command line.
  kExitStrict = 3,  ///< --strict: damaged rows, unlaunched kernels, an empty result, or something
                    ///< missing in a recording.
};

/// The run cannot produce a correct result. Thrown where the problem is found, caught once, in
/// main. what() is one line of the form "FILE: table T, row R: what was wrong; what to do".
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}

  /// Of the constructors below; "" and -1 if not told.
  const std::string& file() const { return file_; }
  long long row() const { return row_; }

  /// "FILE: problem; advice".
  Error(std::string_view file, std::string_view problem, std::string_view advice);

  /// "FILE: table TABLE, row ROW: problem; advice". `row`: SQLite row id; -1 if unknown.
  Error(std::string_view file, std::string_view table, long long row, std::string_view problem,
        std::string_view advice);

 private:
  std::string file_;
  long long row_ = -1;
};

/// The command line is wrong. what() says what to type instead. Exit code 2.
class UsageError : public std::runtime_error {
 public:
  explicit UsageError(const std::string& message) : std::runtime_error(message) {}
};

/// Someone asked the work to stop (WorkMeter::Stop). No error: nobody is told what was wrong.
class Interrupted : public std::exception {
 public:
  const char* what() const noexcept override { return "interrupted"; }
};

}  // namespace oplens

#endif  // OPLENS_BASE_ERROR_H_
