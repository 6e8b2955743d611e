#ifndef OPLENS_BASE_PROGRAM_H_
#define OPLENS_BASE_PROGRAM_H_

#include <functional>
#include <string>
#include <string_view>

namespace oplens {

/// Runs the body of a program named `tool` and returns its exit code (base/error.h). What it throws
/// becomes "TOOL: MESSAGE" on stderr: UsageError 2, ClosedPipe a quiet 0, any other exception 1.
///
/// Signals that would kill the process for a failed write (a closed pipe, a file size limit) are
/// ignored, so that the write itself fails. Standard streams that are closed are opened on nothing,
/// so that no file of ours gets their numbers.
int RunProgram(std::string_view tool, const std::function<int()>& body);

/// The programs, which one binary holds (oplens/oplens_main.cc). Each takes what main() gets,
/// before anything of the process is changed, and returns the exit code.
namespace parse {
int RunParse(int argc, char** argv);
}
namespace prof {
int RunProf(int argc, char** argv);
}
namespace record {
int RunRecord(int argc, char** argv);
}
namespace report {
int RunReport(int argc, char** argv);
}

/// Lets large buffers go back to the system when they are freed: glibc else keeps ever larger ones
/// for what comes, which raises the peak. For programs that hold one profile after the other.
void GiveBackWhatIsFreed();

/// Writes to stderr; a stderr that cannot be written changes nothing.
void PrintError(std::string_view text);

/// What an error says, for standard error: "TOOL: MESSAGE" and the end of the line. Names in it
/// cannot forge lines: of the message only lines that begin with two blanks stay lines.
std::string Complaint(std::string_view tool, std::string_view message);

}  // namespace oplens

#endif  // OPLENS_BASE_PROGRAM_H_
