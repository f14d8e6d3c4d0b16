// Instantiation of mapping templates.
#include "tilewright/spatial/taxonomy/dataflow_mapping.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tilewright/base/integer_math.h"
#include "tilewright/spatial/taxonomy/bound_dataflow.h"

namespace tilewright::study {
namespace {

class Builder {
 public:
  Builder(const Dataflow& dataflow, const Workload& workload, std::vector<double> values,
          Diagnostics& diagnostics)
      : dataflow_(dataflow), workload_(workload), values_(std::move(values)), diagnostics_(diagnostics) {
    inside_.assign(size_t(workload.dimension_count()), 1);
  }

  Mapping build() {
    Mapping mapping;
    mapping.levels.resize(dataflow_.mapping.size());
    for (size_t l = mapping.levels.size(); l-- > 0;) fill(dataflow_.mapping[l], mapping.levels[l]);
    for (size_t d = 0; d < inside_.size(); ++d) {
      const Dimension& dimension = workload_.dimensions[d];
      if (inside_[d] >= dimension.size) continue;
      fail(dimension.name, fmt::format("the loops cover {} of {}", inside_[d], dimension.size));
    }
    return mapping;
  }

 private:
  void fail(const std::string& what, const std::string& message) {
    diagnostics_.error(ErrorKind::kInvalidInput, fmt::format("mapping of dataflow '{}'", dataflow_.name),
                       what, message);
  }

  void fill(const TemplateLevel& from, MappingLevel& to) {
    to.name = from.name;
    for (size_t k = from.spatial.size(); k-- > 0;) {
      const TemplateLoop& loop = from.spatial[k];
      if (const auto [dimension, factor] = take(loop); factor > 1) {
        to.spatial.insert(to.spatial.begin(),
                          {dimension, factor, loop.spatial_y ? SpatialAxis::kY : SpatialAxis::kX});
      }
    }
    for (size_t k = from.temporal.size(); k-- > 0;) {
      if (const auto [dimension, factor] = take(from.temporal[k]); factor > 1) {
        to.temporal.insert(to.temporal.begin(), {dimension, factor});
      }
    }
    if (from.keeps_all) return;
    to.keeps = 0;
    for (const std::string& name : from.keeps) {
      const std::optional<int> space = workload_.find_data_space(name);
      if (!space) {
        fail(name, "the workload has no such data space");
      } else {
        to.keeps |= 1u << *space;
      }
    }
  }

  // The next loop outwards: its dimension and factor, at least 1.
  std::pair<int, int64_t> take(const TemplateLoop& loop) {
    const std::optional<int> found = workload_.find_dimension(loop.dimension);
    if (!found) {
      fail(loop.dimension, "the workload has no such dimension");
      return {0, 1};
    }
    int64_t& inside = inside_[size_t(*found)];
    const int64_t size = workload_.dimensions[size_t(*found)].size;
    const int64_t left = ceil_div(size, inside);
    int64_t factor = left;
    if (loop.factor >= 0) {
      const double value = values_[size_t(loop.factor)];
      if (!(value >= 1 && value == std::floor(value))) {
        fail(loop.dimension, fmt::format("the factor is {:.15g}", value));
        return {*found, 1};
      }
      factor = value < double(left) ? int64_t(value) : left;
    }
    inside *= factor;
    return {*found, factor};
  }

  const Dataflow& dataflow_;
  const Workload& workload_;
  std::vector<double> values_;   // of the dataflow's nodes
  std::vector<int64_t> inside_;  // iterations of the loops taken so far, per dimension
  Diagnostics& diagnostics_;
};

}  // namespace

Mapping dataflow_mapping(const Dataflow& dataflow, const LayerShape& layer, const StudyMachine& machine,
                         const Storage& storage, const std::vector<int64_t>& variables,
                         const Workload& workload) {
  Diagnostics diagnostics;
  if (dataflow.mapping.empty()) {
    diagnostics.error(ErrorKind::kInvalidInput, fmt::format("dataflow '{}'", dataflow.name), "mapping",
                      "the file gives no mapping");
  }
  if (variables.size() != dataflow.variables.size()) {
    diagnostics.error(ErrorKind::kInvalidInput, fmt::format("dataflow '{}'", dataflow.name), "variables",
                      fmt::format("{} values for {} variables", variables.size(), dataflow.variables.size()));
  }
  diagnostics.raise_if_any();
  std::vector<double> symbols;
  for (const std::optional<double>& value : symbol_values(dataflow, layer, machine, storage)) {
    symbols.push_back(*value);
  }
  symbols.insert(symbols.end(), variables.begin(), variables.end());
  std::vector<double> values(dataflow.graph.nodes().size());
  evaluate(dataflow.graph, symbols, values);
  Mapping mapping = Builder(dataflow, workload, std::move(values), diagnostics).build();
  diagnostics.raise_if_any();
  return mapping;
}

}  // namespace tilewright::study
