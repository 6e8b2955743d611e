#ifndef OPLENS_RECORD_IMAGE_NAMES_H_
#define OPLENS_RECORD_IMAGE_NAMES_H_

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/id_map.h"
#include "record/nvprof_writer.h"
#include "record/spool_record.h"

namespace oplens::record {

/// What the numbers in the events of one image mean: the records of its stream of names. Memory:
/// the texts of the registered strings.
class ImageNames {
 public:
  struct String {
    std::string text;
    int64_t id = 0;  ///< In StringTable.
  };

  explicit ImageNames(NvprofWriter* writer);

  /// False when it is no name, or its parts do not fit.
  bool Add(const spool::RecordHead& head, const unsigned char* body, size_t size);

  bool Knows(uint16_t domain) const { return domain < domains_.size() && domains_[domain] >= 0; }
  /// The number in StringTable of a domain's name, 0 of the default domain.
  int64_t DomainOf(uint16_t domain);
  /// A registered string; null: unknown.
  const String* Find(uint16_t domain, uint64_t handle) const;
  /// Whether a payload's schema is that of the ops of nvtx_annotate.
  bool IsOpSchema(uint64_t schema) const { return op_schemas_.count(schema) != 0; }
  /// That of its events of allocators.
  bool IsMemorySchema(uint64_t schema) const { return memory_schemas_.count(schema) != 0; }
  /// Whether a domain is that of nvtx_annotate.
  bool IsOwn(uint16_t domain) const { return own_domains_.count(domain) != 0; }

  /// The names that threads were given: number of the operating system -> in StringTable.
  const std::map<uint64_t, int64_t>& thread_names() const { return thread_names_; }

 private:
  static int64_t KeyOf(uint16_t domain, uint64_t handle) {
    // A handle is a small number or an address: its upper 16 bits are free.
    return static_cast<int64_t>(handle ^ uint64_t{domain} << 48);
  }
  void AddString(uint16_t domain, const RecordParts& parts);

  NvprofWriter& writer_;
  SQLite::Statement add_category_;
  SQLite::Statement add_schema_;
  std::vector<int64_t> domains_;  // By number; -1: no name has come.
  IdMap string_indices_;
  std::vector<String> strings_;
  std::unordered_set<uint64_t> op_schemas_;
  std::unordered_set<uint64_t> memory_schemas_;
  std::unordered_set<uint16_t> own_domains_;
  std::map<uint64_t, int64_t> thread_names_;
};

}  // namespace oplens::record

#endif  // OPLENS_RECORD_IMAGE_NAMES_H_
