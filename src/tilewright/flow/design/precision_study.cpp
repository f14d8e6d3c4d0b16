// Which tensor of the hardware follows which width is found by trial: with 4 bits everywhere and 8 in one
// place, what has become wider depends on that place. So padding, additions and borders need no second
// description here.
#include "tilewright/flow/design/precision_study.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

#include "tilewright/base/error.h"
#include "tilewright/quantize/calibrate/calibration.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/quantize/report.h"

namespace tilewright {
namespace {

constexpr int64_t kMostRuns = std::numeric_limits<int64_t>::max();
constexpr int64_t kNoiseRunsOfBits = 32;
constexpr int kNarrow = 4, kWide = 8;
constexpr int64_t kPatience =
    20'000;  // allocations: designs of like bits need alike only if each is searched well

// The labels of every other run, from `first_run` on.
std::vector<int64_t> labels_between(const std::vector<int64_t>& labels, int64_t first_run, int64_t runs,
                                    int64_t batch) {
  std::vector<int64_t> result;
  for (int64_t run = first_run; run < runs; run += 2) {
    const auto first = labels.begin() + std::ptrdiff_t(run * batch);
    result.insert(result.end(), first, first + std::ptrdiff_t(batch));
  }
  return result;
}

int64_t equal_numbers(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  int64_t equal = 0;
  for (size_t i = 0; i < a.size(); ++i) equal += a[i] == b[i] ? 1 : 0;
  return equal;
}

}  // namespace

PrecisionStudy::PrecisionStudy(const Graph& float_graph, const Request& request) : request_(request) {
  const SampleInputs inputs(float_graph, request.samples);
  if (inputs.runs() < 2) {
    throw Error(ErrorKind::kInvalidInput,
                "bits are chosen on one half of the samples and judged on the other",
                "give two calibration samples or more, better some hundred");
  }
  fitted_ = sample_runs(float_graph, request.samples, 0, 2, kMostRuns);
  judged_ = sample_runs(float_graph, request.samples, 1, 2, kMostRuns);
  const std::vector<int64_t> answers = classify(float_graph, judged_, request.options.threads);
  if (!request.labels.empty() && int64_t(request.labels.size()) < inputs.runs() * inputs.batch()) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("{} labels were given for {} samples", request.labels.size(),
                            inputs.runs() * inputs.batch()),
                "give one label per calibration sample");
  }
  expected_ = answers;
  if (!request.labels.empty()) {
    expected_ = labels_between(request.labels, 1, inputs.runs(), inputs.batch());
    fitted_labels_ = labels_between(request.labels, 0, inputs.runs(), inputs.batch());
  }
  float_right_ = equal_numbers(answers, expected_);

  QuantizeReport told;
  tilewright::quantize(float_graph, fitted_, request.options, &told);
  trials_ = std::make_unique<BitTrials>(float_graph, fitted_, told.recipe, kNoiseRunsOfBits,
                                        BitTrials::Measure::kScores);
  if (!trials_->has_values()) {
    throw Error(ErrorKind::kUnsupported,
                "nothing in the model can be quantised, so there are no bits to choose",
                "give a float model with convolutions or dense layers");
  }
  base_ = trials_->widths();
  for (size_t i = 0; i < trials_->network().layers.size(); ++i) {
    layer_names_.push_back(trials_->layer_name(i));
    layer_weights_.push_back(trials_->network().layers[i].weights.size());
  }
  find_classes();
}

