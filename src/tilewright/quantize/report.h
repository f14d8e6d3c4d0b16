// What quantisation cost: accuracy on labelled samples, and the noise on every quantised value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"
#include "tilewright/quantize/noise.h"
#include "tilewright/quantize/quantizer.h"

namespace tilewright {

struct AccuracyReport {
  int64_t samples = 0;
  int64_t labelled = 0;       // samples with a label
  int64_t float_correct = 0;  // of the labelled ones: the class is the label
  int64_t quantized_correct = 0;
  int64_t agreements = 0;  // of all samples: both models choose the same class
  double float_accuracy() const { return labelled == 0 ? 0 : double(float_correct) / double(labelled); }
  double quantized_accuracy() const {
    return labelled == 0 ? 0 : double(quantized_correct) / double(labelled);
  }
};
std::string to_string(const AccuracyReport& report);

// One more than the largest class number that an output with so many elements per sample can say: their
// number, as scores; any number of 31 bits where it is the class number itself, one integer (a model that
// ends in ArgMax).
int64_t class_count(ElementType type, int64_t elements_per_sample);
// The class of each of `samples` samples in such an output of a model: the number itself, or the index of the
// largest score (the first of equals). None where the output has no elements.
std::vector<int64_t> classes_in(const Tensor& output, int64_t samples);

// Runs both models (of the same inputs and outputs; `quantized` in any form) on every sample and compares the
// classes in output 0 (classes_in). labels: one integer per sample, or empty. Errors
// (invalid input): those of SampleInputs; a number of labels that is not the number of samples; models that
// differ in their inputs or in the size of output 0.
AccuracyReport compare_accuracy(const Graph& float_graph, const Graph& quantized,
                                const std::vector<Tensor>& samples, const std::vector<int64_t>& labels,
                                int threads);

// The classes in output 0 for each sample (classes_in).
std::vector<int64_t> classify(const Graph& graph, const std::vector<Tensor>& samples, int threads);

std::string to_string(const std::vector<ValueNoise>& noise);

// The first value that loses most: whose ratio falls furthest below the least among the nearest values before
// it that `noise` knows too. nullopt: none falls.
struct NoiseLoss {
  size_t value = 0;  // index into `noise`
  double loss_db = 0;
};
std::optional<NoiseLoss> largest_loss(const Graph& float_graph, const std::vector<ValueNoise>& noise);

// Of each layer its own error and where that comes from, then the ratios: median, least and largest loss, and
// of the outputs; what was tried, if anything was.
std::string sensitivity_text(const Graph& float_graph, const QuantizeReport& report,
                             const NetworkNoise& noise);

}  // namespace tilewright
