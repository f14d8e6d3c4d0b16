// One float network at any bits per layer: what each choice loses, by its noise at the outputs and by its
// answers on samples that nothing was fitted to, and the smallest design of stages that computes it within
// given cycles.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"
#include "tilewright/pipeline/allocate/allocate.h"
#include "tilewright/quantize/bit_trials.h"
#include "tilewright/quantize/quantizer.h"
#include "tilewright/search/deadline.h"

namespace tilewright {

// Of the weights of each layer, and of the activations of each class: values that share a scale, or whose
// elements have one width in hardware because they are added up.
struct PrecisionBits {
  std::vector<int> weights, activations;
  bool operator==(const PrecisionBits&) const = default;
};

struct PrecisionPoint {
  PrecisionBits bits;
  double output_db = 0;      // on the samples that were fitted to
  int64_t samples = 0;       // others: how many, and on how many the answer is the label or, without labels,
  int64_t right = 0;         // the float network's
  int64_t weight_bytes = 0;  // of all weights together
  pipeline::Estimate estimate;
  pipeline::Allocation allocation;
  double accuracy() const { return samples == 0 ? 0 : double(right) / double(samples); }
};

class PrecisionStudy {
 public:
  struct Request {
    // Every other run is fitted to, the runs between are judged by.
    std::vector<Tensor> samples;
    std::vector<int64_t> labels;  // of all samples; empty: none
    // The bits of the narrowest network that is likely, for the choice of a recipe where the method is open.
    QuantizeOptions options;
    pipeline::Budget budget;
    pipeline::Objective objective = pipeline::Objective::kLatency;
    int64_t synthesis::Resources::*sparing = &synthesis::Resources::lut;
    const Deadline* deadline = nullptr;
  };

  // float_graph: optimised. Errors: those of quantising and of extract_network; (invalid input) fewer than
  // two runs, labels of another number; (unsupported) nothing is quantised.
  PrecisionStudy(const Graph& float_graph, const Request& request);

  size_t layers() const { return layer_names_.size(); }
  size_t classes() const { return class_names_.size(); }
  const std::vector<std::string>& layer_names() const { return layer_names_; }
  const std::vector<std::string>& class_names() const { return class_names_; }
  const std::vector<int64_t>& layer_weights() const { return layer_weights_; }
  PrecisionBits uniform(int bits) const {
    return {std::vector<int>(layers(), bits), std::vector<int>(classes(), bits)};
  }

  double output_db(const PrecisionBits& bits) { return trials_->output_db(widths(bits)); }
  Graph quantize(const PrecisionBits& bits, QuantizeReport* report = nullptr);
  pipeline::Network network(const PrecisionBits& bits);
  // Of the samples that are fitted to, and their labels: BitTrials.
  std::string fine_tuning_problem() { return trials_->fine_tuning_problem(); }
  Graph fine_tune(const PrecisionBits& bits, const FineTuneOptions& options, FineTuneResult* told = nullptr);
  // Right answers of the float network, as in PrecisionPoint.
  int64_t float_right() const { return float_right_; }
  int64_t judged_samples() const { return int64_t(expected_.size()); }

  // The design for 8 bits everywhere: of the fewest cycles, then the smallest with as few. Errors: those of
  // allocate.
  PrecisionPoint reference();
  // The smallest design of at most so many cycles within the budget. Errors: those of allocate.
  PrecisionPoint point(const PrecisionBits& bits, const pipeline::Budget& budget, int64_t cycles) {
    return point_of(quantize(bits), bits, budget, cycles);
  }
  // The same for a graph of these bits, trained or not.
  PrecisionPoint point_of(const Graph& quantized, const PrecisionBits& bits, const pipeline::Budget& budget,
                          int64_t cycles);
  int64_t cycles(const pipeline::Estimate& estimate) const {
    return request_.objective == pipeline::Objective::kLatency ? estimate.latency_cycles
                                                               : estimate.interval_cycles;
  }

  // By layer of a network: the layer here whose weights it has, -1: none; by tensor: its class, -1: none.
  const std::vector<int>& layer_of() const { return layer_of_; }
  const std::vector<int>& class_of() const { return class_of_; }
  // The class of what a layer here reads, -1: none.
  int input_class_of(size_t layer) const { return input_class_[layer]; }

 private:
  BitWidths widths(const PrecisionBits& bits) const;
  void find_classes();
  pipeline::AllocationResult allocate(const pipeline::Network& network, const pipeline::Budget& budget,
                                      int64_t cycles) const;

  const Request request_;
  std::vector<Tensor> fitted_, judged_;
  std::vector<int64_t> fitted_labels_;
  std::vector<int64_t> expected_;
  int64_t float_right_ = 0;
  std::unique_ptr<BitTrials> trials_;
  BitWidths base_;
  std::vector<int> class_of_group_;
  std::vector<std::string> layer_names_, class_names_;
  std::vector<int64_t> layer_weights_;
  std::vector<int> layer_of_, class_of_, input_class_;
};

}  // namespace tilewright
