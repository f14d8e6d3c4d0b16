// The features of a component's area. Look-up tables and flip-flops are weighted sums of these
// features (weights: resource_coefficients.cpp, fitted to Yosys runs); blocks are counted exactly.
#pragma once

#include <string>
#include <vector>

#include "tilewright/netlist/netlist.h"
#include "tilewright/synthesis/resources.h"

namespace tilewright::pipeline {

struct ResourceFeatures {
  const char* form = "";        // whose weights count: the component, or one of its forms
  std::vector<double> lut, ff;  // the first of each is 1
  int64_t dsp = 0, bram = 0, uram = 0;
};

// Errors (invalid input): a component without a resource model.
ResourceFeatures resource_features(const std::string& component, const netlist::Parameters& parameters,
                                   synthesis::DeviceFamily family);
// The components that have one; and the names that weights are kept under: these, and forms of components
// with features of their own.
const std::vector<std::string>& modelled_components();
const std::vector<std::string>& modelled_forms();

}  // namespace tilewright::pipeline
