// Exact weights, biases and logarithms of how much scales have grown, behind the rounded numbers of a
// network, and how they move.
#pragma once

#include "tilewright/quantize/finetune/fine_tune.h"
#include "tilewright/quantize/finetune/training_pass.h"

namespace tilewright {

class LatentNumbers {
 public:
  // Weights start at those of `graph`, as near as their integers allow. Both must outlive it.
  LatentNumbers(const Graph& graph, const RoundedNetwork& network);

  // As TrainedNetwork takes them.
  const std::vector<Numbers>& used() const { return used_; }
  // One step of Adam (Kingma, Ba 2015) down the gradients by the used numbers. rate: FineTuneOptions.
  void move(const std::vector<Numbers>& gradients, double rate);
  RoundedNetwork rounded() const;

 private:
  // Numbers that are moved together.
  struct Part {
    Numbers numbers, mean, square;
    double unit = 1;  // of its steps
  };
  struct Layer {
    int64_t inner = 1;  // elements between channels
    Part weights, scales, bias;
  };
  size_t channel_of(const Layer& layer, size_t element) const {
    return element / size_t(layer.inner) % layer.scales.numbers.size();
  }
  float scale_of(size_t layer, size_t channel) const;
  void round_layer(size_t index);
  void step(Part& part, const Numbers& gradient, double rate) const;

  const RoundedNetwork& network_;
  std::vector<Layer> layers_;
  std::vector<Part> groups_;
  std::vector<Numbers> used_;
  int64_t steps_ = 0;
};

}  // namespace tilewright
