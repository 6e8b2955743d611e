#include "record/messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <vector>

namespace oplens::record::messages_test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

ProcessSummary Recorded() {
  ProcessSummary process;
  process.process_id = 4711;
  process.output = "/home/net.sql";
  process.kernels = 1234;
  process.ranges = 1;
  process.cuda = spool::CudaState::kRecording;
  process.ended = true;
  return process;
}

RecordingFacts Here() {
  RecordingFacts facts;
  facts.directory = "/home";
  return facts;
}

std::string Text(const std::vector<ProcessSummary>& processes,
                 const RecordingFacts& facts = Here()) {
  std::string text;
  for (const SummaryLine& line : Summary(processes, facts)) text += line.text;
  return text;
}

std::string Text(const ProcessSummary& process, const RecordingFacts& facts = Here()) {
  return Text(std::vector<ProcessSummary>{process}, facts);
}

/// Those lines only that tell of something missing.
std::string Faults(const ProcessSummary& process, const RecordingFacts& facts = Here()) {
  std::string text;
  for (const SummaryLine& line : Summary({process}, facts)) {
    if (line.fault) text += line.text;
  }
  return text;
}

TEST(RecordMessages, AreOneLineWhenAllIsWell) {
  EXPECT_EQ(Text(Recorded()), "record: net.sql: 1234 kernels, 1 range, 0 dropped records\n");
}

TEST(RecordMessages, NameEveryDatabase) {
  ProcessSummary other = Recorded();
  other.output = "/elsewhere/b.sql";
  EXPECT_EQ(Text({Recorded(), other}),
            "record: net.sql: 1234 kernels, 1 range, 0 dropped records\n"
            "record: /elsewhere/b.sql: 1234 kernels, 1 range, 0 dropped records\n");
}

TEST(RecordMessages, NameTheFilesOfASchedule) {
  ProcessSummary process = Recorded();
  process.scheduled = true;
  EXPECT_THAT(Text(process), HasSubstr("record: net.sql: no cycle of the program's schedule was "
                                       "recorded: all that was is in one file\n"));
  process.kernels_outside = 234;
  process.cycle_outputs = {"/home/net.1.sql"};
  EXPECT_EQ(Text(process),
            "record: net.1.sql: 1 cycle, 1000 kernels, 1 range, 0 dropped records\n"
            "record: net.1.sql: 234 kernels and 0 ranges outside of the cycles are in no file\n");
  process.kernels_outside = 0;
  process.cycle_outputs.emplace_back("/home/net.2.sql");
  EXPECT_EQ(
      Text(process),
      "record: net.1.sql and net.2.sql: 2 cycles, 1234 kernels, 1 range, 0 dropped records\n");
  process.cycle_outputs.emplace_back("/home/net.3.sql");
  process.incomplete_cycles = 1;
  EXPECT_EQ(Text(process),
            "record: net.1.sql to net.3.sql: 3 cycles, 1234 kernels, 1 range, 0 dropped records\n"
            "record: net.1.sql to net.3.sql: 1 cycle was not completed by the program\n");
  process.joined_cycles = 7;
  EXPECT_THAT(Text(process), HasSubstr("the last file holds 7 cycles more: give the schedule"));
  EXPECT_EQ(Faults(process), "");
}

TEST(RecordMessages, SayWhyRecordsWereDropped) {
  ProcessSummary process = Recorded();
  process.lost_events = 2;
  process.lost_rows = 3;
  process.first_error = ENOSPC;
  EXPECT_THAT(Text(process), HasSubstr("5 dropped records\n"));
  EXPECT_THAT(Text(process), HasSubstr("net.sql: 5 records could not be stored: No space left"));
  process.first_error = EFBIG;
  EXPECT_THAT(Text(process), HasSubstr("ulimit -f"));
  process = Recorded();
  process.handler_events = 1;
  process.child_events = 2;
  EXPECT_THAT(Text(process), HasSubstr("3 dropped records\n"));
  EXPECT_THAT(Text(process), HasSubstr("net.sql: 1 NVTX call of signal handlers"));
  EXPECT_THAT(Text(process), HasSubstr("net.sql: 2 NVTX calls of child processes"));
  process = Recorded();
  process.cupti_lost = 1;
  EXPECT_THAT(Text(process), HasSubstr("1 dropped record\n"));
  EXPECT_THAT(Text(process), HasSubstr("CUPTI dropped 1 record, its buffers being full"));
}

