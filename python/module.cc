// The module `oplens._oplens`: runs, tables and costs, for the package around it.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/run.h"
#include "prof/table/arrow_table.h"
#include "prof/views/view_plan.h"
#include "python/convert.h"
#include "python/cost.h"
#include "python/outputs.h"
#include "python/watched.h"

namespace oplens::python {
namespace {

namespace nb = nanobind;
using engine::Words;
using Table = std::shared_ptr<const prof::ArrowTable>;

/// File names and what files hold may be no UTF-8.
nb::object Str(std::string_view text) {
  return nb::steal(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

nb::list StrList(const std::vector<std::string>& texts) {
  nb::list list;
  for (const std::string& text : texts) list.append(Str(text));
  return list;
}

nb::tuple TupleOf(const Told& told) {
  return nb::make_tuple(StrList(told.notes), StrList(told.lost));
}

std::vector<std::string> PathsOf(const std::vector<nb::bytes>& paths) {
  std::vector<std::string> texts;
  for (const nb::bytes& path : paths) texts.emplace_back(path.c_str(), path.size());
  return texts;
}

/// A table as the package wraps it.
class PyTable {
 public:
  explicit PyTable(Table table) : table_(std::move(table)) {}
  const prof::ArrowTable& get() const { return *table_; }
  const Table& shared() const { return table_; }
  size_t ColumnAt(size_t column) const {
    if (column >= table_->columns()) throw nb::index_error("there is no such column");
    return column;
  }
  size_t RowAt(size_t row) const {
    if (row >= table_->rows()) throw nb::index_error("there is no such row");
    return row;
  }

 private:
  Table table_;
};

nb::list TablesOf(const prof::ArrowTables& tables) {
  nb::list list;
  for (size_t i = 0; i < tables.size(); ++i) {
    if (tables.At(i) != nullptr) list.append(PyTable(tables.At(i)));
  }
  return list;
}

class PyRun {
 public:
  PyRun(const std::vector<nb::bytes>& paths, const Words& words, nb::handle progress) {
    auto made = std::make_shared<std::shared_ptr<engine::Run>>();
    RunWatched([made, names = PathsOf(paths),
                words](WorkMeter*) { *made = std::make_shared<engine::Run>(names, words); },
               progress);
    run_ = *made;
  }

  nb::tuple Ask(const std::string& view, const std::string& by, const std::string& where,
                const std::string& columns, size_t top, const Words& more, nb::handle progress) {
    struct Answer {
      prof::ArrowTables tables;
      Told told;
    };
    const auto answer = std::make_shared<Answer>();
    const engine::Query query = {view, by, where, columns, top, more};
    RunWatched(
        [answer, query, run = run_](WorkMeter* meter) {
          Messages messages("oplens");
          run->Ask(query, &answer->tables, &messages, meter);
          answer->told = ToldOf(&messages, run->left_out());
        },
        progress);
    return nb::make_tuple(TablesOf(answer->tables), TupleOf(answer->told));
  }

  nb::tuple Screen(bool markdown, nb::handle progress) {
    const auto answer = std::make_shared<std::pair<std::string, Told>>();
    RunWatched(
        [answer, markdown, run = run_](WorkMeter* meter) {
          answer->first = ScreenOf(run.get(), markdown, &answer->second, meter);
        },
        progress);
    return nb::make_tuple(Str(answer->first), TupleOf(answer->second));
  }

  nb::tuple Page(const nb::bytes& path, const Words& words, nb::handle progress) {
    const auto told = std::make_shared<Told>();
    RunWatched([told, words, name = std::string(path.c_str(), path.size()), run = run_](
                   WorkMeter* meter) { WritePage(run.get(), name, words, told.get(), meter); },
               progress);
    return TupleOf(*told);
  }

  nb::tuple Timeline(const nb::bytes& path, const std::string& columns, nb::handle progress) {
    const auto told = std::make_shared<Told>();
    RunWatched(
        [told, columns, name = std::string(path.c_str(), path.size()), run = run_](
            WorkMeter* meter) { WriteTimeline(run.get(), name, columns, told.get(), meter); },
        progress);
    return TupleOf(*told);
  }

  nb::tuple Diff(const PyRun& now, const Words& words, nb::handle progress) const {
    struct Answer {
      prof::ArrowTables tables;
      std::string text;
      Told told;
    };
    const auto answer = std::make_shared<Answer>();
    RunWatched(
        [answer, words, base = run_, other = now.run_](WorkMeter* meter) {
          MakeDiff(*base, *other, words, &answer->tables, &answer->text, &answer->told, meter);
        },
        progress);
    return nb::make_tuple(TablesOf(answer->tables), Str(answer->text), TupleOf(answer->told));
  }

  void Forget() {
    const nb::gil_scoped_release released;
    run_->Forget();
  }

 private:
  std::shared_ptr<engine::Run> run_;
};

}  // namespace

NB_MODULE(_oplens, module) {
  // The module prints nothing, also where objects live until the interpreter ends.
  nb::set_leak_warnings(false);
  module.attr("__version__") = OPLENS_VERSION;
  nb::class_<PyTable>(module, "Table")
      .def_prop_ro("name", [](const PyTable& table) { return Str(table.get().name()); })
      .def_prop_ro("rows", [](const PyTable& table) { return table.get().rows(); })
      .def_prop_ro("bytes", [](const PyTable& table) { return table.get().bytes(); })
      .def_prop_ro("fields",
                   [](const PyTable& table) {
                     nb::list fields;
                     for (size_t i = 0; i < table.get().columns(); ++i) {
                       fields.append(
                           nb::make_tuple(Str(table.get().KeyOf(i)), Str(table.get().UnitOf(i)),
                                          Str(table.get().TitleOf(i)), Str(table.get().HelpOf(i))));
                     }
                     return fields;
                   })
      .def("value",
           [](const PyTable& table, size_t row, size_t column) {
             return ValueOf(table.get().Column(table.ColumnAt(column)), table.RowAt(row));
           })
      .def("values",
           [](const PyTable& table, size_t column) {
             return ValuesOf(table.get().Column(table.ColumnAt(column)));
           })
      .def("arrow_schema", [](const PyTable& table) { return SchemaCapsule(table.get()); })
      .def("arrow_stream", [](const PyTable& table) { return StreamCapsule(table.shared()); });
  nb::class_<PyRun>(module, "Run")
      .def(nb::init<const std::vector<nb::bytes>&, const Words&, nb::handle>(), nb::arg("paths"),
           nb::arg("words"), nb::arg("progress").none())
      .def("ask", &PyRun::Ask, nb::arg("view"), nb::arg("by"), nb::arg("where"), nb::arg("columns"),
           nb::arg("top"), nb::arg("more"), nb::arg("progress").none())
      .def("screen", &PyRun::Screen, nb::arg("markdown"), nb::arg("progress").none())
      .def("page", &PyRun::Page, nb::arg("path"), nb::arg("words"), nb::arg("progress").none())
      .def("timeline", &PyRun::Timeline, nb::arg("path"), nb::arg("columns"),
           nb::arg("progress").none())
      .def("diff", &PyRun::Diff, nb::arg("now"), nb::arg("words"), nb::arg("progress").none())
      .def("forget", &PyRun::Forget);
  module.def("list_of_views", [] { return Str(prof::ListOfViews()); });
  module.def("price", &PriceOp, nb::arg("op"), nb::arg("shapes"), nb::arg("dtypes"),
             nb::arg("arguments"), nb::arg("gpu").none());
  module.def("await_stopped", &AwaitStopped);
}

}  // namespace oplens::python
