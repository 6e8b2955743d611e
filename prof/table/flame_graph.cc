#include "prof/table/flame_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/append_format.h"
#include "base/ascii.h"
#include "base/error.h"
#include "base/utf8.h"
#include "prof/table/display_width.h"
#include "prof/table/fitted_text.h"

namespace oplens::prof {
namespace {

// In pixels.
constexpr double kFlameWidth = 1200;
constexpr double kLevelHeight = 17;
constexpr double kMargin = 10;
constexpr double kHead = 64;  // Title, what is merged, legend.
constexpr double kLeastFrame = 0.5;
constexpr double kCharacter = 6.7;
constexpr size_t kMostFrameName = 300;  // Columns.

constexpr Field kFrameField = {"frame", "Frame", "", FieldType::kText, 0, ""};

/// What a frame is, as its name tells.
struct FrameKind {
  std::string_view word;
  std::string_view colour;
  bool (*is)(std::string_view name);
};

bool Has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The first that fits.
constexpr FrameKind kFrameKinds[] = {
    {"not named", "#c9c9c9", [](std::string_view name) { return name.starts_with('('); }},
    {"communication", "#d59ad8",
     [](std::string_view name) {
       const std::string lower = ToLowerText(name);
       return Has(lower, "nccl") || Has(lower, "c10d") || Has(lower, "allreduce") ||
              Has(lower, "all_reduce") || Has(lower, "allgather") || Has(lower, "all_gather") ||
              Has(lower, "reduce_scatter");
     }},
    {"backward", "#f2a65a", [](std::string_view name) { return Has(name, "Backward"); }},
    {"Python", "#8fb8de", [](std::string_view name) { return Has(name, ".py"); }},
    {"operator", "#f5d76e", [](std::string_view name) { return Has(name, "::"); }},
    {"other name", "#9ed29e", [](std::string_view) { return true; }},
};

size_t KindOfFrame(std::string_view name) {
  size_t kind = 0;
  while (!kFrameKinds[kind].is(name)) ++kind;
  return kind;
}

/// Appends text of anyone to XML.
void AppendXml(std::string_view text, std::string* out) {
  std::string valid;
  AppendUtf8(text, Utf8Hidden::kControls, &valid);
  for (size_t i = 0; i < valid.size(); ++i) {
    switch (valid[i]) {
      case '&':
        out->append("&amp;");
        break;
      case '<':
        out->append("&lt;");
        break;
      case '>':
        out->append("&gt;");
        break;
      case '"':
        out->append("&quot;");
        break;
      default: {
        // U+FFFE and U+FFFF are no characters of XML.
        const std::string_view rest = std::string_view(valid).substr(i, 3);
        if (rest == "\xEF\xBF\xBE" || rest == "\xEF\xBF\xBF") {
          out->push_back('_');
          i += 2;
        } else {
          out->push_back(valid[i]);
        }
      }
    }
  }
}

/// A frame with the calls above it.
struct FlameFrame {
  std::string_view name;
  size_t parent = 0;
  size_t level = 0;
  double total = 0;  ///< ns, with what is inside; a double holds the sum of any number of stacks.
};

/// Stacks as a tree; a parent stands before its children.
class FlameTree {
 public:
  explicit FlameTree(std::string_view stacks) {
    frames_.push_back({"all", 0, 0, 0});
    while (!stacks.empty()) {
      const size_t end = std::min(stacks.find('\n'), stacks.size());
      Add(stacks.substr(0, end));
      stacks.remove_prefix(std::min(end + 1, stacks.size()));
    }
    for (size_t i = frames_.size(); i-- > 1;) frames_[frames_[i].parent].total += frames_[i].total;
  }

  std::span<const FlameFrame> frames() const { return frames_; }
  size_t unread() const { return unread_; }
  size_t too_deep() const { return too_deep_; }

