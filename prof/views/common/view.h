#ifndef OPLENS_PROF_VIEWS_COMMON_VIEW_H_
#define OPLENS_PROF_VIEWS_COMMON_VIEW_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "parse/model/trace_needs.h"
#include "prof/table/sink.h"

namespace oplens {
class ByteReader;
class ByteWriter;
}  // namespace oplens

namespace oplens::prof {

class Run;
struct CollectiveRow;
struct CopyRow;
struct PricedKernel;

class Condition;
struct ModelPlan;

struct ViewOptions {
  std::vector<std::string> by = {};  ///< Words of --by that the view takes.
  std::string sort = {};  ///< --sort, for a view that sorts its own rows; "": its default.
  size_t top = 0;         ///< --top, likewise; 0: all rows.
  bool copies = false;    ///< --copies: where kernels are grouped, also copies and memsets.
  /// A table of prof without --view (PlanRows): groups have the figures of --by only, and with
  /// `copies` hold only copies.
  bool plain = false;
  std::vector<std::string> what_if = {};  ///< --what-if: "scale(gpu_compute,0.5)".
  /// --model: what the run computes; null: not given.
  std::shared_ptr<const ModelPlan> model = nullptr;
  /// --where, for a view that sorts its own rows: selects the rows to show; null: all.
  std::shared_ptr<const Condition> where = nullptr;
  /// Upper bound on the rows that the consumer can use: it has no use for any of more than this
  /// many. A view may drop them, but must emit more than this many, which need not mean anything.
  size_t most_rows = SIZE_MAX;
};

/// What a view found in one rank, or in several whose partials were merged. Sums are integers, so
/// that the order of merging has no effect.
///
/// Calls per rank: Begin, Add for its kernels in order of start, End. A rank whose kernels come as
/// records has no run: Begin and End get null. After all ranks: AddCalls for each, then Emit and
/// Notes.
class Partial {
 public:
  virtual ~Partial() = default;

  /// `run`: of the rank that begins; null if there are only records. It lives until after End.
  virtual void Begin(const Run* run) { static_cast<void>(run); }
  virtual void Add(const PricedKernel& kernel) { static_cast<void>(kernel); }
  /// A graph replay whose kernels are not in the file: a kernel without name and price.
  virtual void AddReplay(const PricedKernel& replay) { static_cast<void>(replay); }
  /// A copy or memset, for a table of copies (ViewOptions::plain).
  virtual void AddCopy(const CopyRow& copy) { static_cast<void>(copy); }
  virtual void End(const Run* run) { static_cast<void>(run); }
  /// Adds the matched collective calls of one rank that has ended (here or in a merged partial), by
  /// start; empty for a rank without any. Called once per rank if View::calls. The rows live until
  /// it returns. Neither the order of ranks nor whether ranks are merged before or after makes a
  /// difference.
  virtual void AddCalls(std::span<const CollectiveRow> calls);

  /// Adds the results of another partial of the same view and options.
  virtual void Merge(const Partial& other) = 0;
  virtual std::vector<Field> Fields() const = 0;
  /// Emits its rows, in an order that does not depend on the order of merging.
  virtual void Emit(Sink* sink) const = 0;
  /// Whether it is a document, such as another program prints: output in lines without an explicit
  /// format then is Document() instead of header and rows. All other formats have the rows.
  virtual bool IsDocument() const { return false; }
  /// Empty, or ends with a newline.
  virtual std::string Document() const { return {}; }
  /// Sentences for standard error: what a reader of the rows must know, such as what is missing in
  /// the file and which flag records it (parse/model/recording_advice.h).
  virtual std::vector<std::string> Notes() const { return {}; }

