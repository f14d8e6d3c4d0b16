// For tests: a library of one component, `box`.
#pragma once

#include "tilewright/base/error.h"
#include "tilewright/netlist/netlist.h"

namespace tilewright::netlist {

// box: in(WIDTH) -> out(WIDTH), ready_in -> ready_out within the cycle. WIDTH of 0 is refused.
class BoxLibrary : public Library {
 public:
  bool ports(const std::string& component, const Parameters& parameters,
             std::vector<Port>& result) const override {
    if (component != "box") return false;
    const int width = int(integer_or(parameters, "WIDTH", 1));
    if (width < 1) throw Error(ErrorKind::kInvalidInput, "WIDTH is too small");
    result = {{"in", Direction::kInput, width},
              {"out", Direction::kOutput, width},
              {"ready_in", Direction::kInput, 1},
              {"ready_out", Direction::kOutput, 1}};
    return true;
  }
  bool combinational(const std::string&, const Parameters&, const std::string& output,
                     const std::string& input) const override {
    return output == "ready_out" && input == "ready_in";
  }
};

}  // namespace tilewright::netlist
