#include "record/image_names.h"

#include <fmt/format.h>

#include "nvtx_annotate/vocabulary/marker_format.h"

namespace oplens::record {

ImageNames::ImageNames(NvprofWriter* writer)
    : writer_(*writer),
      add_category_(writer->PrepareInsert("OPLENS_CATEGORY", "domain, category, name")),
      add_schema_(writer->PrepareInsert("OPLENS_SCHEMA", "schemaId, domain, name")),
      domains_(1, 0) {}

int64_t ImageNames::DomainOf(uint16_t domain) {
  if (domain >= domains_.size()) domains_.resize(size_t{domain} + 1, -1);
  int64_t& id = domains_[domain];
  if (id < 0) id = writer_.Intern(fmt::format("<domain {}>", domain));
  return id;
}

const ImageNames::String* ImageNames::Find(uint16_t domain, uint64_t handle) const {
  const uint32_t index = string_indices_.Find(KeyOf(domain, handle));
  return index == IdMap::kNone ? nullptr : &strings_[index];
}

void ImageNames::AddString(uint16_t domain, const RecordParts& parts) {
  const auto next = static_cast<uint32_t>(strings_.size());
  const uint32_t index = string_indices_.FindOrInsert(KeyOf(domain, parts.string), next);
  if (index == next) strings_.emplace_back();
  strings_[index] = {std::string(parts.text.substr(0, kMostBytes)), writer_.Intern(parts.text)};
}

bool ImageNames::Add(const spool::RecordHead& head, const unsigned char* body, size_t size) {
  RecordParts parts;
  if (!ReadParts(head.parts, body, size, &parts)) return false;
  const auto add = [&](SQLite::Statement& statement, int64_t a, int64_t b) {
    statement.bind(1, a);
    statement.bind(2, b);
    statement.bind(3, writer_.Intern(parts.text));
    statement.exec();
    statement.reset();
  };
  switch (head.kind) {
    case spool::RecordKind::kDomain:
      if (head.domain == 0) return false;
      if (head.domain >= domains_.size()) domains_.resize(size_t{head.domain} + 1, -1);
      domains_[head.domain] = writer_.Intern(parts.text);
      if (parts.text == markers::kDomain) own_domains_.insert(head.domain);
      return true;
    case spool::RecordKind::kString:
      AddString(head.domain, parts);
      return true;
    case spool::RecordKind::kCategory:
      add(add_category_, DomainOf(head.domain), parts.look.category);
      return true;
    case spool::RecordKind::kThreadName:
      thread_names_[parts.range] = writer_.Intern(parts.text);
      return true;
    case spool::RecordKind::kSchema:
      add(add_schema_, static_cast<int64_t>(parts.range), DomainOf(head.domain));
      if (parts.text == markers::kSchemaName) op_schemas_.insert(parts.range);
      if (parts.text == markers::kMemorySchemaName) memory_schemas_.insert(parts.range);
      return true;
    default:
      return false;
  }
}

}  // namespace oplens::record
