#include "oplens/program_text.h"

#include <fmt/format.h>

#include "base/help_options.h"
#include "oplens/commands.h"
#include "prof/input_options.h"

namespace oplens::screen {
namespace {

std::vector<WordText> Words() {
  std::vector<WordText> words;
  for (const Command& command : Commands()) {
    words.push_back({std::string(command.word), std::string(command.help)});
  }
  words.push_back({"help", "the options of a command"});
  return words;
}

}  // namespace

ProgramText TextOfOplens() {
  ProgramText text = {
      .name = "oplens",
      .summary = "what a run did on its GPUs, on one screen",
      .synopsis = {"[OPTIONS] FILE...", "COMMAND [ARGUMENTS]", "help COMMAND"},
      .groups = {prof::kSelectionOptions, prof::kPricingOptions, prof::kMessageOptions,
                 kHelpOptions},
      .description =
          {"FILE is a profile of nvprof, Nsight Systems or PyTorch, a folder of them (the ranks of "
           "one run), or records of parse; - is standard input. The screen says what was recorded, "
           "where a step goes, which layers, ops and kernels cost most and how near to the peak "
           "they are, what the recording lacks, and what to type next.",
           "COMMAND runs another program of oplens with the arguments that follow."},
      .examples = {{"oplens net.sqlite", "where the time went"},
                   {"oplens prof --by op,dir --top 10 net.sqlite", "the costliest ops"},
                   {"oplens report -o run.html net.sqlite", "all of it, as a page"}},
      .exit_codes = prof::ExitCodesOfPricing(),
      .see_also = {"parse", "prof", "record", "report"},
      .first_words = Words(),
  };
  text.lists.push_back({"Commands", {}, false, Words()});
  text.lists.push_back(prof::GpuWords());
  return text;
}

}  // namespace oplens::screen