 private:
  void Add(std::string_view line) {
    const size_t blank = line.rfind(' ');
    const std::string_view digits =
        blank == std::string_view::npos ? std::string_view() : line.substr(blank + 1);
    int64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < 0) {
      ++unread_;
      return;
    }
    line = line.substr(0, blank);
    // Lines come in the order of the tree: a frame is that of the line before, or new.
    size_t level = 1;
    size_t frame = 0;
    for (bool more = true; more; ++level) {
      const size_t cut = line.find(';');
      more = cut != std::string_view::npos;
      if (level > kMostFlameLevels) {
        ++too_deep_;
        break;
      }
      const std::string_view name = line.substr(0, cut);
      if (more) line.remove_prefix(cut + 1);
      if (level < open_.size() && frames_[open_[level]].name == name) {
        frame = open_[level];
        continue;
      }
      open_.resize(level, 0);
      frames_.push_back({name, frame, level, 0});
      frame = frames_.size() - 1;
      open_.push_back(frame);
    }
    frames_[frame].total += static_cast<double>(value);
  }

  std::vector<FlameFrame> frames_;
  std::vector<size_t> open_ = {0};  // The frames of the line before, by level.
  size_t unread_ = 0;
  size_t too_deep_ = 0;
};

class FlamePicture {
 public:
  FlamePicture(const FlameTree& tree, std::string_view title)
      : tree_(tree), frames_(tree.frames()), title_(title) {
    least_ = LeastTotal();
    for (const FlameFrame& frame : frames_) {
      if (frame.total >= least_) levels_ = std::max(levels_, frame.level + 1);
    }
  }

  std::string Draw() {
    const double height = kHead + static_cast<double>(levels_) * kLevelHeight + kMargin;
    AppendFormat(&out_,
                 "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
                 "viewBox=\"0 0 {0:.0f} {1:.0f}\" font-family=\"monospace\" font-size=\"11\">\n"
                 "<title>",
                 kFlameWidth, height);
    AppendXml(title_, &out_);
    AppendFormat(&out_, "</title>\n<rect width=\"{:.0f}\" height=\"{:.0f}\" fill=\"#ffffff\"/>\n",
                 kFlameWidth, height);
    const std::string frames = Frames();
    AddText(kMargin, 18, title_, " font-size=\"14\" font-weight=\"bold\"");
    AddText(kMargin, 36, WhatIsMerged(), " fill=\"#555555\"");
    AddLegend();
    return out_ + frames + "</svg>\n";
  }

 private:
  /// The least time of a frame that is drawn.
  double LeastTotal() const {
    const double room = kFlameWidth - 2 * kMargin;
    double least = std::max(frames_.front().total * kLeastFrame / room, 1.0);
    if (frames_.size() > kMostFlameFrames) {
      std::vector<double> totals;
      for (const FlameFrame& frame : frames_) totals.push_back(frame.total);
      const auto last = totals.begin() + kMostFlameFrames - 1;
      std::nth_element(totals.begin(), last, totals.end(), std::greater<>());
      // What equals the last might be too many.
      if (*last >= least) least = std::nextafter(*last, INFINITY);
    }
    return least;
  }

  std::string Frames() {
    std::vector<double> next(frames_.size(), 0);  // Where the next child begins, ns.
    std::string drawn;
    for (size_t i = 0; i < frames_.size(); ++i) {
      const FlameFrame& frame = frames_[i];
      if (frame.total < least_) {
        if (frame.total > 0) ++merged_;
        // Counted once, at the outermost.
        if (i > 0 && frames_[frame.parent].total >= least_) merged_ns_ += frame.total;
        continue;
      }
      double begin = 0;
      if (i > 0) {
        begin = next[frame.parent];
        next[frame.parent] += frame.total;
      }
      next[i] = begin;
      AppendFrameOf(frame, begin, &drawn);
    }
    return drawn;
  }

  double PixelsOf(double time_ns) const {
    const double all = frames_.front().total;
    return all > 0 ? time_ns / all * (kFlameWidth - 2 * kMargin) : 0;
  }

  double PercentOf(double time_ns) const {
    const double all = frames_.front().total;
    return all > 0 ? 100 * time_ns / all : 0;
  }

