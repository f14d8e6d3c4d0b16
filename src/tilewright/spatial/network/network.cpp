// Collecting a network's loop nests; equality is that of the whole workload, so element widths and the names
// of its dimensions count, and only its own name does not.
#include "tilewright/spatial/network/network.h"

#include <algorithm>

namespace tilewright {

void WorkloadNetwork::add(const std::string& layer_name, const std::string& op, Workload workload) {
  const auto known = std::find_if(shapes.begin(), shapes.end(), [&](const Workload& shape) {
    return shape.dimensions == workload.dimensions && shape.data_spaces == workload.data_spaces;
  });
  const int index = int(known - shapes.begin());
  if (known == shapes.end()) {
    workload.name = layer_name;
    shapes.push_back(std::move(workload));
  }
  layers.push_back({layer_name, op, index});
}

int64_t WorkloadNetwork::mapped_macs() const {
  int64_t sum = 0;
  for (const NetworkLayer& layer : layers) sum += workload(layer).operation_count();
  return sum;
}

int64_t WorkloadNetwork::unmapped_macs() const {
  int64_t sum = 0;
  for (const UnmappedNode& node : unmapped) sum += node.macs;
  return sum;
}

int64_t WorkloadNetwork::occurrences(int shape) const {
  return std::count_if(layers.begin(), layers.end(),
                       [&](const NetworkLayer& layer) { return layer.shape == shape; });
}

namespace {

std::optional<int> batch_dimension(const Workload& workload) {
  const std::optional<int> batch = workload.find_dimension("N");
  const bool of_weights =
      workload.data_space_count() > kWeightSpace && batch && workload.depends_on(kWeightSpace, *batch);
  return of_weights ? std::nullopt : batch;
}

}  // namespace

int64_t batch_size(const Workload& workload) {
  const std::optional<int> batch = batch_dimension(workload);
  return batch ? workload.dimensions[size_t(*batch)].size : 1;
}

Workload with_batch(Workload workload, int64_t factor, bool shared_weight) {
  if (factor < 1) throw Error(ErrorKind::kInvalidInput, "a batch factor below 1");
  if (factor == 1) return workload;
  std::optional<int> batch = batch_dimension(workload);
  if (!batch) batch = workload.find_dimension(shared_weight ? "M" : "B");
  if (!batch) {
    throw Error(ErrorKind::kUnsupported, "workload '" + workload.name + "' has no batch dimension");
  }
  int64_t& size = workload.dimensions[size_t(*batch)].size;
  if (__builtin_mul_overflow(size, factor, &size)) size = INT64_MAX;
  for (DataSpace& space : workload.data_spaces) {
    for (Rank& rank : space.ranks) {
      const bool grows = std::any_of(rank.terms.begin(), rank.terms.end(),
                                     [&](const ProjectionTerm& term) { return term.dimension == *batch; });
      if (grows && __builtin_mul_overflow(rank.size, factor, &rank.size)) rank.size = INT64_MAX;
    }
  }
  Diagnostics diagnostics;
  workload.verify(diagnostics);
  diagnostics.raise_if_any("workload '" + workload.name + "'");
  return workload;
}

}  // namespace tilewright
