// A network as the mappers see it: its operators as loop nests (equal ones once), and what is left out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/nest/workload.h"

namespace tilewright {

struct NetworkLayer {
  std::string name, op;  // of the node
  int shape = 0;         // index into WorkloadNetwork::shapes
};

// A node that multiplies and accumulates but is not a loop nest here.
struct UnmappedNode {
  std::string name, op, reason;
  int64_t macs = 0;
};

struct WorkloadNetwork {
  std::string name;
  std::vector<NetworkLayer> layers;    // in graph order
  std::vector<Workload> shapes;        // distinct workloads; each has the name of its first layer
  std::vector<UnmappedNode> unmapped;  // in graph order
  int64_t other_nodes = 0;             // nodes without multiply-accumulates

  // Appends a layer; a workload that equals a known one up to its name shares that one's shape.
  void add(const std::string& layer_name, const std::string& op, Workload workload);
  const Workload& workload(const NetworkLayer& layer) const { return shapes[size_t(layer.shape)]; }
  // Operations of the layers, padding included.
  int64_t mapped_macs() const;
  int64_t unmapped_macs() const;
  // Layers that share the shape.
  int64_t occurrences(int shape) const;
};

// Images that one execution of the workload takes: the size of "N", unless that is a dimension of the weights
// (the columns of a matrix product); else 1.
int64_t batch_size(const Workload& workload);

// The workload with `factor` times as many images: "N" of a convolution or dense layer grows, "M" of a matrix
// product whose weights all images share, "B" of one where every image brings its own. Errors (invalid
// input): a factor below 1, too many operations; (unsupported): no such dimension.
Workload with_batch(Workload workload, int64_t factor, bool shared_weight);

}  // namespace tilewright
