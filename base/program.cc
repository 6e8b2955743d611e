#include "base/program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <new>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/error.h"
#include "base/output.h"
#include "base/shortage.h"
#include "base/utf8.h"

namespace oplens {
namespace {

void OpenClosedStreams() {
  // Read-only: writing to a missing standard output must still fail.
  int fd = ::open("/dev/null", O_RDONLY);
  while (fd >= 0 && fd <= STDERR_FILENO) fd = ::open("/dev/null", O_RDONLY);
  if (fd >= 0) ::close(fd);
}

int Complain(std::string_view tool, std::string_view message, ExitCode code) {
  PrintError(Complaint(tool, message));
  return code;
}

}  // namespace

int RunProgram(std::string_view tool, const std::function<int()>& body) {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  OpenClosedStreams();
  try {
    return body();
  } catch (const ClosedPipe&) {
    return kExitOk;
  } catch (const UsageError& e) {
    return Complain(tool, e.what(), kExitUsage);
  } catch (const std::bad_alloc&) {
    return Complain(tool, NoMemoryText(), kExitCannotRead);
  } catch (const std::exception& e) {
    return Complain(tool, e.what(), kExitCannotRead);
  }
}

void GiveBackWhatIsFreed() {
#ifdef __GLIBC__
  constexpr int kLargeBytes = 1 << 20;
  mallopt(M_MMAP_THRESHOLD, kLargeBytes);
#endif
}

std::string Complaint(std::string_view tool, std::string_view message) {
  constexpr std::string_view kFurther = "\n  ";
  std::string lines = fmt::format("{}: ", tool);
  while (true) {
    const size_t end = message.find(kFurther);
    AppendUtf8(message.substr(0, end), Utf8Hidden::kControls, &lines);
    if (end == message.npos) break;
    lines += kFurther;
    message.remove_prefix(end + kFurther.size());
  }
  lines.push_back('\n');
  return lines;
}

void PrintError(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stderr); }

}  // namespace oplens