  /// Saves the results as bytes from which Load() restores an equivalent partial. Call after the
  /// last End, before or after AddCalls; only if View::saved_form is not 0.
  virtual void Save(ByteWriter* bytes) const;
  /// Precondition: a fresh partial of the same view and options. Throws Error on invalid bytes; the
  /// partial is then unusable.
  virtual void Load(ByteReader* bytes);
};

/// A view that keeps nothing: it emits one row per input item.
class ViewStream {
 public:
  virtual ~ViewStream() = default;
  /// A rank begins; `run`: null if there are only records.
  virtual void Begin(const Run* run) { static_cast<void>(run); }
  virtual void Add(const PricedKernel& kernel) { static_cast<void>(kernel); }
  virtual void AddCopy(const CopyRow& copy) { static_cast<void>(copy); }
};

/// One view. It either makes partials or streams kernels.
struct View {
  std::string_view name;  ///< Word of --view; its table has '_' for '-'.
  std::string_view help;
  TraceNeeds needs = {};                         ///< Parts of the trace that it reads.
  std::span<const Field> (*fields)() = nullptr;  ///< Without those that options add.
  std::unique_ptr<Partial> (*make)(const ViewOptions& options) = nullptr;
  /// Makes partials of one input for several options, which share intermediate results. Their
  /// Begin, Add and End must be called in the same order as they are returned. Null: partials of
  /// `make` share nothing.
  std::vector<std::unique_ptr<Partial>> (*make_together)(std::span<const ViewOptions> options) =
      nullptr;
  /// For a view that keeps nothing: emits one row per item to `sink`, which has begun with the
  /// fields at `places`. Otherwise null.
  std::unique_ptr<ViewStream> (*stream)(const std::vector<size_t>& places, Sink* sink) = nullptr;
  /// Words of --by that it takes; `make` throws UsageError for others.
  std::span<const std::string_view> by = {};
  /// Those of them that change only what AddCalls adds.
  std::span<const std::string_view> by_of_calls = {};
  std::string_view some = {};    ///< Fields printed in lines if -c is not given; "": all.
  std::string_view narrow = {};  ///< Likewise with -w, after the keys.
  /// Fields that stay longest in a narrow line, most important first; "": the keys, then `narrow`.
  std::string_view important = {};
  std::string_view rules = "oplens";  ///< Tool whose rules it follows.
  /// Words of --sort, if it does not sort by its fields.
  std::span<const std::string_view> sort_words = {};
  std::string_view refuses_where = {};  ///< Why --where does not apply to its rows; "": it does.
  bool keeps_document = false;          ///< Prints its document even if rows are requested.
  bool on_pages = true;       ///< Shown on pages; other views' contents are elsewhere on them.
  bool of_ranks = false;      ///< On pages of several inputs only: it compares ranks.
  bool whole = false;         ///< Covers the whole run, whatever is selected.
  bool may_be_empty = false;  ///< Having no rows is good news.
  bool sorts = false;         ///< Applies ViewOptions::sort and top itself.
  bool calls = false;         ///< Needs AddCalls.
  /// Version of the form that its partials save, from 1 (docs/summary_format.md). 0: they do not
  /// save, the view needs the trace.
  int saved_form = 0;
  bool what_if = false;  ///< Applies ViewOptions::what_if.
  /// Rows are groups of kernels: words of --by may have the forms of
  /// prof/views/kernels/group_key.h, and --where may name columns of kernels.
  bool groups_kernels = false;
};

/// All views, in the order in which they are listed.
std::span<const View> Views();

/// View::make for a class constructed from options, or from nothing.
template <typename PartialOfView>
std::unique_ptr<Partial> MakePartial(const ViewOptions& options) {
  if constexpr (std::is_constructible_v<PartialOfView, const ViewOptions&>) {
    return std::make_unique<PartialOfView>(options);
  } else {
    return std::make_unique<PartialOfView>();
  }
}

/// View::make for a view with make_together.
template <auto make_together>
std::unique_ptr<Partial> MakeAlone(const ViewOptions& options) {
  return std::move(make_together({&options, 1}).front());
}

/// View::fields of an array of fields or columns: those present without --by.
template <const auto& all>
std::span<const Field> FieldsWithoutBy() {
  if constexpr (requires { all[0].by; }) {
    static const std::vector<Field> fields = [] {
      std::vector<Field> kept;
      for (const auto& column : all) {
        if (!column.by) kept.push_back(column);
      }
      return kept;
    }();
    return fields;
  } else {
    return all;
  }
}

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COMMON_VIEW_H_
