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

/// What a view is asked for.
struct ViewOptions {
  std::vector<std::string> by = {};  ///< Words of --by, of those that the view takes.
  std::string sort = {};  ///< Of --sort, for a view that sorts its rows itself; "": its own.
  size_t top = 0;         ///< The same of --top; 0: all rows.
  bool copies = false;    ///< --copies: copies and fills too, where kernels are grouped.
  /// It is a table of prof without --view (PlanRows): groups have the figures of --by alone, and
  /// with `copies` are of copies alone.
  bool plain = false;
  std::vector<std::string> what_if = {};  ///< Of --what-if: "scale(gpu_compute,0.5)".
  /// Of --where, for a view that sorts its rows itself: which of its rows are shown; null: all.
  std::shared_ptr<const Condition> where = nullptr;
  /// Who takes the rows has no use for a table of more than so many: of such a one a view may leave
  /// rows out, as long as more than so many come.
  size_t most_rows = SIZE_MAX;
};

/// What a view found out of one rank, or of several whose partials were merged. Sums are integers,
/// so that the order of merging has no effect.
///
/// For each rank: Begin, Add of its kernels in the order of their starts, End. A rank whose kernels
/// come as records has no run: Begin and End get null. Once all ranks of the run are there:
/// AddCalls for each, then Emit and Notes.
class Partial {
 public:
  virtual ~Partial() = default;

  /// `run`: of the rank that begins; null where there are only records. It lives until after End.
  virtual void Begin(const Run* run) { static_cast<void>(run); }
  /// A kernel with its price.
  virtual void Add(const PricedKernel& kernel) { static_cast<void>(kernel); }
  /// A replay of a graph whose kernels the file hides: as a kernel without name and price.
  virtual void AddReplay(const PricedKernel& replay) { static_cast<void>(replay); }
  /// A copy or fill, of a table of copies (ViewOptions::plain).
  virtual void AddCopy(const CopyRow& copy) { static_cast<void>(copy); }
  virtual void End(const Run* run) { static_cast<void>(run); }
  /// The calls of collectives of a rank that has ended (here, or in what was merged), by start,
  /// with what the other ranks say of them; of a rank without any an empty list. Once a rank, of
  /// views that ask for them (View::calls). The rows live until it returns. Whether ranks get
  /// theirs before or after they are merged makes no difference, nor does the order of ranks.
  virtual void AddCalls(std::span<const CollectiveRow> calls);

  /// Takes over what another partial of the same view and options found.
  virtual void Merge(const Partial& other) = 0;
  /// The fields of its rows.
  virtual std::vector<Field> Fields() const = 0;
  /// Its rows, in an order that does not depend on that of merging.
  virtual void Emit(Sink* sink) const = 0;
  /// Whether it is a document, such as another program prints: then lines without a format of
  /// their own hold Document() in the place of a header and rows. Every other format has the rows.
  virtual bool IsDocument() const { return false; }
  /// Ends with a line end, or is empty.
  virtual std::string Document() const { return {}; }
  /// Sentences for standard error: what a reader of the rows must know, such as what the file lacks
  /// and which flag records it (parse/model/recording_advice.h).
  virtual std::vector<std::string> Notes() const { return {}; }

  /// What it found, as bytes of which Load() makes it again: it then merges, emits and notes as
  /// this does. After End of the last rank, before AddCalls or after; of views that save alone
  /// (View::saved_form).
  virtual void Save(ByteWriter* bytes) const;
  /// Into a fresh partial of the same view and options. Throws Error where the bytes are not such;
  /// then it is of no use any more.
  virtual void Load(ByteReader* bytes);
};

/// A view that keeps nothing: a row comes out for what goes in.
class ViewStream {
 public:
  virtual ~ViewStream() = default;
  /// A rank begins; null where there are only records.
  virtual void Begin(const Run* run) { static_cast<void>(run); }
  virtual void Add(const PricedKernel& kernel) { static_cast<void>(kernel); }
  /// As Partial::AddCopy.
  virtual void AddCopy(const CopyRow& copy) { static_cast<void>(copy); }
};

/// One view. It either makes partials or streams kernels.
struct View {
  std::string_view name;  ///< What --view takes; the table of it has '_' for '-'.
  std::string_view help;
  TraceNeeds needs = {};                         ///< Parts of the trace that it reads.
  std::span<const Field> (*fields)() = nullptr;  ///< Without those that options add.
  std::unique_ptr<Partial> (*make)(const ViewOptions& options) = nullptr;
  /// Partials of one input for several options, which share what they find out of it; they are
  /// begun, take kernels and are ended all alike, in their order. Null: those of `make` share
  /// nothing.
  std::vector<std::unique_ptr<Partial>> (*make_together)(std::span<const ViewOptions> options) =
      nullptr;
  /// Of one that keeps nothing: takes kernels and gives a row each to `sink`, which has begun with
  /// the fields at `places`. Null of the others.
  std::unique_ptr<ViewStream> (*stream)(const std::vector<size_t>& places, Sink* sink) = nullptr;
  /// Words of --by that it takes; `make` throws UsageError for others.
  std::span<const std::string_view> by = {};
  std::string_view some = {};    ///< Fields that are printed in lines unless -c is given; "": all.
  std::string_view narrow = {};  ///< The same with -w, behind the keys.
  /// In a line that is too narrow these give way last, the first of them last of all; "": the keys,
  /// then `narrow`.
  std::string_view important = {};
  std::string_view rules = "oplens";  ///< By whose it counts.
  /// Words of --sort, of one that sorts by these and not by its fields.
  std::span<const std::string_view> sort_words = {};
  std::string_view refuses_where = {};  ///< Why --where cannot ask for its rows; "": it can.
  bool keeps_document = false;          ///< Its document is printed even if rows are asked for.
  bool on_pages = true;       ///< Pages show it: of others they have what it says elsewhere.
  bool whole = false;         ///< It is of the whole run, whatever is selected.
  bool may_be_empty = false;  ///< That it has no rows is good news.
  bool sorts = false;         ///< It follows ViewOptions::sort and top itself.
  bool calls = false;         ///< It takes the calls of collectives: AddCalls.
  /// The form of what its partials save: 1, and one more whenever that changes
  /// (docs/summary_format.md). 0: they do not save, it needs the trace.
  int saved_form = 0;
  bool what_if = false;  ///< It follows ViewOptions::what_if.
  bool groups_kernels =
      false;  ///< Its rows are kernels that are alike: words of --by may have the
              ///< forms of prof/views/kernels/group_key.h, --where asks of kernels too.
};

/// All of them, in the order in which they are listed.
std::span<const View> Views();

/// View::make of a class that is made of options, or of nothing.
template <typename PartialOfView>
std::unique_ptr<Partial> MakePartial(const ViewOptions& options) {
  if constexpr (std::is_constructible_v<PartialOfView, const ViewOptions&>) {
    return std::make_unique<PartialOfView>(options);
  } else {
    return std::make_unique<PartialOfView>();
  }
}

/// View::make of one that has make_together.
template <auto make_together>
std::unique_ptr<Partial> MakeAlone(const ViewOptions& options) {
  return std::move(make_together({&options, 1}).front());
}

/// View::fields of an array of fields or of columns: those that it has without --by.
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
