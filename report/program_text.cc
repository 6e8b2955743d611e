#include "report/program_text.h"

#include "base/help_options.h"
#include "prof/input_options.h"

namespace oplens::report {

ProgramText TextOfReport() {
  return {
      .name = "report",
      .summary =
          "one self-contained page (HTML) of a run, from profiles or the records that parse writes",
      .synopsis = {"[OPTIONS] FILE..."},
      .groups = {kPageOptions, prof::kSelectionOptions, prof::kPricingOptions,
                 prof::kMessageOptions, kHelpOptions},
      .description = {"The page holds the tables of all views and a timeline, and opens in any "
                      "browser without "
                      "a network. Several files, or a folder of them, are the ranks of one run."},
      .examples = {{"report net.sqlite", "writes net.sqlite.html"},
                   {"report -o run.html --title 'Batch 64' runs/", "one page of all ranks"},
                   {"report --step-range 10-12 --report-limit 20MB net.sqlite",
                    "three steps, in more detail"},
                   {"report --diff before.json after.json -o diff.html",
                    "what changed from one run to the other, and why"}},
      .lists = {prof::GpuWords()},
      .exit_codes = prof::ExitCodesOfPricing(),
      .see_also = {"oplens", "parse", "prof", "record"},
  };
}

}  // namespace oplens::report
