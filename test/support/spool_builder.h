#ifndef OPLENS_TEST_SUPPORT_SPOOL_BUILDER_H_
#define OPLENS_TEST_SUPPORT_SPOOL_BUILDER_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "record/spool/spool_format.h"

namespace oplens::test {

/// The parts of an event or a name; what is not set is not written.
struct SpoolParts {
  uint16_t domain = 0;
  uint32_t category = 0;
  std::optional<uint32_t> color = {};
  std::optional<std::pair<int32_t, uint64_t>> value = {};  ///< nvtxPayloadType_t and bits.
  std::optional<uint64_t> string = {};
  std::optional<uint64_t> range = {};
  std::vector<std::pair<uint64_t, std::string>> payloads = {};  ///< Schema and bytes.
  /// The string and the one payload, of a schema of the library's, are written as a CallPart.
  bool call = false;
  std::optional<std::string> text = {};
};

/// A value of a row: a number, a text or BLOB, or a NULL text.
using SpoolValue = std::variant<int64_t, std::string, std::monostate>;

/// The bytes of records.
std::string EventRecord(record::spool::RecordKind kind, int64_t time_ns, const SpoolParts& parts);
std::string RowRecord(record::spool::Table table, const std::vector<SpoolValue>& values);
std::string ThreadRecord(uint32_t thread_id, uint32_t os_thread_id);

/// A stream of a spool, written chunk by chunk as the library does, so that a reader may look at it
/// at any time.
class SpoolStream {
 public:
  SpoolStream(std::filesystem::path folder, uint32_t stream, uint32_t thread_id = 0,
              uint32_t os_thread_id = 0, uint32_t chunk_bytes = 64 * 1024);

  /// Appends to the chunk, or to a new one where it is full.
  void Append(const std::string& record);
  void Push(int64_t time_ns, const std::string& text);
  void Pop(int64_t time_ns);

  void StartChunk(uint32_t bytes);
  std::filesystem::path path() const;  ///< Of the chunk.
  uint64_t used() const { return used_; }
  /// Overwrites bytes of the chunk.
  void Patch(uint64_t offset, const std::string& bytes);
  void PatchUsed(uint64_t used);

 private:
  std::filesystem::path folder_;
  uint32_t stream_;
  uint32_t thread_id_;
  uint32_t os_thread_id_;
  uint32_t chunk_bytes_;
  uint32_t sequence_ = 0;
  uint32_t capacity_ = 0;
  uint64_t used_ = 0;
  bool started_ = false;
};

/// Makes PID.N with its page. `change` may set more of the page.
std::filesystem::path MakeSpoolImage(
    const std::filesystem::path& spool, int32_t process_id, const std::filesystem::path& output,
    const std::function<void(record::spool::ProcessPage*)>& change = {}, int image = 0);

/// Copies a text into a field of a page.
template <size_t kSize>
void SetField(char (&field)[kSize], const std::string& text) {
  field[text.copy(field, kSize - 1)] = '\0';
}

}  // namespace oplens::test

#endif  // OPLENS_TEST_SUPPORT_SPOOL_BUILDER_H_
