#ifndef OPLENS_OPLENS_SCREEN_JSON_H_
#define OPLENS_OPLENS_SCREEN_JSON_H_

#include <nlohmann/json.hpp>

#include "oplens/screen.h"

namespace oplens::screen {

/// Raised when a key changes its meaning or type, or goes; new keys do not raise it.
inline constexpr int kScreenSchema = 1;

/// The screen as one object; docs/oplens.md lists its keys. What is unknown is null, lists are
/// whole (as many rows as the screen has at most), times are in ns.
nlohmann::ordered_json JsonOf(const Screen& screen);
/// As text; invalid UTF-8 is replaced.
std::string JsonTextOf(const Screen& screen);

/// Of that object, in the words of JSON Schema 2020-12.
nlohmann::ordered_json ScreenSchema();

}  // namespace oplens::screen

#endif  // OPLENS_OPLENS_SCREEN_JSON_H_
