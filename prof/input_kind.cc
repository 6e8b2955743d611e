#include "prof/input_kind.h"

namespace oplens::prof {
namespace {

struct Signature {
  std::string_view start;
  InputKind kind;
};

constexpr std::string_view kUnpack = "unpack it first";

constexpr Signature kSignatures[] = {
    {"SQLite format 3", {"is a database, not the records of one", "run: parse FILE | prof"}},
    {"\x1f\x8b", {"is compressed (gzip)", "run: gzip -dc FILE | prof"}},
    {"\x28\xb5\x2f\xfd", {"is compressed (zstd)", kUnpack}},
    {"\xfd"
     "7zXZ",
     {"is compressed (xz)", kUnpack}},
    {"BZh", {"is compressed (bzip2)", kUnpack}},
    {"PK\x03\x04", {"is a zip archive", kUnpack}},
    {"\x80\x02", {"is a Python pickle", "give it the text that parse writes"}},
    {"\x80\x03", {"is a Python pickle", "give it the text that parse writes"}},
    {"\x80\x04", {"is a Python pickle", "give it the text that parse writes"}},
    {"\x80\x05", {"is a Python pickle", "give it the text that parse writes"}},
    {"\xff\xfe", {"is UTF-16 text", "let parse write the file itself: parse -o FILE DB"}},
    {"version https://git-lfs", {"is a Git LFS pointer", "run: git lfs pull"}},
    {"\x7f"
     "ELF",
     {"is a program", "give it the text that parse writes"}},
    {"{\"", {"holds JSON", "run parse without --format jsonl"}},
    {"[", {"holds JSON", "give it the text that parse writes"}},
    {"<", {"holds XML or HTML", "give it the text that parse writes"}},
    {"\"", {"looks like a table", "give it the text that parse writes, not that of prof"}},
};

}  // namespace

std::optional<InputKind> GuessInputKind(std::string_view head) {
  for (const Signature& signature : kSignatures) {
    if (head.starts_with(signature.start)) return signature.kind;
  }
  return std::nullopt;
}

}  // namespace oplens::prof
