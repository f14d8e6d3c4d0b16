// The features of components, by name.
#include "tilewright/pipeline/estimate/resource_features.h"

#include "tilewright/base/error.h"
#include "tilewright/pipeline/component/component.h"

namespace tilewright::pipeline {

ResourceFeatures resource_features(const std::string& component, const netlist::Parameters& parameters,
                                   synthesis::DeviceFamily family) {
  const ComponentType* const type = component_type(component);
  if (type == nullptr) {
    throw Error(ErrorKind::kInvalidInput, "component '" + component + "' has no resource model");
  }
  ResourceFeatures features = type->features({parameters, family});
  if (*features.form == 0) features.form = type->name;
  return features;
}

const std::vector<std::string>& modelled_components() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const ComponentType* type : component_types()) list.push_back(type->name);
    return list;
  }();
  return names;
}

const std::vector<std::string>& modelled_forms() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list = modelled_components();
    list.insert(list.end(), {"finish_fixed", "finish_tables", "mac_array_packed"});
    return list;
  }();
  return names;
}

}  // namespace tilewright::pipeline
