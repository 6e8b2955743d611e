#ifndef OPLENS_PROF_VIEWS_COMMON_RANK_ORDER_H_
#define OPLENS_PROF_VIEWS_COMMON_RANK_ORDER_H_

#include <compare>
#include <string>
#include <string_view>
#include <tuple>

namespace oplens::prof {

/// Orders names of ranks: "2" before "10", numbers before other texts.
struct RankBefore {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const {
    const bool a_counts = IsNumber(a);
    if (a_counts != IsNumber(b)) return a_counts;
    if (a_counts && a.size() != b.size()) return a.size() < b.size();
    return a < b;
  }

 private:
  static bool IsNumber(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  }
};

/// The name of a rank, as a part of a key.
struct RankName {
  std::string text;

  RankName() = default;
  explicit RankName(std::string_view name) : text(name) {}
  static constexpr std::tuple kMembers{&RankName::text};

  friend bool operator==(const RankName&, const RankName&) = default;
  friend std::strong_ordering operator<=>(const RankName& a, const RankName& b) {
    if (a.text == b.text) return std::strong_ordering::equal;
    return RankBefore()(a.text, b.text) ? std::strong_ordering::less
                                        : std::strong_ordering::greater;
  }
};

}  // namespace oplens::prof

#endif  // OPLENS_PROF_VIEWS_COMMON_RANK_ORDER_H_
