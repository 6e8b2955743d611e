#ifndef OPLENS_OPS_NETWORK_MODEL_FAMILIES_H_
#define OPLENS_OPS_NETWORK_MODEL_FAMILIES_H_

#include <span>
#include <string_view>

#include "ops/network/config_reader.h"
#include "ops/network/network.h"

namespace oplens::ops {

/// How the configurations of a family of models are read.
struct ModelFamily {
  std::string_view type;  ///< model_type.
  Network (*read)(const ConfigReader& config);
};

std::span<const ModelFamily> ModelFamilies();
/// Null if it is unknown.
const ModelFamily* FindModelFamily(std::string_view type);

// The readers, by what they read.
Network ReadGatedDecoder(const ConfigReader& config, std::string_view type);
Network ReadDeepSeek(const ConfigReader& config);
Network ReadGpt2(const ConfigReader& config);
Network ReadGptNeoX(const ConfigReader& config);
Network ReadMpt(const ConfigReader& config);
Network ReadBert(const ConfigReader& config);
Network ReadVit(const ConfigReader& config);
Network ReadTimeSformer(const ConfigReader& config);

}  // namespace oplens::ops

#endif  // OPLENS_OPS_NETWORK_MODEL_FAMILIES_H_