void PrecisionStudy::find_classes() {
  const size_t groups = base_.groups.size(), layers = base_.layers.size();
  const BitWidths narrow{std::vector<int>(layers, kNarrow), std::vector<int>(groups, kNarrow)};
  const auto extracted = [&](const BitWidths& widths) {
    return pipeline::extract_network(integerize(trials_->quantize(widths)));
  };
  const pipeline::Network base = extracted(narrow);
  layer_of_.assign(base.layers.size(), -1);
  for (size_t i = 0; i < layers; ++i) {
    BitWidths trial = narrow;
    trial.layers[i] = kWide;
    const pipeline::Network wider = extracted(trial);
    for (size_t l = 0; l < std::min(base.layers.size(), wider.layers.size()); ++l) {
      if (wider.layers[l].weight_bits > base.layers[l].weight_bits) layer_of_[l] = int(i);
    }
  }
  // Groups that widen one tensor are one class; union by the least number.
  std::vector<int> least(groups);
  std::iota(least.begin(), least.end(), 0);
  std::vector<int> group_of_tensor(base.tensors.size(), -1);
  for (size_t g = 0; g < groups; ++g) {
    BitWidths trial = narrow;
    trial.groups[g] = kWide;
    const pipeline::Network wider = extracted(trial);
    for (size_t t = 0; t < std::min(base.tensors.size(), wider.tensors.size()); ++t) {
      if (wider.tensors[t].bits <= base.tensors[t].bits) continue;
      int& first = group_of_tensor[t];
      if (first < 0) {
        first = int(g);
        continue;
      }
      const int from = least[g], to = least[size_t(first)];
      for (int& l : least) {
        if (l == std::max(from, to)) l = std::min(from, to);
      }
    }
  }
  class_of_group_.assign(groups, -1);
  for (size_t g = 0; g < groups; ++g) {
    if (least[g] == int(g)) {
      class_of_group_[g] = int(class_names_.size());
      class_names_.push_back(trials_->group_name(g));
    } else {
      class_of_group_[g] = class_of_group_[size_t(least[g])];
    }
  }
  for (const int group : group_of_tensor)
    class_of_.push_back(group < 0 ? -1 : class_of_group_[size_t(group)]);
  input_class_.assign(layers, -1);
  for (size_t l = 0; l < base.layers.size(); ++l) {
    if (layer_of_[l] >= 0) input_class_[size_t(layer_of_[l])] = class_of_[size_t(base.layers[l].input)];
  }
}

BitWidths PrecisionStudy::widths(const PrecisionBits& bits) const {
  BitWidths result{bits.weights, base_.groups};
  for (size_t g = 0; g < result.groups.size(); ++g)
    result.groups[g] = bits.activations[size_t(class_of_group_[g])];
  return result;
}

Graph PrecisionStudy::quantize(const PrecisionBits& bits, QuantizeReport* report) {
  QuantizeReport ignored;
  return trials_->quantize(widths(bits), report != nullptr ? *report : ignored);
}

pipeline::Network PrecisionStudy::network(const PrecisionBits& bits) {
  return pipeline::extract_network(integerize(quantize(bits)));
}

Graph PrecisionStudy::fine_tune(const PrecisionBits& bits, const FineTuneOptions& options,
                                FineTuneResult* told) {
  FineTuneResult ignored;
  return trials_->fine_tune(widths(bits), fitted_, fitted_labels_, options, request_.deadline,
                            told != nullptr ? *told : ignored);
}

pipeline::AllocationResult PrecisionStudy::allocate(const pipeline::Network& network,
                                                    const pipeline::Budget& budget, int64_t cycles) const {
  pipeline::AllocateOptions options;
  options.processors = false;
  options.deadline = request_.deadline;
  if (cycles > 0) {
    options.logic_share = 1;
    options.enough_cycles = cycles;
    options.sparing = request_.sparing;
    options.evaluations = kPatience;
  }
  return pipeline::allocate(network, budget, request_.objective, options);
}

PrecisionPoint PrecisionStudy::reference() {
  const PrecisionBits bits = uniform(kWide);
  const pipeline::AllocationResult fastest = allocate(network(bits), request_.budget, 0);
  return point(bits, request_.budget, cycles(fastest.estimate));
}

PrecisionPoint PrecisionStudy::point_of(const Graph& quantized, const PrecisionBits& bits,
                                        const pipeline::Budget& budget, int64_t cycles) {
  PrecisionPoint result;
  result.bits = bits;
  result.output_db = trials_->output_db(quantized);
  const Graph integer = integerize(quantized);
  const pipeline::Network network = pipeline::extract_network(integer);
  const pipeline::AllocationResult allocated = allocate(network, budget, cycles);
  result.estimate = allocated.estimate;
  result.allocation = allocated.allocation;
  result.weight_bytes = (network.weight_bits() + 7) / 8;
  result.samples = int64_t(expected_.size());
  result.right = equal_numbers(classify(integer, judged_, request_.options.threads), expected_);
  return result;
}

}  // namespace tilewright
