// The features of components (component/area_features.h), by name; and which names have weights.
#pragma once

#include <string>
#include <vector>

#include "tilewright/netlist/netlist.h"
#include "tilewright/pipeline/component/area_features.h"
#include "tilewright/synthesis/resources.h"

namespace tilewright::pipeline {

// Errors (invalid input): a component without a resource model.
ResourceFeatures resource_features(const std::string& component, const netlist::Parameters& parameters,
                                   synthesis::DeviceFamily family);
// The components that have one; and the names that weights are kept under: these, and forms of components
// with features of their own.
const std::vector<std::string>& modelled_components();
const std::vector<std::string>& modelled_forms();

}  // namespace tilewright::pipeline
