// Areas of whole allocations: the sum of their bill's components (docs/design/pipeline/pipeline_models.md).
#pragma once

#include <vector>

#include "tilewright/pipeline/estimate/bill.h"
#include "tilewright/synthesis/resources.h"

namespace tilewright::pipeline {

synthesis::Resources operator+(const synthesis::Resources& a, const synthesis::Resources& b);
synthesis::Resources bill_resources(const std::vector<BillItem>& items, synthesis::DeviceFamily family);

// Weights of the features of a component or a form of one (modelled_forms), look-up tables and flip-flops;
// empty: no such form.
struct ResourceCoefficients {
  std::vector<double> lut, ff;
};
const ResourceCoefficients& resource_coefficients(const std::string& form, synthesis::DeviceFamily family);

}  // namespace tilewright::pipeline
