// What AppendDictLine writes, RecordReader reads back unchanged, whatever the texts hold.

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/literal.h"
#include "parse/model/kernel_record.h"
#include "test/support/python_literal.h"
#include "test/support/test_files.h"

namespace oplens::record_round_trip_test {
namespace {

using namespace std::string_view_literals;

/// Bytes that matter to a literal come as often as all others together.
std::string AnyText() {
  const std::string special("'\"\\\n\r\t\0\x7f\x80\xc3\xa9\xe2\x82\xac\xed\xb2\x80xuU0"sv);
  const auto byte = rc::gen::oneOf(rc::gen::arbitrary<char>(), rc::gen::elementOf(special));
  return *rc::gen::container<std::string>(byte);
}

/// A record together with the texts that it points at.
struct OwnedRecord {
  std::vector<std::vector<std::string>> lists;
  std::vector<std::string> texts;
  KernelRecord record;
};

std::optional<int64_t> MaybeInt() {
  if (*rc::gen::arbitrary<bool>()) return std::nullopt;
  return *rc::gen::arbitrary<int64_t>();
}

void FillLists(OwnedRecord* owned) {
  KernelRecord& r = owned->record;
  std::vector<std::string_view>* const lists[] = {&r.layer,   &r.trace,       &r.repr_markers,
                                                  &r.markers, &r.seq_markers, &r.mod,
                                                  &r.op,      &r.range,       &r.caller_range};
  for (size_t i = 0; i < std::size(lists); ++i) {
    owned->lists.emplace_back();
    for (int n = *rc::gen::inRange(0, 4); n > 0; --n) owned->lists.back().push_back(AnyText());
  }
  for (size_t i = 0; i < std::size(lists); ++i) {
    lists[i]->assign(owned->lists[i].begin(), owned->lists[i].end());
  }
  r.seq_ids = *rc::gen::arbitrary<std::vector<int64_t>>();
  r.alt_seq_ids = *rc::gen::arbitrary<std::vector<int64_t>>();
  r.marker_starts_ns = *rc::gen::arbitrary<std::vector<int64_t>>();
}

void FillNumbers(KernelRecord* r) {
  r->duration_ns = *rc::gen::nonNegative<int64_t>();
  for (int64_t* value : {&r->sub_seq_id, &r->thread_id, &r->device_id, &r->stream_id, &r->range_cut,
                         &r->layer_cut, &r->marker_cut, &r->grid.x, &r->grid.y, &r->grid.z,
                         &r->block.x, &r->block.y, &r->block.z}) {
    *value = *rc::gen::arbitrary<int64_t>();
  }
  for (auto* value :
       {&r->start_ns, &r->end_ns, &r->correlation_id, &r->process_id, &r->context_id,
        &r->registers_per_thread, &r->static_shared_memory_bytes, &r->dynamic_shared_memory_bytes,
        &r->shared_memory_bytes, &r->launch_start_ns, &r->launch_end_ns}) {
    *value = MaybeInt();
  }
  r->direction = static_cast<Direction>(*rc::gen::inRange(0, 3));
  r->evidence = static_cast<Evidence>(*rc::gen::inRange(0, static_cast<int>(kEvidenceCount)));
  r->confidence = static_cast<Confidence>(*rc::gen::inRange(0, 4));
  for (int i = 0; i < kReasonCount; ++i) {
    if (*rc::gen::inRange(0, 8) == 0) r->reasons.Add(static_cast<Reason>(i));
  }
}

void FillTexts(OwnedRecord* owned) {
  for (int i = 0; i < 4; ++i) owned->texts.push_back(AnyText());
  owned->record.short_name = owned->texts[0];
  owned->record.long_name = owned->texts[1];
  if (*rc::gen::arbitrary<bool>()) owned->record.launch_api = owned->texts[2];
  if (*rc::gen::arbitrary<bool>()) owned->record.device_name = owned->texts[3];
  if (*rc::gen::arbitrary<bool>()) owned->record.gpu = owned->texts[3];
}

void ExpectEqual(const KernelRecord& a, const KernelRecord& b) {
  RC_ASSERT(a.short_name == b.short_name);
  RC_ASSERT(a.duration_ns == b.duration_ns);
  RC_ASSERT(a.layer == b.layer);
  RC_ASSERT(a.trace == b.trace);
  RC_ASSERT(a.repr_markers == b.repr_markers);
  RC_ASSERT(a.markers == b.markers);
  RC_ASSERT(a.seq_markers == b.seq_markers);
  RC_ASSERT(a.seq_ids == b.seq_ids);
  RC_ASSERT(a.sub_seq_id == b.sub_seq_id);
  RC_ASSERT(a.alt_seq_ids == b.alt_seq_ids);
  RC_ASSERT(a.direction == b.direction);
  RC_ASSERT(a.mod == b.mod);
  RC_ASSERT(a.op == b.op);
  RC_ASSERT(a.thread_id == b.thread_id);
  RC_ASSERT(a.device_id == b.device_id);
  RC_ASSERT(a.stream_id == b.stream_id);
  RC_ASSERT(a.grid == b.grid);
  RC_ASSERT(a.block == b.block);
  RC_ASSERT(a.long_name == b.long_name);
  RC_ASSERT(a.start_ns == b.start_ns);
  RC_ASSERT(a.end_ns == b.end_ns);
  RC_ASSERT(a.correlation_id == b.correlation_id);
  RC_ASSERT(a.process_id == b.process_id);
  RC_ASSERT(a.context_id == b.context_id);
  RC_ASSERT(a.registers_per_thread == b.registers_per_thread);
  RC_ASSERT(a.static_shared_memory_bytes == b.static_shared_memory_bytes);
  RC_ASSERT(a.dynamic_shared_memory_bytes == b.dynamic_shared_memory_bytes);
  RC_ASSERT(a.launch_api == b.launch_api);
  RC_ASSERT(a.launch_start_ns == b.launch_start_ns);
  RC_ASSERT(a.launch_end_ns == b.launch_end_ns);
  RC_ASSERT(a.device_name == b.device_name);
  RC_ASSERT(a.gpu == b.gpu);
  RC_ASSERT(a.shared_memory_bytes == b.shared_memory_bytes);
  RC_ASSERT(a.evidence == b.evidence);
  RC_ASSERT(a.confidence == b.confidence);
  RC_ASSERT(a.range == b.range);
  RC_ASSERT(a.range_cut == b.range_cut);
  RC_ASSERT(a.layer_cut == b.layer_cut);
  RC_ASSERT(a.marker_cut == b.marker_cut);
  RC_ASSERT(a.caller_range == b.caller_range);
  RC_ASSERT(a.marker_starts_ns == b.marker_starts_ns);
  RC_ASSERT(a.reasons == b.reasons);
}

RC_GTEST_PROP(RecordRoundTrip, GivesTheSameRecord, ()) {
  OwnedRecord owned;
  FillLists(&owned);
  FillNumbers(&owned.record);
  FillTexts(&owned);
  std::string line;
  AppendDictLine(owned.record, &line);
  RC_ASSERT(line.back() == '\n');
  line.pop_back();
  RC_ASSERT(line.find('\n') == line.npos);

  RecordReader reader;
  KernelRecord read;
  std::string error;
  RC_ASSERT(reader.Read(line, &read, &error));
  ExpectEqual(owned.record, read);
}

/// A record whose long name is `text`.
std::string LineOf(std::string_view text) {
  KernelRecord record;
  record.long_name = text;
  std::string line;
  AppendDictLine(record, &line);
  return line;
}

void ExpectSameText(std::string_view text) {
  const std::string line = LineOf(text);
  RecordReader reader;
  KernelRecord read;
  std::string error;
  ASSERT_TRUE(reader.Read(std::string_view(line).substr(0, line.size() - 1), &read, &error))
      << error;
  EXPECT_EQ(read.long_name, text);
}

TEST(RecordRoundTrip, KeepsEveryByteAndEveryPairOfBytes) {
  for (int first = 0; first < 256; ++first) {
    ExpectSameText(std::string(1, static_cast<char>(first)));
    std::string pairs;
    for (int second = 0; second < 256; ++second) {
      pairs.push_back(static_cast<char>(first));
      pairs.push_back(static_cast<char>(second));
    }
    ExpectSameText(pairs);
  }
}

/// UTF-8 of a code point, as it stands in a trace.
std::string Utf8(uint32_t code) {
  std::string storage;
  std::string_view text;
  const std::string literal = fmt::format("'\\U{:08x}'", code);
  LiteralScanner(literal).ReadString(&storage, &text);
  return std::string(text);
}

TEST(RecordRoundTrip, KeepsEveryCodePoint) {
  for (uint32_t block = 0; block <= 0x10ffff; block += 0x800) {
    std::string text;
    for (uint32_t code = block; code < block + 0x800; ++code) text += Utf8(code);
    ExpectSameText(text);
  }
}

// Python is the judge of what is a literal; its own values come back as the same lines.
TEST(RecordRoundTrip, PythonReadsEveryLine) {
  if (!test::HavePython()) GTEST_SKIP() << "python3 was not found";
  std::string lines;
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    for (const std::string& text : {std::string(1, c), std::string("'") + c, std::string("'\"") + c,
                                    std::string("\\") + c, std::string("\xe2\x82") + c}) {
      lines += LineOf(text);
    }
  }
  const auto path = test::TestDir() / "lines.dict";
  test::WriteFile(path, lines);
  EXPECT_EQ(test::CheckPythonDictLines(path), "");
}

}  // namespace
}  // namespace oplens::record_round_trip_test
