#include "record/process_conversion.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "parse/readers/nvprof/nvprof_schema.h"
#include "record/cycle_files.h"
#include "record/durable_file.h"
#include "record/unfinished_launches.h"

namespace oplens::record {
namespace {

namespace fs = std::filesystem;

Replace Replaced(bool force) { return force ? Replace::kFile : Replace::kNothing; }

std::string DescribeGpu(const ProcessSummary& summary) {
  switch (summary.cuda) {
    case spool::CudaState::kRecording:
      return "recorded";
    case spool::CudaState::kFailed:
      return fmt::format("failed: {}: {} ({})", summary.cupti_step, summary.cupti_message,
                         summary.cupti_result);
    default:
      return "unavailable";
  }
}

/// Ranks states of several images: the higher one is more informative.
int Weight(spool::CudaState state) {
  switch (state) {
    case spool::CudaState::kRecording:
      return 2;
    case spool::CudaState::kFailed:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

template <typename F>
auto ProcessConversion::Guard(F f) {
  try {
    return f();
  } catch (const SQLite::Exception& error) {
    throw Error(part_.string(), fmt::format("cannot be written: {}", error.what()),
                "the spool stays: make room or check the folder's permissions, then give "
                "--recover the name of the database");
  }
}

ProcessConversion::ProcessConversion(int64_t process_id, std::string output, fs::path part,
                                     const ConversionOptions& options)
    : process_id_(process_id),
      output_(std::move(output)),
      part_(std::move(part)),
      options_(options) {
  CheckPlace(output_, Replaced(options_.force));
  Guard([this] {
    writer_.emplace(part_);
    rows_.emplace(&*writer_);
  });
}

ProcessConversion::~ProcessConversion() = default;

void ProcessConversion::AddProcessName(const std::string& command) {
  const ThreadObject object = {static_cast<uint32_t>(process_id_), 0, 0};
  SQLite::Statement add =
      writer_->PrepareInsert(NvprofTableName("NAME"), "objectKind, objectId, name");
  add.bind(1, parse::nvprof::kObjectProcess);
  add.bind(2, object.data(), sizeof object);
  add.bind(3, writer_->Intern(command));
  add.exec();
}

void ProcessConversion::AddImage(ImageFolder folder, PageFacts facts) {
  Guard([&] {
    AddProcessName(facts.command);
    parent_id_ = facts.parent_id;
    auto conversion = std::make_unique<ImageConversion>(std::move(folder), &*writer_,
                                                        &rows_->markers, &rows_->activity);
    rows_->images.push_back({std::move(conversion), std::move(facts)});
  });
}

bool ProcessConversion::Advance(Deadline* deadline) {
  return Guard([&] {
    bool more = false;
    for (Image& image : rows_->images) {
      if (PageFacts facts = ReadPage(image.conversion->folder().path); facts.known) {
        image.facts = std::move(facts);
      }
      more |= image.conversion->Advance(image.facts.streams, deadline);
    }
    if (const uint64_t bytes = bytes_read(); bytes != committed_bytes_) {
      rows_->markers.Flush();
      writer_->Commit();
      committed_bytes_ = bytes;
    }
    return more;
  });
}

void ProcessConversion::End() {
  for (Image& image : rows_->images) image.conversion->End();
}

uint64_t ProcessConversion::bytes_read() const {
  uint64_t bytes = 0;
  if (!rows_) return bytes;
  for (const Image& image : rows_->images) bytes += image.conversion->bytes_read();
  return bytes;
}

void ProcessConversion::SumUpCutOff(size_t i, ProcessSummary* summary) {
  const PageFacts& facts = rows_->images[i].facts;
  const bool ended = facts.state == spool::ProcessState::kEnded;
  summary->ended &= ended;
  if (facts.cuda != spool::CudaState::kRecording || (ended && !facts.gpu_busy_at_end)) return;
  summary->gpu_cut_off |= !ended;
  summary->gpu_busy_at_end |= facts.gpu_busy_at_end;
  const int64_t until_ns = i + 1 < rows_->images.size() ? rows_->images[i + 1].facts.start_ns
                                                        : std::numeric_limits<int64_t>::max();
  const int64_t from_ns = i == 0 ? std::numeric_limits<int64_t>::min() : facts.start_ns;
  summary->unfinished_launches += CountUnfinishedLaunches(&*writer_, from_ns, until_ns);
}

void ProcessConversion::SumUp(ProcessSummary* summary, EventCounts* counts) {
  using spool::Table;
  std::set<std::string> notes;
  summary->process_id = process_id_;
  summary->output = output_;
  for (size_t i = 0; i < rows_->images.size(); ++i) {
    Image& image = rows_->images[i];
    SumUpCutOff(i, summary);
    const EventCounts events = image.conversion->Finish();
    counts->ranges += events.ranges;
    counts->marks += events.marks;
    counts->open_ranges += events.open_ranges;
    counts->unmatched += events.unmatched;
    counts->unknown_strings += events.unknown_strings;
    counts->bad_payloads += events.bad_payloads;
    counts->bad_allocations += events.bad_allocations;
    counts->left_out += events.left_out;
    const PageFacts& facts = image.facts;
    summary->lost_events += facts.lost_events;
    summary->handler_events += facts.handler_events;
    summary->child_events += facts.child_events;
    summary->cut_texts += facts.cut_texts;
    summary->waits_for_start |= facts.waits_for_start;
    summary->lost_rows += facts.lost_rows;
    summary->cupti_lost += facts.cupti_lost;
    summary->odd_rows += facts.odd_rows + image.conversion->odd_rows();
    if (summary->first_error == 0) summary->first_error = facts.first_error;
    if (i == 0 || Weight(facts.cuda) > Weight(summary->cuda)) {
      summary->cuda = facts.cuda;
      summary->cupti_result = facts.cupti_result;
      summary->cupti_version = facts.cupti_version;
      summary->cupti_step = facts.cupti_step;
      summary->cupti_message = facts.cupti_message;
    }
    if (summary->command.empty()) summary->command = facts.command;
    notes.insert(image.conversion->notes().begin(), image.conversion->notes().end());
    const std::string damage = facts.known ? image.conversion->damage() : facts.damage;
    if (!damage.empty()) summary->damage += (summary->damage.empty() ? "" : "; ") + damage;
  }
  summary->notes.assign(notes.begin(), notes.end());
  summary->ranges = counts->ranges;
  summary->marks = counts->marks;
  summary->open_ranges = counts->open_ranges;
  const ActivityRows& activity = rows_->activity;
  summary->kernels = activity.CountOf(Table::kConcurrentKernel);
  summary->copies = activity.Sum({Table::kMemcpy, Table::kMemcpy2, Table::kMemset});
  summary->calls = activity.Sum({Table::kRuntime, Table::kDriver});
  const auto note = [&](int64_t count, std::string_view what) {
    if (count > 0) summary->notes.push_back(fmt::format("{} {}", count, what));
  };
  note(counts->unmatched, "ends of ranges had no start and were left out");
  note(counts->unknown_strings, "texts of ranges were not found");
  note(counts->bad_payloads, "payloads of ops were damaged; the ranges keep their names");
  note(counts->bad_allocations, "events of allocators were damaged and left out");
}

void ProcessConversion::AddRankVariables() {
  std::map<std::string, int64_t> variables;
  for (const Image& image : rows_->images) {
    if (!image.facts.rank_variables.empty()) variables = image.facts.rank_variables;
  }
  for (const auto& [name, value] : variables) {
    writer_->AddMeta(std::string(parse::nvprof::kVariablePrefix) + name, value);
  }
}

void ProcessConversion::AddFacts(const ProcessSummary& summary, const EventCounts& counts) {
  NvprofWriter& writer = *writer_;
  writer.AddMeta("version", options_.version);
  writer.AddMeta("format_version", kOwnVersion);
  writer.AddMeta("process_id", summary.process_id);
  writer.AddMeta("parent_id", parent_id_);
  writer.AddMeta("recovered", options_.recovered ? 1 : 0);
  writer.AddMeta("ended", summary.ended ? 1 : 0);
  writer.AddMeta("gpu_busy_at_end", summary.gpu_busy_at_end ? 1 : 0);
  writer.AddMeta("unfinished_launches", summary.unfinished_launches);
  writer.AddMeta("lost_events", summary.lost_events);
  writer.AddMeta("handler_events", summary.handler_events);
  writer.AddMeta("child_events", summary.child_events);
  writer.AddMeta("cut_texts", summary.cut_texts);
  writer.AddMeta("lost_rows", summary.lost_rows);
  writer.AddMeta("cupti_lost", summary.cupti_lost);
  writer.AddMeta("odd_rows", summary.odd_rows);
  writer.AddMeta("first_error", summary.first_error);
  writer.AddMeta("open_ranges", summary.open_ranges);
  writer.AddMeta("unmatched_ends", counts.unmatched);
  writer.AddMeta("left_out_ranges", counts.left_out);
  writer.AddMeta("gpu", DescribeGpu(summary));
  writer.AddMeta("cupti_version", summary.cupti_version);
  writer.AddMeta("damage", summary.damage);
  AddRankVariables();
  for (const std::string& note : summary.notes) writer.AddNote(note);
}

bool ProcessConversion::IsReference() const {
  return std::any_of(rows_->images.begin(), rows_->images.end(),
                     [](const Image& image) { return image.facts.reference; });
}

std::vector<Cycle> ProcessConversion::TakeCycles(ProcessSummary* summary) const {
  std::vector<CycleMark> marks;
  for (const Image& image : rows_->images) {
    const std::vector<CycleMark>& more = image.conversion->cycle_marks();
    marks.insert(marks.end(), more.begin(), more.end());
  }
  std::vector<Cycle> cycles = CyclesOf(marks);
  summary->scheduled = !marks.empty();
  for (const Cycle& cycle : cycles) {
    summary->cycle_outputs.push_back(CycleOutput(output_, cycle.number));
    if (!cycle.complete) ++summary->incomplete_cycles;
    summary->joined_cycles += cycle.last_number - cycle.number;
  }
  return cycles;
}

std::vector<fs::path> ProcessConversion::Split(const std::vector<Cycle>& cycles,
                                               const std::function<void(double)>& progress,
                                               ProcessSummary* summary) {
  // Check before writing: either all files are created or none.
  for (const std::string& output : summary->cycle_outputs) {
    CheckPlace(output, Replaced(options_.force));
  }
  const CycleCounts inside = AssignToCycles(cycles, &*writer_);
  summary->kernels_outside = summary->kernels - inside.kernels;
  summary->ranges_outside = summary->ranges - inside.ranges;
  writer_->Close();
  writer_.reset();
  std::vector<fs::path> parts;
  for (size_t i = 0; i < cycles.size(); ++i) {
    fs::path part = part_;
    part.replace_extension(fmt::format("cycle{}.part", cycles[i].number));
    parts.push_back(part);
    WriteCycle(part_, cycles, i, part, [&](double done) {
      if (progress) {
        progress((static_cast<double>(i) + done) / static_cast<double>(cycles.size()));
      }
    });
  }
  fs::remove(part_);
  return parts;
}

std::vector<fs::path> ProcessConversion::KeepCaptures(const std::function<void(double)>& progress,
                                                      ProcessSummary* summary) {
  const CycleCounts inside = AssignToCaptures(&*writer_);
  summary->kernels = inside.kernels;
  summary->ranges = inside.ranges;
  writer_->Close();
  writer_.reset();
  fs::path part = part_;
  part.replace_extension("captures.part");
  WriteCaptures(part_, part, progress);
  fs::remove(part_);
  return {part};
}

ProcessSummary ProcessConversion::Finish(const std::function<void(double)>& progress) {
  ProcessSummary summary;
  std::vector<fs::path> parts = {part_};
  Guard([&] {
    EventCounts counts;
    SumUp(&summary, &counts);
    rows_->markers.Flush();
    AddFacts(summary, counts);
    const bool reference = IsReference();
    const std::vector<Cycle> cycles = reference ? std::vector<Cycle>() : TakeCycles(&summary);
    rows_.reset();
    if (reference) {
      parts = KeepCaptures(progress, &summary);
    } else if (cycles.empty()) {
      writer_->Finish(progress);
      writer_.reset();
    } else {
      parts = Split(cycles, progress, &summary);
    }
  });
  for (size_t i = 0; i < parts.size(); ++i) {
    PutInPlace(parts[i], summary.cycle_outputs.empty() ? output_ : summary.cycle_outputs[i],
               Replaced(options_.force));
  }
  return summary;
}

}  // namespace oplens::record
