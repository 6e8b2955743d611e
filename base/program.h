#ifndef OPLENS_BASE_PROGRAM_H_
#define OPLENS_BASE_PROGRAM_H_

#include <functional>
#include <string>
#include <string_view>

namespace oplens {

/// Runs the body of program `tool` and returns its exit code (base/error.h). Exceptions are printed
/// to stderr as "TOOL: MESSAGE": UsageError returns 2, ClosedPipe silently 0, any other exception
/// 1.
///
/// Ignores the signals that kill a process on a failed write (closed pipe, file size limit), so
/// that the write fails instead. Opens closed standard streams on /dev/null, so that no file gets
/// their descriptors.
int RunProgram(std::string_view tool, const std::function<int()>& body);

/// The programs in the one binary (oplens/oplens_main.cc). Each takes main()'s arguments, must be
/// called before anything of the process is changed, and returns the exit code.
namespace parse {
int RunParse(int argc, char** argv);
}
namespace prof {
int RunProf(int argc, char** argv);
}
namespace mcp {
int RunMcp(int argc, char** argv);
}
namespace record {
int RunRecord(int argc, char** argv);
}
namespace report {
int RunReport(int argc, char** argv);
}

/// Makes glibc return large buffers to the system when freed; its default would keep ever larger
/// ones and raise the peak. For programs that process one profile after another.
void GiveBackWhatIsFreed();

/// Writes to stderr; failures are ignored.
void PrintError(std::string_view text);

/// The line "TOOL: MESSAGE\n" for stderr. Names in the message cannot forge lines: only line breaks
/// followed by two blanks are kept.
std::string Complaint(std::string_view tool, std::string_view message);

}  // namespace oplens

#endif  // OPLENS_BASE_PROGRAM_H_
