#ifndef OPLENS_OPS_NETWORK_NETWORK_CONFIG_H_
#define OPLENS_OPS_NETWORK_NETWORK_CONFIG_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ops/network/network.h"

namespace oplens::ops {

inline constexpr size_t kMaxConfigBytes = 8 << 20;

/// Reads what --model names: a config.json of Hugging Face, a folder with one, or values by hand
/// ("L=32,h=4096,heads=32,head_dim=128,V=128256,P=8.03e9"). Throws Error with one line that names
/// the file and the key, UsageError for values by hand.
Network ReadNetwork(const std::string& given);

/// The file that ReadNetwork() reads; "" for values by hand.
std::string ConfigPathOf(const std::string& given);

/// As ReadNetwork() for the text of a config.json; `path` is for messages.
Network ParseConfig(std::string_view text, const std::string& path);

/// As ReadNetwork() for values by hand.
Network ParseValues(std::string_view text);

/// Values of model_type that ParseConfig() knows.
std::vector<std::string_view> KnownModelTypes();

}  // namespace oplens::ops

#endif  // OPLENS_OPS_NETWORK_NETWORK_CONFIG_H_
