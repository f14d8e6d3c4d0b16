// One pass in topological order for each node that hardware cannot compute, from behind which on it tries.
#include "tilewright/pipeline/network/region.h"

#include <algorithm>

#include "tilewright/layers/fused_layer.h"
#include "tilewright/pipeline/network/value_views.h"

namespace tilewright::pipeline {
namespace {

using Function = OperatorFunction;
using Place = Region::Place;

constexpr int64_t kMostTries = 64;

bool begins_network(const Graph& graph, const Node& node) {
  const Function function = operator_function(node);
  return runs_in_hardware(graph, node) &&
         (function == Function::kConvolution || function == Function::kTransposedConvolution ||
          function == Function::kDense || function == Function::kMaxPool);
}

class RegionFinder {
 public:
  RegionFinder(const Graph& graph, const std::map<NodeId, std::string>& refused)
      : graph_(graph), producers_(graph.producers()), consumers_(graph.consumers()) {
    for (size_t id = 0; id < graph.nodes.size(); ++id) {
      const Node& node = graph.nodes[id];
      able_.push_back(refused.count(NodeId(id)) == 0 &&
                      (runs_in_hardware(graph, node) || moves_elements(node)));
      layer_.push_back(able_.back() && runs_in_hardware(graph, node));
      begins_.push_back(able_.back() && begins_network(graph, node));
      products_.push_back(node_products(graph, node));
    }
  }

  Region best() const {
    Region best = from(0);
    int64_t tries = 0;
    for (size_t id = 0; id < able_.size() && tries < kMostTries; ++id) {
      if (best.places[id] != Place::kBehind || able_[id]) continue;
      ++tries;
      Region other = from(id + 1);
      if (other.products > best.products) best = std::move(other);
    }
    close(best);
    return best;
  }

 private:
  // With nothing before node `first`.
  Region from(size_t first) const {
    Region region;
    region.places.assign(able_.size(), Place::kBefore);
    for (size_t id = 0; id < able_.size(); ++id) {
      Place latest = Place::kBefore;
      for (const ValueId value : graph_.nodes[id].inputs) {
        const NodeId producer = value == kNoValue ? kNoNode : producers_[size_t(value)];
        if (producer != kNoNode) latest = std::max(latest, region.places[size_t(producer)]);
      }
      Place& own = region.places[id];
      if (latest == Place::kBehind) {
        own = Place::kBehind;
      } else if (latest == Place::kInside) {
        own = able_[id] ? Place::kInside : Place::kBehind;
      } else if (id >= first && begins_[id]) {
        own = Place::kInside;
      }
    }
    // What is only moved on the way to the host is moved by the host.
    for (size_t id = able_.size(); id-- > 0;) {
      if (region.places[id] != Place::kInside || layer_[id]) continue;
      bool inside = false;
      for (const ValueId value : graph_.nodes[id].outputs) {
        if (value == kNoValue) continue;
        for (const NodeId reader : consumers_[size_t(value)])
          inside |= region.places[size_t(reader)] == Place::kInside;
      }
      if (!inside) region.places[id] = Place::kBehind;
    }
    for (size_t id = 0; id < able_.size(); ++id) {
      if (region.places[id] != Place::kInside) continue;
      region.products += products_[id];
      if (layer_[id]) region.empty = false;
    }
    return region;
  }

  void close(Region& region) const {
    std::vector<bool> read(graph_.values.size(), false), left(graph_.values.size(), false);
    for (size_t id = 0; id < able_.size(); ++id) {
      const bool inside = region.places[id] == Place::kInside;
      for (const ValueId value : graph_.nodes[id].inputs) {
        if (value == kNoValue || graph_.is_constant(value)) continue;
        const NodeId producer = producers_[size_t(value)];
        const bool from_inside = producer != kNoNode && region.places[size_t(producer)] == Place::kInside;
        if (inside && !from_inside && !read[size_t(value)]) {
          read[size_t(value)] = true;
          region.inputs.push_back(value);
        }
        if (!inside && from_inside) left[size_t(value)] = true;
      }
    }
    for (size_t id = 0; id < able_.size(); ++id) {
      if (region.places[id] != Place::kInside) continue;
      for (const ValueId value : graph_.nodes[id].outputs) {
        if (value != kNoValue && (left[size_t(value)] || graph_.is_output(value)))
          region.outputs.push_back(value);
      }
    }
  }

  const Graph& graph_;
  const std::vector<NodeId> producers_;
  const std::vector<std::vector<NodeId>> consumers_;
  std::vector<bool> able_, layer_, begins_;
  std::vector<int64_t> products_;
};

}  // namespace

bool runs_in_hardware(const Graph& graph, const Node& node) { return layer_number(graph, node).has_value(); }

int64_t node_products(const Graph& graph, const Node& node) {
  const OperatorFunction function = operator_function(node);
  const bool transposed = function == Function::kTransposedConvolution;
  if (function != Function::kConvolution && function != Function::kDense && !transposed) return 0;
  const int weights = weight_input(node);
  if (!node.has_input(weights)) return 0;
  const Shape& map = transposed ? graph.value(node.input(0)).shape : graph.value(node.outputs[0]).shape;
  int64_t pixels = map.rank() > 0 ? map[0] : 1;
  for (int axis = 2; axis < map.rank(); ++axis) pixels *= map[axis];
  return pixels * graph.value(node.input(weights)).shape.element_count();
}

std::vector<NodeId> obstacles(const Graph& graph, const Region& region) {
  const std::vector<NodeId> producers = graph.producers();
  const size_t count = graph.nodes.size();
  std::vector<bool> layer(count), before(count, false), behind(count, false);  // a layer on the way there
  const auto each_source = [&](size_t id, const auto& visit) {
    for (const ValueId value : graph.nodes[id].inputs) {
      const NodeId producer = value == kNoValue ? kNoNode : producers[size_t(value)];
      if (producer != kNoNode) visit(size_t(producer));
    }
  };
  for (size_t id = 0; id < count; ++id) {
    layer[id] = runs_in_hardware(graph, graph.nodes[id]);
    each_source(id, [&](size_t source) {
      if (layer[source] || before[source]) before[id] = true;
    });
  }
  for (size_t id = count; id-- > 0;) {
    each_source(id, [&](size_t source) {
      if (layer[id] || behind[id]) behind[source] = true;
    });
  }
  std::vector<NodeId> result;
  for (size_t id = 0; id < count; ++id) {
    const Node& node = graph.nodes[id];
    const bool between = before[id] && behind[id] && region.places[id] != Place::kInside;
    const bool conversion = operator_class(node) == OperatorClass::kConversion;
    if (between && !layer[id] && !conversion && !moves_elements(node)) result.push_back(NodeId(id));
  }
  return result;
}

Region find_region(const Graph& graph, const std::map<NodeId, std::string>& refused) {
  return RegionFinder(graph, refused).best();
}

}  // namespace tilewright::pipeline
