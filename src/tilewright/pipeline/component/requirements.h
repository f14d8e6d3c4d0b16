// Collects the problems with the parameters of a component.
#pragma once

#include <string>

#include "tilewright/base/error.h"
#include "tilewright/netlist/netlist.h"

namespace tilewright::pipeline {

class Requirements {
 public:
  Requirements(std::string component, const netlist::Parameters& parameters)
      : component_(std::move(component)), parameters_(parameters) {}

  // An integer parameter, at least `least`; returned as `least` where it is less.
  int64_t at_least(const std::string& name, int64_t least) {
    const int64_t value = netlist::integer(parameters_, name);
    return checked(name, value, least);
  }
  int64_t at_least_or(const std::string& name, int64_t least, int64_t fallback) {
    return checked(name, netlist::integer_or(parameters_, name, fallback), least);
  }
  // One of the names of memory kinds.
  void kind(const std::string& fallback) {
    const std::string value = netlist::text_or(parameters_, "KIND", fallback);
    need(value == "registers" || value == "lutram" || value == "block" || value == "ultra",
         "KIND is '" + value + "', not registers, lutram, block or ultra");
  }
  void need(bool condition, const std::string& otherwise) {
    if (!condition) diagnostics_.error(ErrorKind::kInvalidInput, "component " + component_, "", otherwise);
  }
  // Errors (invalid input): every requirement that was not met.
  void raise_if_any() const { diagnostics_.raise_if_any(); }

 private:
  int64_t checked(const std::string& name, int64_t value, int64_t least) {
    need(value >= least,
         name + " is " + std::to_string(value) + ", but at least " + std::to_string(least) + " is needed");
    return value < least ? least : value;
  }

  std::string component_;
  const netlist::Parameters& parameters_;
  Diagnostics diagnostics_;
};

}  // namespace tilewright::pipeline
