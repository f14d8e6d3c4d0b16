// How far a quantised network's values are from the float network's.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/graph/graph.h"
#include "tilewright/host/executor.h"
#include "tilewright/quantize/calibrate/calibration.h"
#include "tilewright/quantize/equalize.h"

namespace tilewright {

struct ValueNoise {
  std::string value;   // name in the float graph
  double sqnr_db = 0;  // 10 log10(sum x^2 / sum (x - x')^2); infinite without error
  double largest_error = 0;
  double largest_magnitude = 0;  // of the float value
  bool given = false;            // an input of the network: nothing is computed
};

struct NetworkNoise {
  std::vector<ValueNoise> values;   // those that are quantised and dequantised, in graph order
  std::vector<ValueNoise> outputs;  // of the graph, those of real numbers
};

// The median of the finite ratios (the upper one of two), and the least of all; 0 of none, infinite if all
// are.
double median_db(const std::vector<ValueNoise>& noise);
double least_db(const std::vector<ValueNoise>& noise);

// The samples of the runs first, first + step, ..; of more than `most`, that many spread evenly over them.
// Errors: those of SampleInputs.
std::vector<Tensor> sample_runs(const Graph& graph, const std::vector<Tensor>& samples, int64_t first,
                                int64_t step, int64_t most);

// Measures several quantised forms of one float network on the same samples. Safe to call from one thread at
// a time; results do not depend on the number of threads.
class NoiseMeter {
 public:
  // Errors: those of SampleInputs and Executor.
  NoiseMeter(const Graph& float_graph, const std::vector<Tensor>& samples, int threads);

  // For each value of the float graph that `qdq` quantises and dequantises: the difference between its float
  // value and what the quantised network computes for it (the accumulated error, not only that of its own
  // rounding). Values and outputs are matched by name. factors: of values whose channels `qdq` has multiplied
  // (QuantizeReport); they are divided by them first.
  NetworkNoise measure(const Graph& qdq, const ChannelFactors& factors = {});

 private:
  struct Pair {
    ValueId exact = kNoValue, actual = kNoValue;
    std::string name;  // in the float graph
    const std::vector<float>* factors = nullptr;
  };
  using Numbers = std::map<ValueId, std::vector<float>>;

  std::vector<Pair> value_pairs(const Graph& qdq, const ChannelFactors& factors) const;
  std::vector<Pair> output_pairs(const Graph& qdq) const;
  // What the float graph computes in one run for the values of `pairs`.
  std::shared_ptr<const Numbers> exact_numbers(int64_t run, const std::vector<Pair>& pairs);

  const Graph graph_;
  const SampleInputs inputs_;
  const int outer_, inner_;  // threads: runs at a time, and inside one
  const Executor executor_;
  std::vector<std::shared_ptr<const Numbers>> known_;  // by run, where all fit into memory
};

// The values alone, once.
std::vector<ValueNoise> measure_noise(const Graph& float_graph, const Graph& qdq,
                                      const std::vector<Tensor>& samples, const ChannelFactors& factors = {});

}  // namespace tilewright
