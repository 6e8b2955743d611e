#ifndef OPLENS_BASE_EPOCHS_H_
#define OPLENS_BASE_EPOCHS_H_

#include <memory>
#include <utility>

namespace oplens {

/// Epoch-based reclamation for one thread: frees what caches retire once no reader can still see
/// it.
///
/// A reader of a cache takes a Pin first. Values retired while pins exist live until those pins are
/// gone; without pins they are freed at once. So memory beyond the caches is what they retired
/// since the oldest pin was taken.
class Epochs {
  struct Epoch;

 public:
  /// Empty: pins nothing. Cheap to copy.
  using Pin = std::shared_ptr<const Epoch>;

  /// Pins everything that exists now or is created later.
  Pin Current() const { return current_; }

  /// Frees `value` once all pins taken so far are gone.
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
    std::shared_ptr<Epoch> next;  // Older pins also keep what younger ones keep.
  };

  std::shared_ptr<Epoch> current_ = std::make_shared<Epoch>();
};

}  // namespace oplens

#endif  // OPLENS_BASE_EPOCHS_H_