TEST(RecordMessages, SayWhatWasCut) {
  ProcessSummary process = Recorded();
  process.cut_texts = 1;
  EXPECT_THAT(Text(process), HasSubstr("net.sql: 1 text was cut: those of events at 256 KiB, names "
                                       "at 64 KiB\n"));
  process.cut_texts = 2;
  EXPECT_THAT(Text(process), HasSubstr("net.sql: 2 texts were cut"));
}

TEST(RecordMessages, SayWhatTheGpuMayHaveDoneBeyond) {
  ProcessSummary process = Recorded();
  process.gpu_cut_off = true;
  EXPECT_THAT(Text(process), HasSubstr("net.sql: ended without exit (a signal, _exit or exec): up "
                                       "to 0.4 s of GPU work may be missing\n"));
  process.unfinished_launches = 1;
  EXPECT_THAT(Text(process), HasSubstr("net.sql: 1 launch has no kernel: "));
  process.unfinished_launches = 2;
  EXPECT_THAT(Text(process), HasSubstr("net.sql: 2 launches have no kernel: "));
  process.gpu_cut_off = false;
  process.gpu_busy_at_end = true;
  EXPECT_THAT(Text(process), HasSubstr("net.sql: the GPU was still at work 3 s after the end"));
}

TEST(RecordMessages, SayThatNoStartCame) {
  ProcessSummary process;
  process.waits_for_start = true;
  EXPECT_THAT(Text(process),
              HasSubstr("record: nothing was recorded: with --profile-from-start off, recording "
                        "begins at oplens::annotate::Start(), or at cudaProfilerStart"));
  process.marks = 1;
  EXPECT_THAT(Text(process), Not(HasSubstr("nothing was recorded")));
  EXPECT_THAT(Text(ProcessSummary()), Not(HasSubstr("nothing was recorded"))) << "from the start";
}

TEST(RecordMessages, TellFaultsFromNotes) {
  ProcessSummary process = Recorded();
  process.open_ranges = 2;
  EXPECT_EQ(Faults(process), "");
  RecordingFacts facts = Here();
  facts.program_seen = false;
  facts.skipped_processes = 1;
  EXPECT_EQ(Faults(process, facts), "");
  facts.out_of_descriptors = true;
  EXPECT_THAT(Faults(process, facts), StartsWith("record: the program had no file descriptor"));
  facts.library_failed = true;
  EXPECT_THAT(Faults(process, facts), HasSubstr("is the disk full"));
  facts.library_error = EMFILE;
  EXPECT_THAT(Faults(process, facts),
              HasSubstr("Too many open files: raise the limit (ulimit -n)"));

  const auto is_fault = [](auto ProcessSummary::*member, auto value) {
    ProcessSummary changed = Recorded();
    changed.*member = value;
    return Faults(changed).starts_with("record: net.sql: ");
  };
  for (int64_t ProcessSummary::*const count :
       {&ProcessSummary::lost_events, &ProcessSummary::lost_rows, &ProcessSummary::handler_events,
        &ProcessSummary::child_events, &ProcessSummary::cut_texts, &ProcessSummary::cupti_lost,
        &ProcessSummary::odd_rows, &ProcessSummary::unfinished_launches}) {
    EXPECT_TRUE(is_fault(count, 1));
  }
  EXPECT_TRUE(is_fault(&ProcessSummary::gpu_cut_off, true));
  EXPECT_TRUE(is_fault(&ProcessSummary::gpu_busy_at_end, true));
  EXPECT_TRUE(is_fault(&ProcessSummary::cuda, spool::CudaState::kFailed));
  EXPECT_TRUE(is_fault(&ProcessSummary::notes, std::vector<std::string>{"a note"}));
  EXPECT_TRUE(is_fault(&ProcessSummary::damage, "stream 3 ends early"));
}

