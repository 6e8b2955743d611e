#include "record/event_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "nvtx_annotate/payload.h"
#include "nvtx_annotate/vocabulary/marker_format.h"
#include "parse/readers/nvprof/nvprof_schema.h"

namespace oplens::record {
namespace {

using parse::nvprof::kMarkerEnd;
using parse::nvprof::kMarkerInstant;
using parse::nvprof::kMarkerStart;

constexpr int64_t kNoText = 0;  // StringTable's row for NULL.

/// Packs the first id of a pushed range with its number of rows (two bits).
constexpr int64_t Pack(int64_t id, int count) { return id << 2 | count; }

}  // namespace

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

class EventRows::Thread {
 public:
  Thread(uint32_t process_id, uint32_t thread_id, uint32_t os_id)
      : object{process_id, thread_id, 0}, os_thread_id(os_id) {}

  struct Stack {
    uint16_t domain = 0;
    std::vector<int64_t> open;
  };

  /// Push and pop match within a domain.
  Stack& StackOf(uint16_t domain) {
    if (last_ < stacks_.size() && stacks_[last_].domain == domain) return stacks_[last_];
    const auto next = static_cast<uint32_t>(stacks_.size());
    last_ = stack_indices_.FindOrInsert(domain, next);
    if (last_ == next) stacks_.push_back({domain, {}});
    return stacks_[last_];
  }

  int64_t CountOpen() const {
    size_t count = 0;
    for (const Stack& stack : stacks_) count += stack.open.size();
    return static_cast<int64_t>(count);
  }

  const ThreadObject object;
  const uint32_t os_thread_id;

