// A component's look-up tables and flip-flops are weighted sums of its features.
#include "tilewright/pipeline/estimate/resource_model.h"

#include <cmath>

#include "tilewright/base/error.h"
#include "tilewright/pipeline/estimate/estimate.h"
#include "tilewright/pipeline/estimate/resource_features.h"

namespace tilewright::pipeline {
namespace {

int64_t weighted(const std::vector<double>& features, const std::vector<double>& weights) {
  TILEWRIGHT_CHECK(features.size() == weights.size(), "a resource model with a weight missing");
  double sum = 0;
  for (size_t i = 0; i < features.size(); ++i) sum += features[i] * weights[i];
  return std::max<int64_t>(0, std::llround(sum));
}

}  // namespace

synthesis::Resources operator+(const synthesis::Resources& a, const synthesis::Resources& b) {
  return {a.lut + b.lut, a.ff + b.ff, a.carry + b.carry, a.dsp + b.dsp, a.bram + b.bram, a.uram + b.uram};
}

synthesis::Resources component_resources(const std::string& component, const netlist::Parameters& parameters,
                                         synthesis::DeviceFamily family) {
  const ResourceFeatures features = resource_features(component, parameters, family);
  const ResourceCoefficients& weights = resource_coefficients(features.form, family);
  synthesis::Resources resources;
  resources.lut = weighted(features.lut, weights.lut);
  resources.ff = weighted(features.ff, weights.ff);
  resources.dsp = features.dsp;
  resources.bram = features.bram;
  resources.uram = features.uram;
  return resources;
}

synthesis::Resources bill_resources(const std::vector<BillItem>& items, synthesis::DeviceFamily family) {
  synthesis::Resources total;
  for (const BillItem& item : items) {
    total = total + component_resources(item.component, item.parameters, family);
  }
  return total;
}

}  // namespace tilewright::pipeline
