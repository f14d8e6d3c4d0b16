// Runs the samples through the host executor, whole runs in parallel where there are enough. Each chunk of
// runs fills histograms of its own, merged under a lock when it ends; merging is exact in any order
// (histogram.h).
#include "tilewright/quantize/calibrate/calibration.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "tilewright/base/parallel.h"
#include "tilewright/host/executor.h"
#include "tilewright/tensor/tensor_parts.h"

namespace tilewright {
namespace {

bool same_but_axis_0(const Shape& a, const Shape& b) {
  return a.rank() == b.rank() && std::equal(a.begin() + 1, a.end(), b.begin() + 1);
}

}  // namespace

SampleInputs::SampleInputs(const Graph& graph, const std::vector<Tensor>& samples) : samples_(samples) {
  Diagnostics problems;
  const auto wrong = [&](const std::string& input, const std::string& message, const std::string& hint) {
    problems.error(ErrorKind::kInvalidInput, fmt::format("input '{}'", input), "", message, hint);
  };
  if (samples.size() != graph.inputs.size()) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("{} sample arrays were given for a model of {} inputs", samples.size(),
                            graph.inputs.size()),
                "give one array per input, in the order of the model");
  }
  int64_t most = -1;
  for (size_t i = 0; i < samples.size(); ++i) {
    const Value& input = graph.value(graph.inputs[i]);
    shapes_.push_back(input.shape);
    types_.push_back(input.type);
    const Shape& given = samples[i].shape();
    if (samples[i].type() != input.type &&
        (!is_float(input.type) || samples[i].type() == ElementType::kBool)) {
      wrong(input.name,
            fmt::format("the samples are {}, the model takes {}", name(samples[i].type()), name(input.type)),
            "convert the array");
    }
    if (input.shape.rank() == 0 ? given != input.shape : !same_but_axis_0(given, input.shape)) {
      wrong(input.name,
            fmt::format("the samples have the shape {}, the model takes {}", to_string(given),
                        to_string(input.shape)),
            "stack samples along axis 0 only");
      continue;
    }
    if (input.shape.rank() == 0 || input.shape[0] == 0) continue;
    const int64_t runs = given[0] / input.shape[0];
    if (most >= 0 && runs != runs_) wrong(input.name, "the inputs have different numbers of samples", "");
    if (runs == 0) {
      wrong(input.name, fmt::format("{} samples do not fill one batch of {}", given[0], input.shape[0]), "");
    }
    if (most < 0) batch_ = input.shape[0];
    most = runs_ = runs;
  }
  problems.raise_if_any("calibration samples");
  if (graph.outputs.empty()) return;
  const Shape& output = graph.value(graph.outputs[0]).shape;
  if ((output.rank() == 0 ? 1 : output[0]) % batch_ != 0) batch_ = 1;
}

std::vector<Tensor> SampleInputs::inputs(int64_t run) const {
  std::vector<Tensor> result;
  for (size_t i = 0; i < samples_.size(); ++i) {
    const int64_t size = shapes_[i].element_count();
    const bool once = shapes_[i].rank() == 0 || samples_[i].size() == size;
    const Tensor part = once ? samples_[i] : elements_from(samples_[i], run * size, shapes_[i]);
    result.push_back(part.type() == types_[i] ? part : part.cast(types_[i]));
  }
  return result;
}

std::vector<Histogram> calibrate(const Graph& graph, const std::vector<Tensor>& samples,
                                 const std::vector<ValueId>& values, int threads) {
  const SampleInputs inputs(graph, samples);
  const int64_t runs = inputs.runs();
  // Few runs: threads inside the operators; many: one run per thread.
  const int outer = int(std::clamp<int64_t>(runs, 1, std::max(threads, 1)));
  const Executor executor(graph, HostOptions{std::max(1, threads / outer)});
  std::vector<int> index(graph.values.size(), -1);
  for (size_t i = 0; i < values.size(); ++i) index[size_t(values[i])] = int(i);

  std::vector<Histogram> total(values.size());
  std::mutex mutex;
  parallel_for(outer, runs, [&](int64_t begin, int64_t end) {
    std::vector<Histogram> local(values.size());
    for (int64_t run = begin; run < end; ++run) {
      executor.run(inputs.inputs(run), [&](ValueId id, const Tensor& tensor) {
        if (index[size_t(id)] < 0 || tensor.type() != ElementType::kF32) return;
        local[size_t(index[size_t(id)])].add(tensor.data<float>());
      });
    }
    const std::lock_guard lock(mutex);
    for (size_t i = 0; i < total.size(); ++i) total[i].merge(local[i]);
  });

  Diagnostics problems;
  for (size_t i = 0; i < total.size(); ++i) {
    if (total[i].not_finite() == 0) continue;
    problems.error(ErrorKind::kInvalidInput, fmt::format("value '{}'", graph.value(values[i]).name), "",
                   fmt::format("{} numbers are infinite or not a number on the calibration samples",
                               total[i].not_finite()),
                   "check the model and the preprocessing of the samples");
  }
  problems.raise_if_any("calibration");
  return total;
}

}  // namespace tilewright
