#ifndef OPLENS_MPI_WORLD_EXCHANGE_H_
#define OPLENS_MPI_WORLD_EXCHANGE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/exchange.h"
#include "mpi/world.h"

namespace oplens::mpi {

/// The processes of a World, for those who know nothing of MPI.
class WorldExchange : public Exchange {
 public:
  /// `world` must outlive this object.
  explicit WorldExchange(World* world) : world_(world) {}

  size_t rank() const override { return static_cast<size_t>(world_->rank()); }
  size_t size() const override { return static_cast<size_t>(world_->size()); }
  std::vector<std::string> AllToAll(std::vector<std::string> messages) override {
    return world_->AllToAll(messages);
  }
  std::vector<std::string> AllGather(std::string message) override {
    return world_->AllGather(message);
  }

 private:
  World* world_;
};

}  // namespace oplens::mpi

#endif  // OPLENS_MPI_WORLD_EXCHANGE_H_