TEST(RecordMessages, SayWhatIsOddInTheProgram) {
  ProcessSummary process = Recorded();
  process.open_ranges = 2;
  EXPECT_THAT(Text(process), HasSubstr("2 ranges never ended\n"));
  process.ended = false;
  EXPECT_THAT(Text(process), HasSubstr("2 ranges never ended: the program was killed"));
  process.notes = {"a note"};
  EXPECT_THAT(Text(process), HasSubstr("record: net.sql: a note\n"));
  process.damage = "stream 3 ends early";
  EXPECT_THAT(Text(process), HasSubstr("could be read: stream 3 ends early\n"));
  process.odd_rows = 7;
  EXPECT_THAT(Text(process), HasSubstr("7 records of unknown kinds"));
}

TEST(RecordMessages, SayWhyThereAreRangesOnly) {
  ProcessSummary process = Recorded();
  process.cuda = spool::CudaState::kUnused;
  RecordingFacts facts = Here();
  EXPECT_THAT(Text(process, facts), HasSubstr("the program used no CUDA: ranges only\n"));
  facts.has_driver = false;
  EXPECT_THAT(Text(process, facts),
              HasSubstr("record: no NVIDIA driver on this machine: ranges only\n"));
  facts.requested_cuda = false;
  EXPECT_THAT(Text(process, facts), Not(HasSubstr("ranges only")));
  facts.requested_cuda = true;
  EXPECT_THAT(Text({process, Recorded()}, facts), Not(HasSubstr("ranges only")))
      << "one of them used CUDA";
}

TEST(RecordMessages, SayWhoWasNotRecorded) {
  RecordingFacts facts = Here();
  facts.program_seen = false;
  facts.skipped_processes = 1;
  ProcessSummary process = Recorded();
  process.cuda = spool::CudaState::kUnused;
  EXPECT_THAT(Text(process, facts), HasSubstr("used neither CUDA nor NVTX: its database is empty"));
  EXPECT_THAT(Text(process, facts),
              HasSubstr("1 child process was not recorded: give --profile-c"));
  EXPECT_THAT(Text(process, facts), Not(HasSubstr("ranges only")));
  facts.skipped_processes = 2;
  EXPECT_THAT(Text(process, facts), HasSubstr("2 child processes were not recorded"));
  facts.requested_children = true;
  EXPECT_THAT(Text(process, facts), HasSubstr("the program itself used neither"));
}

struct AdviceCase {
  int result;
  uint32_t version;
  const char* said;
};

TEST(CuptiAdvice, KnowsWhatToDo) {
  const AdviceCase cases[] = {
      {35, 130001, "cuptiSubscribe: WORDS (35); the driver lets administrators only"},
      {35, 130001, "NVreg_RestrictProfilingToAdminUsers=0"},
      {39, 130001, "another profiler"},
      {15, 130001, "OPLENS_CUPTI"},
      {999, 130001, "nvidia-smi"},
      {5, 130001, "cuptiSubscribe: WORDS (5); install the CUPTI"},
      {0, 12,
       "CUPTI 12 is WORDS; install the CUPTI of the CUDA version that nvidia-smi shows, 11.1"},
      {0, 0, "cuptiSubscribe WORDS; install"},
  };
  for (const AdviceCase& c : cases) {
    ProcessSummary process = Recorded();
    process.cuda = spool::CudaState::kFailed;
    process.cupti_step = "cuptiSubscribe";
    process.cupti_message = "WORDS";
    process.cupti_result = c.result;
    process.cupti_version = c.version;
    const std::string advice = CuptiAdvice(process);
    EXPECT_THAT(advice, StartsWith("no GPU activity was recorded: "));
    EXPECT_THAT(advice, HasSubstr(c.said));
    EXPECT_THAT(Text(process), HasSubstr("record: net.sql: " + advice + "\n"));
  }
}

TEST(ShortName, IsRelativeBelowTheFolderOnly) {
  EXPECT_EQ(ShortName("/a/b/net.sql", "/a"), "b/net.sql");
  EXPECT_EQ(ShortName("/ab/net.sql", "/a"), "/ab/net.sql");
  EXPECT_EQ(ShortName("/net.sql", "/"), "net.sql");
  EXPECT_EQ(ShortName("/net.sql", ""), "/net.sql");
}

}  // namespace
}  // namespace oplens::record::messages_test
