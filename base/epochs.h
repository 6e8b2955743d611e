#ifndef OPLENS_BASE_EPOCHS_H_
#define OPLENS_BASE_EPOCHS_H_

#include <memory>
#include <utility>

namespace oplens {

/// Frees what caches forget once nobody can look at it any longer (epoch-based reclamation, for one
/// thread).
///
/// Who borrows from a cache takes a Pin before. What the cache retires afterwards stays until that
/// pin and all older ones are gone; what it retires while there is no pin is freed at once. So
/// beside what the caches hold themselves, memory is what they retired since the oldest pin.
class Epochs {
  struct Epoch;

 public:
  /// Empty: holds nothing. Copies are cheap, and all of one epoch are the same.
  using Pin = std::shared_ptr<const Epoch>;

  /// Keeps all that is there now or is made from now on.
  Pin Current() const { return current_; }

  /// Frees `value` when the last pin that was taken by now is gone.
  template <typename T>
  void Retire(T value) {
    current_->retired = std::make_unique<Holder<T>>(std::move(value));
    current_->next = std::make_shared<Epoch>();
    current_ = current_->next;
  }

 private:
  struct Retired {
    virtual ~Retired() = default;
  };
  template <typename T>
  struct Holder : Retired {
    explicit Holder(T v) : value(std::move(v)) {}
    T value;
  };
  struct Epoch {
    std::unique_ptr<Retired> retired;
    std::shared_ptr<Epoch> next;  // An older pin keeps what younger ones do.
  };

  std::shared_ptr<Epoch> current_ = std::make_shared<Epoch>();
};

}  // namespace oplens

#endif  // OPLENS_BASE_EPOCHS_H_
