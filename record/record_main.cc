// record: runs a program and writes a database of its ranges and GPU activity.

#include "base/error.h"
#include "base/output.h"
#include "base/program.h"
#include "record/launcher.h"
#include "record/options.h"
#include "record/recording.h"

namespace oplens::record {
namespace {

int Main(const Options& options, const Inherited& inherited) {
  if (!options.message.empty()) {
    PrintText(options.message);
    return kExitOk;
  }
  if (!options.recover.empty()) return RecoverRecording(options);
  return RecordProgram(options, inherited);
}

}  // namespace

int RunRecord(int argc, char** argv) {
  const Inherited inherited;  // First, before anything changes it.
  return RunProgram("record", [&] { return Main(ReadOptions(argc, argv), inherited); });
}

}  // namespace oplens::record
