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
}  // namespace oplens::record

int main(int argc, char** argv) {
  const oplens::record::Inherited inherited;  // First, before anything changes it.
  return oplens::RunProgram("record", [&] {
    return oplens::record::Main(oplens::record::ReadOptions(argc, argv), inherited);
  });
}