 private:
  std::vector<Stack> stacks_;
  IdMap stack_indices_;
  uint32_t last_ = 0;
};

EventRows::EventRows(NvprofWriter* writer, MarkerRows* rows, ImageNames* names, int64_t process_id,
                     std::function<void()> more_names)
    : writer_(*writer),
      rows_(*rows),
      names_(*names),
      process_id_(static_cast<uint32_t>(process_id)),
      more_names_(std::move(more_names)),
      rendered_(3 * markers::kTextBufferBytes) {}

EventRows::~EventRows() = default;

EventRows::Thread* EventRows::FindThread(uint32_t thread_id, uint32_t os_thread_id) {
  const auto key = static_cast<int64_t>(uint64_t{thread_id} << 32 | os_thread_id);
  const auto next = static_cast<uint32_t>(threads_.size());
  const uint32_t index = thread_indices_.FindOrInsert(key, next);
  if (index == next) {
    threads_.push_back(std::make_unique<Thread>(process_id_, thread_id, os_thread_id));
  }
  return threads_[index].get();
}

bool EventRows::Add(Thread* thread, const spool::RecordHead& head, const unsigned char* body,
                    size_t size) {
  if (head.kind == spool::RecordKind::kPop) {
    Pop(thread, head);
    return true;
  }
  RecordParts parts;
  if (!ReadParts(head.parts, body, size, &parts)) return false;
  switch (head.kind) {
    case spool::RecordKind::kPush:
      Push(thread, head, parts);
      return true;
    case spool::RecordKind::kStart:
      Start(thread, head, parts);
      return true;
    case spool::RecordKind::kEnd:
      End(thread, head, parts);
      return true;
    case spool::RecordKind::kMark:
      Mark(thread, head, parts);
      return true;
    default:
      return false;
  }
}

const ImageNames::String* EventRows::FindString(uint16_t domain, uint64_t handle) {
  if (const ImageNames::String* const found = names_.Find(domain, handle)) return found;
  more_names_();
  return names_.Find(domain, handle);
}

int64_t EventRows::DomainOf(uint16_t domain) {
  if (!names_.Knows(domain)) more_names_();
  return names_.DomainOf(domain);
}

int64_t EventRows::TextOf(uint16_t domain, const RecordParts& parts) {
  if (parts.Has(spool::kStringPart)) {
    if (const ImageNames::String* const string = FindString(domain, parts.string)) {
      return string->id;
    }
    ++counts_.unknown_strings;
    return writer_.Intern("<unknown>");
  }
  return parts.Has(spool::kTextPart) ? writer_.Intern(parts.text) : kNoText;
}

bool EventRows::IsOpPayload(uint64_t schema) const {
  return schema >> 48 == markers::kSchemaIdTag && names_.IsOpSchema(schema);
}

bool EventRows::Render(uint16_t domain, const RecordParts& parts, std::string_view payload,
                       Texts* texts) {
  if (parts.Has(spool::kStringPart)) {
    const ImageNames::String* const string = FindString(domain, parts.string);
    if (string == nullptr) return false;
    message_ = string->text;
  } else {
    message_ = parts.text;
  }
  markers::RenderedMarker marker;
  marker.trace = rendered_.data();
  marker.main = marker.trace + markers::kTextBufferBytes;
  marker.sequence = marker.main + markers::kTextBufferBytes;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(payload.data());
  if (!markers::RenderPayload(message_.c_str(), bytes, payload.size(), markers::Facts::kApart,
                              &marker)) {
    return false;
  }
  const auto add = [&](const char* text, size_t size) {
    if (size > 0) texts->ids[texts->count++] = writer_.Intern({text, size});
  };
  add(marker.trace, marker.trace_size);
  texts->main = marker.main_size > 0 ? texts->count : -1;
  add(marker.main, marker.main_size);
  add(marker.sequence, marker.sequence_size);
  return texts->count > 0;
}

bool EventRows::RenderOnce(uint16_t domain, const RecordParts& parts, std::string_view payload,
                           const markers::PayloadFacts& head, Texts* texts) {
  const bool has_number = (head.flags & markers::kSeqOnlyFlag) != 0;
  if (has_number || !parts.Has(spool::kStringPart)) return Render(domain, parts, payload, texts);
  payload_key_.assign(reinterpret_cast<const char*>(&domain), sizeof domain);
  payload_key_.append(reinterpret_cast<const char*>(&parts.string), sizeof parts.string);
  payload_key_.push_back(static_cast<char>(head.flags));
  payload_key_.append(reinterpret_cast<const char*>(&head.arg_count), sizeof head.arg_count);
  payload_key_.append(payload.substr(head.args_at, head.end - head.args_at));
  bool is_new = false;
  int64_t& known = known_payloads_.Get(payload_key_, &is_new);
  if (is_new) {
    const bool good = Render(domain, parts, payload, texts);
    known = good ? static_cast<int64_t>(rendered_texts_.size()) + 1 : 0;
    if (good) rendered_texts_.push_back(*texts);
    return good;
  }
  if (known == 0) return false;
  *texts = rendered_texts_[static_cast<size_t>(known - 1)];
  return true;
}

EventRows::Texts EventRows::TextsOf(uint16_t domain, const RecordParts& parts,
                                    std::optional<markers::CallFacts>* call) {
  Texts texts;
  PayloadCursor cursor(parts);
  uint64_t schema = 0;
  std::string_view bytes;
  while (cursor.Next(&schema, &bytes)) {
    if (!names_.IsOpSchema(schema) && schema >> 48 == markers::kSchemaIdTag) more_names_();
    if (!IsOpPayload(schema)) continue;
    markers::PayloadFacts head;
    const auto* const data = reinterpret_cast<const unsigned char*>(bytes.data());
    if (markers::ReadFacts(data, bytes.size(), &head) &&
        RenderOnce(domain, parts, bytes, head, &texts)) {
      if (texts.main >= 0) *call = head.facts;
      return texts;
    }
    ++counts_.bad_payloads;
  }
  return {{TextOf(domain, parts)}, 1, -1};
}

void EventRows::AddDetails(int64_t id, const RecordParts& parts, bool rendered) {
  if (parts.Has(spool::kLookPart | spool::kValuePart)) rows_.AddData(id, parts);
  PayloadCursor cursor(parts);
  uint64_t schema = 0;
  std::string_view bytes;
  while (cursor.Next(&schema, &bytes)) {
    if (!rendered || !IsOpPayload(schema)) rows_.AddPayload(id, schema, bytes);
  }
}

void EventRows::Push(Thread* thread, const spool::RecordHead& head, const RecordParts& parts) {
  std::optional<markers::CallFacts> call;
  const Texts texts = TextsOf(head.domain, parts, &call);
  const int64_t domain = DomainOf(head.domain);
  const int64_t first = rows_.TakeIds(texts.count);
  // Outermost first, so that ranges with equal times nest by id.
  for (int i = 0; i < texts.count; ++i) {
    rows_.Add(kMarkerStart, head.time_ns, first + i, thread->object, texts.ids[i], domain);
  }
  const bool rendered = call.has_value();
  if (rendered) rows_.AddCall(first + texts.main, *call);
  if (parts.present != 0) AddDetails(first + (rendered ? texts.main : 0), parts, rendered);
  thread->StackOf(head.domain).open.push_back(Pack(first, texts.count));
  counts_.ranges += texts.count;
}

void EventRows::Pop(Thread* thread, const spool::RecordHead& head) {
  std::vector<int64_t>& open = thread->StackOf(head.domain).open;
  if (open.empty()) {
    ++counts_.unmatched;
    return;
  }
  const int64_t packed = open.back();
  open.pop_back();
  const int64_t first = packed >> 2;
  const int64_t domain = DomainOf(head.domain);
  for (int64_t id = first + (packed & 3); id-- > first;) {
    rows_.Add(kMarkerEnd, head.time_ns, id, thread->object, kNoText, domain);
  }
}

void EventRows::Start(Thread* thread, const spool::RecordHead& head, const RecordParts& parts) {
  const int64_t id = rows_.TakeIds(1);
  const int64_t text = TextOf(head.domain, parts);
  const int64_t domain = DomainOf(head.domain);
  rows_.Add(kMarkerStart, head.time_ns, id, thread->object, text, domain);
  AddDetails(id, parts, false);
  ++counts_.ranges;
  if (const auto early = early_ends_.find(parts.range); early != early_ends_.end()) {
    rows_.Add(kMarkerEnd, early->second.time_ns, id, early->second.thread->object, kNoText, domain);
    early_ends_.erase(early);
    return;
  }
  const auto [place, is_new] = started_.try_emplace(parts.range, Started{id, domain});
  if (is_new) return;
  ++counts_.open_ranges;  // The previous range can no longer be ended.
  place->second = {id, domain};
}

void EventRows::End(Thread* thread, const spool::RecordHead& head, const RecordParts& parts) {
  const auto started = started_.find(parts.range);
  if (started == started_.end()) {
    if (!early_ends_.try_emplace(parts.range, EarlyEnd{head.time_ns, thread}).second) {
      ++counts_.unmatched;
    }
    return;
  }
  const Started& range = started->second;
  rows_.Add(kMarkerEnd, head.time_ns, range.id, thread->object, kNoText, range.domain);
  started_.erase(started);
}

bool EventRows::TakeAllocation(Thread* thread, const spool::RecordHead& head,
                               const RecordParts& parts) {
  PayloadCursor cursor(parts);
  uint64_t schema = 0;
  std::string_view bytes;
  while (cursor.Next(&schema, &bytes)) {
    if (schema >> 48 != markers::kSchemaIdTag) continue;
    if (!names_.IsMemorySchema(schema)) more_names_();
    if (!names_.IsMemorySchema(schema)) continue;
    if (!rows_.AddAllocation(head.time_ns, thread->object, bytes)) ++counts_.bad_allocations;
    return true;
  }
  return false;
}

void EventRows::Mark(Thread* thread, const spool::RecordHead& head, const RecordParts& parts) {
  if (TakeAllocation(thread, head, parts)) return;
  const int64_t id = rows_.TakeIds(1);
  const int64_t text = TextOf(head.domain, parts);
  CountLeftOut(parts);
  rows_.Add(kMarkerInstant, head.time_ns, id, thread->object, text, DomainOf(head.domain));
  AddDetails(id, parts, false);
  ++counts_.marks;
  if (!names_.IsOwn(head.domain)) return;
  if (const auto mark = CycleMark::Read(head.time_ns, parts.text)) cycle_marks_.push_back(*mark);
}

/// Only for marks of the domain "oplens": elsewhere the same text would mean something else.
void EventRows::CountLeftOut(const RecordParts& parts) {
  if (!parts.Has(spool::kTextPart) || !parts.text.starts_with(markers::kLeftOutMark)) return;
  const std::string_view number = parts.text.substr(markers::kLeftOutMark.size());
  int64_t count = 0;
  std::from_chars(number.data(), number.data() + number.size(), count);
  counts_.left_out = std::max(counts_.left_out, count);
}

EventCounts EventRows::Finish() {
  std::map<uint64_t, int64_t> names = names_.thread_names();
  SQLite::Statement add_name =
      writer_.PrepareInsert(NvprofTableName("NAME"), "objectKind, objectId, name");
  SQLite::Statement add_thread =
      writer_.PrepareInsert("OPLENS_THREAD", "threadId, osThreadId, name");
  const auto add = [&](const Thread* thread, uint64_t os_thread_id, int64_t name) {
    add_thread.bind(1);
    if (thread != nullptr) add_thread.bind(1, thread->object[1]);
    add_thread.bind(2, static_cast<int64_t>(os_thread_id));
    add_thread.bind(3, name);
    add_thread.exec();
    add_thread.reset();
    if (thread == nullptr || name == kNoText) return;
    add_name.bind(1, parse::nvprof::kObjectThread);
    add_name.bindNoCopy(2, thread->object.data(), sizeof thread->object);
    add_name.bind(3, name);
    add_name.exec();
    add_name.reset();
  };
  for (const std::unique_ptr<Thread>& thread : threads_) {
    counts_.open_ranges += thread->CountOpen();
    const auto name = names_.thread_names().find(thread->os_thread_id);
    const bool named = name != names_.thread_names().end();
    add(thread.get(), thread->os_thread_id, named ? name->second : kNoText);
    names.erase(thread->os_thread_id);
  }
  // Threads without events: their id in the other tables is unknown.
  for (const auto& [os_thread_id, name] : names) add(nullptr, os_thread_id, name);
  counts_.open_ranges += static_cast<int64_t>(started_.size());
  counts_.unmatched += static_cast<int64_t>(early_ends_.size());
  return counts_;
}

}  // namespace oplens::record
