#include "prof/summary_file/section.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/shown_text.h"

namespace oplens::prof {
namespace {

// No text of a profile begins like this: names have no unprintable characters.
constexpr std::string_view kBegin = "\x01rank ";
constexpr char kEnd = '\x02';

constexpr std::string_view kOurs = "oplens";

/// Version of the bytes of calls: increment on every change.
constexpr uint64_t kCallsForm = 1;

const View* ViewOf(std::string_view name) {
  const std::span<const View> views = Views();
  const auto view =
      std::find_if(views.begin(), views.end(), [&](const View& one) { return one.name == name; });
  return view == views.end() ? nullptr : &*view;
}

/// Replaces the marks in texts by `ranks`.
std::function<std::string(std::string_view)> NamerOf(std::span<const std::string> ranks) {
  if (ranks.empty()) return nullptr;
  return [ranks](std::string_view text) { return WithRankNames(text, ranks); };
}

/// The view of a section that can be loaded.
const View& KnownView(const Section& section, std::string_view file) {
  const View* const view = ViewOf(section.view);
  if (view == nullptr || section.rules != kOurs) {
    throw Error(file, fmt::format("there is no view {} here", ShownText(section.view)),
                "it is of another version of oplens: save it again with this one");
  }
  if (view->saved_form != section.form) {
    throw Error(file,
                fmt::format("the view {} was saved in form {}, this oplens reads form {}",
                            section.view, section.form, view->saved_form),
                "save it again with this one");
  }
  return *view;
}

}  // namespace

std::string RankMark(size_t place) { return fmt::format("{}{}{}", kBegin, place, kEnd); }

std::string WithRankNames(std::string_view text, std::span<const std::string> names) {
  std::string named;
  for (size_t at = 0; (at = text.find(kBegin)) != text.npos;) {
    const std::string_view behind = text.substr(at + kBegin.size());
    size_t place = names.size();
    const auto [end, error] = std::from_chars(behind.data(), behind.data() + behind.size(), place);
    const auto digits = static_cast<size_t>(end - behind.data());
    const bool known = error == std::errc() && digits < behind.size() && behind[digits] == kEnd &&
                       place < names.size();
    named += text.substr(0, known ? at : at + kBegin.size());
    if (known) named += names[place];
    text = known ? behind.substr(digits + 1) : behind;
  }
  return named.append(text);
}

Section SaveSection(const View& view, const ViewOptions& options, const Partial& partial,
                    const std::function<std::string(std::string_view)>& change) {
  if (view.saved_form == 0) {
    throw Error(fmt::format("{}: what it found cannot be saved: it needs the trace", view.name));
  }
  ByteWriter bytes(change);
  partial.Save(&bytes);
  return {std::string(view.name), options.by,      std::string(kOurs),
          options.copies,         view.saved_form, bytes.Take()};
}

std::string SaveCalls(const CollectiveSet& calls,
                      const std::function<std::string(std::string_view)>& change) {
  ByteWriter bytes(change);
  bytes.Number(kCallsForm);
  calls.Save(&bytes);
  return bytes.Take();
}

CollectiveSet LoadCalls(std::string_view bytes, std::string_view file) {
  return LoadCalls(bytes, {}, file);
}

CollectiveSet LoadCalls(std::string_view bytes, std::span<const std::string> ranks,
                        std::string_view file) {
  CollectiveSet calls;
  if (bytes.empty()) return calls;
  ByteReader reader(bytes, fmt::format("{}: calls of collectives", file), NamerOf(ranks));
  const uint64_t form = reader.Number();
  if (form != kCallsForm) {
    throw Error(file,
                fmt::format("its calls of collectives were saved in form {}, this oplens reads "
                            "form {}",
                            form, kCallsForm),
                "save it again with this one");
  }
  calls.Load(&reader);
  reader.End();
  return calls;
}

const Section* FindSection(std::span<const Section> sections, const View& view,
                           const ViewOptions& options) {
  const auto section = std::find_if(sections.begin(), sections.end(), [&](const Section& one) {
    return one.view == view.name && one.by == options.by && one.rules == view.rules &&
           one.copies == options.copies;
  });
  return section == sections.end() ? nullptr : &*section;
}

std::unique_ptr<Partial> LoadPartial(const Section& section, std::string_view file) {
  ViewOptions options;
  options.by = section.by;
  options.copies = section.copies;
  return LoadPartial(section, options, {}, file);
}

std::unique_ptr<Partial> LoadPartial(const Section& section, const ViewOptions& shown,
                                     std::span<const std::string> ranks, std::string_view file) {
  const View& view = KnownView(section, file);
  std::unique_ptr<Partial> partial;
  try {
    partial = view.make(shown);
  } catch (const UsageError& error) {
    // Unknown words of --by.
    throw Error(file, ShownText(error.what()),
                "it is damaged or of another version of oplens: save it again");
  }
  ByteReader bytes(section.bytes, fmt::format("{}: view {}", file, section.view), NamerOf(ranks));
  if (section.is_own) bytes.TrustTexts();
  partial->Load(&bytes);
  bytes.End();
  return partial;
}

}  // namespace oplens::prof
