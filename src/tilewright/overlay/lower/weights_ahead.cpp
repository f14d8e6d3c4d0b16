// One pass in the order of the layers, which is that of the loads.
#include "tilewright/overlay/lower/weights_ahead.h"

#include <algorithm>

namespace tilewright::overlay {
namespace {

constexpr int64_t kLeastPart = 16;  // elements: shorter loads cost more instructions than they save time

class AheadPlanner {
 public:
  AheadPlanner(std::span<const AheadLayer> layers, int64_t depth) : layers_(layers) {
    int64_t next = 0;
    for (const AheadLayer& layer : layers) {
      if (next + layer.weights > depth) next = 0;
      plan_.bases.push_back(next);
      next += layer.weights;
    }
    plan_.loads.resize(layers.size());
    plan_.complete.resize(layers.size());
  }

  AheadPlan run() {
    for (size_t i = 0; i < layers_.size(); ++i) {
      int64_t idle = i > 0 ? layers_[i - 1].idle : 0;
      while (layer_ <= i) {
        if (loaded_ == 0 && !is_free(i)) {
          next_layer();
        } else {
          idle -= load(i, INT64_MAX);
        }
      }
      while (layer_ < layers_.size() && idle >= kLeastPart && is_free(i)) idle -= load(i, idle);
    }
    return std::move(plan_);
  }

 private:
  int64_t left() const { return layers_[layer_].may_come_early ? layers_[layer_].weights - loaded_ : 0; }

  // Before layer i waits: of the first layer that has something left, up to `most` elements.
  int64_t load(size_t i, int64_t most) {
    int64_t count = std::min(left(), most);
    if (left() - count < kLeastPart) count = left();
    if (count > 0) plan_.loads[i].push_back({layer_, loaded_, count});
    loaded_ += count;
    if (left() > 0) return count;
    plan_.complete[layer_] = layers_[layer_].may_come_early;
    next_layer();
    return count;
  }

  void next_layer() {
    ++layer_;
    loaded_ = 0;
  }

  // Whether the place of the layer to be loaded is not that of one from i - 1 on.
  bool is_free(size_t i) const {
    const int64_t begin = plan_.bases[layer_], end = begin + layers_[layer_].weights;
    for (size_t other = i == 0 ? 0 : i - 1; other < layer_; ++other) {
      const int64_t first = plan_.bases[other], last = first + layers_[other].weights;
      if (first < end && begin < last) return false;
    }
    return true;
  }

  std::span<const AheadLayer> layers_;
  AheadPlan plan_;
  size_t layer_ = 0;    // that is loaded next
  int64_t loaded_ = 0;  // of it
};

}  // namespace

AheadPlan plan_weights_ahead(std::span<const AheadLayer> layers, int64_t depth) {
  return AheadPlanner(layers, depth).run();
}

}  // namespace tilewright::overlay
