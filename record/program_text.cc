#include "record/program_text.h"

#include "base/help_options.h"

namespace oplens::record {
namespace {

WordList TraceWords() {
  WordList list{"Words of --trace", {"trace"}, true, {}};
  for (const TraceWord& word : kTraceWords) {
    list.words.push_back({std::string(word.word), std::string(word.help)});
  }
  return list;
}

}  // namespace

ProgramText TextOfRecord() {
  return {
      .name = "record",
      .summary = "records ranges and GPU activity of a program, as nvprof did",
      .synopsis = {"[OPTIONS] -o FILE -- PROGRAM ARGS...", "--recover FILE"},
      .groups = {kOutputOptions, kRecordedOptions, kHelpOptions},
      .description = {"FILE is a database of nvprof's form, which parse and prof read. Options end "
                      "at \"--\" or at the first word that is none.",
                      "Until FILE is complete, all that was recorded is in FILE.spool. When record "
                      "itself was killed, record --recover FILE makes the database of it; of "
                      "several processes, with %p in FILE."},
      .examples = {{"record -o net.sql -- python3 -m oplens_annotate train.py",
                    "a PyTorch program, as it is"},
                   {"record -f -o net.sql --profile-from-start off -- ./app --steps 3",
                    "between cudaProfilerStart and cudaProfilerStop"},
                   {"record --reference -o graphs.sql -- ./app --steps 1",
                    "what is captured into CUDA graphs, for --reference of prof"},
                   {"record -o net.%p.sql --profile-child-processes -- torchrun --nproc-per-node 4 "
                    "train.py",
                    "a database a process"}},
      .lists = {TraceWords(),
                {"In the name of FILE, as nvprof had it",
                 {},
                 false,
                 {{"%p", "process id"},
                  {"%h", "name of the host"},
                  {"%q{NAME}", "value of the environment variable NAME"},
                  {"%%", "a percent sign"}}}},
      .exit_codes = {{"N", "That of the program; 128 + N when signal N ended it."},
                     {"1", "The database cannot be written."},
                     {"2", "The command line is wrong."},
                     {"3", "With --strict: something is missing, and the program's code is 0."},
                     {"124", "The program was ended by --timeout."},
                     {"126, 127", "The program could not be started."}},
      .environment = {{"OPLENS_CUPTI",
                       "The library of CUPTI to load, where none or the wrong one "
                       "is found."}},
      .files = {{"FILE.spool", "A folder with what was recorded, until FILE is complete."}},
      .see_also = {"oplens", "parse", "prof", "report"},
      .runs_command = true,
  };
}

}  // namespace oplens::record
