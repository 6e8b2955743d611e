#include "parse/program_text.h"

#include "base/help_options.h"

namespace oplens::parse {

ProgramText TextOfParse() {
  return {
      .name = "parse",
      .summary = "one record a GPU kernel from profiles of nvprof, Nsight Systems, torch.profiler",
      .synopsis = {"[OPTIONS] FILE... | FOLDER"},
      .groups = {kInputOptions, kOutputOptions, kHelpOptions},
      .description =
          {"FILE is a database of nvprof or Nsight Systems, or a trace of torch.profiler, as it is "
           "or packed (gzip, zstd), told by its content; - is standard input.",
           "Several files, or a FOLDER of them, are the processes of one run: their records follow "
           "each other in the order given (in a folder: rank2 before rank10), and the key \"rank\" "
           "says which is which. A file of a folder that cannot be read is named on standard error "
           "and left out."},
      .examples = {{"parse --check net.sqlite",
                    "what is in the file, and what to record that is not"},
                   {"parse net.sqlite > net.dict", "one record a kernel, for prof or PyProf"},
                   {"parse --format chrome -o net.json.gz net.sqlite", "a timeline for Perfetto"}},
      .exit_codes = {{"0", "The records are complete; damaged rows are counted on standard error."},
                     {"1", "A file cannot be read, or the output cannot be written."},
                     {"2", "The command line is wrong."},
                     {"3",
                      "With --strict: a row was damaged, kernels were unlaunched, or there "
                      "were none."}},
      .see_also = {"oplens", "prof", "record", "report"},
  };
}

}  // namespace oplens::parse