  void AppendFrameOf(const FlameFrame& frame, double begin, std::string* out) const {
    const double y = kHead + static_cast<double>(levels_ - 1 - frame.level) * kLevelHeight;
    const size_t kind = frame.level == 0 ? 0 : KindOfFrame(frame.name);
    std::string name;
    AppendCut(LineText(frame.name), kMostFrameName, Cut::kMiddle, &name);
    // A nested svg cuts its text at its border, so the whole name can be searched for.
    AppendFormat(out, "<svg x=\"{:.2f}\" y=\"{:.0f}\" width=\"{:.2f}\" height=\"{:.0f}\"><title>",
                 kMargin + PixelsOf(begin), y, PixelsOf(frame.total), kLevelHeight - 1);
    AppendXml(name, out);
    AppendFormat(out,
                 ": {:.3f} ms, {:.2f} %</title><rect width=\"100%\" height=\"100%\" fill=\"{}\" "
                 "stroke=\"#ffffff\" stroke-width=\"0.5\"/>",
                 frame.total / 1e6, PercentOf(frame.total), kFrameKinds[kind].colour);
    // Of a path the end stays.
    const double width = PixelsOf(frame.total);
    const bool ends = CutOf(kFrameField, name) == Cut::kLeft &&
                      kCharacter * static_cast<double>(DisplayWidth(name)) > width;
    AppendFormat(out, "<text x=\"{:.2f}\" y=\"12\"{}>", ends ? width - 3 : 3.0,
                 ends ? " text-anchor=\"end\"" : "");
    AppendXml(name, out);
    out->append("</text></svg>\n");
  }

  std::string WhatIsMerged() const {
    std::string text = fmt::format("{:.3f} ms", frames_.front().total / 1e6);
    if (frames_.size() == 1) text += ": no stack took time";
    if (merged_ > 0) {
      AppendFormat(&text, "; {} frame{} below {:.3f} ms not drawn, {:.2f} %", merged_,
                   merged_ == 1 ? "" : "s", least_ / 1e6, PercentOf(merged_ns_));
    }
    if (tree_.too_deep() > 0) {
      const bool one = tree_.too_deep() == 1;
      AppendFormat(&text, "; {} stack{} deeper than {} levels end{} there", tree_.too_deep(),
                   one ? "" : "s", kMostFlameLevels, one ? "s" : "");
    }
    if (tree_.unread() > 0) AppendFormat(&text, "; {} lines are no stacks", tree_.unread());
    return text;
  }

  void AddText(double x, double y, std::string_view text, std::string_view style) {
    AppendFormat(&out_, "<text x=\"{:.0f}\" y=\"{:.0f}\"{}>", x, y, style);
    AppendXml(text, &out_);
    out_.append("</text>\n");
  }

  void AddLegend() {
    double x = kMargin;
    for (const FrameKind& kind : kFrameKinds) {
      AppendFormat(&out_, "<rect x=\"{:.0f}\" y=\"46\" width=\"10\" height=\"10\" fill=\"{}\"/>\n",
                   x, kind.colour);
      AddText(x + 14, 55, kind.word, "");
      x += 34 + 7 * static_cast<double>(kind.word.size());
    }
  }

  const FlameTree& tree_;
  std::span<const FlameFrame> frames_;
  std::string title_;
  double least_ = 0;
  size_t levels_ = 1;
  size_t merged_ = 0;
  double merged_ns_ = 0;
  std::string out_;
};

class FlameSink : public Sink {
 public:
  FlameSink(Output* output, std::string title) : output_(output), title_(std::move(title)) {}
  void Begin(std::string_view, std::vector<Field>) override {
    throw UsageError("--svg draws call stacks: give --view stacks");
  }
  void Row(std::span<const Cell>) override {}
  bool TakesDocuments() const override { return true; }
  void Document(std::string_view text) override {
    output_->buffer()->append(FlameGraph(text, title_));
    output_->FlushIfLarge();
  }

 private:
  Output* output_;
  std::string title_;
};

}  // namespace

std::string FlameGraph(std::string_view stacks, std::string_view title) {
  const FlameTree tree(stacks);
  return FlamePicture(tree, title).Draw();
}

std::unique_ptr<Sink> MakeFlameSink(Output* output, std::string title) {
  return std::make_unique<FlameSink>(output, std::move(title));
}

}  // namespace oplens::prof
