// The page of report/page, embedded. OPLENS_PAGE_FILE is its path in the sources.

#include "report/page_shell.h"

// The assembler includes the file: compiling a byte array would take half a second.
asm(".pushsection .rodata\n"
    ".balign 16\n"
    ".global oplens_page_begin\n"
    "oplens_page_begin:\n"
    ".incbin \"" OPLENS_PAGE_FILE
    "\"\n"
    ".global oplens_page_end\n"
    "oplens_page_end:\n"
    ".popsection\n");

extern "C" {
extern const char oplens_page_begin[];
extern const char oplens_page_end[];
}

namespace oplens::report {

std::string_view EmbeddedPage() {
  return {oplens_page_begin, static_cast<size_t>(oplens_page_end - oplens_page_begin)};
}

}  // namespace oplens::report
