// `generate --form constant`: a network of dense layers whose weights are wires.
#pragma once

#include <string>

#include "tilewright/flow/design/design_question.h"
#include "tilewright/hardware/device.h"
#include "tilewright/pipeline/constant/constant_network.h"

namespace tilewright {

struct ConstantDesign {
  std::string network, folder;
  Device device;
  double clock_mhz = 0;
  pipeline::ConstantNetwork made;
  std::vector<std::string> host_nodes;  // of the graph, before and behind
  Answer preprocessing;                 // of the calibration's pictures and sounds; empty: there are none
};

std::string to_string(const ConstantDesign& design);
std::string to_json(const ConstantDesign& design);

// Converts the model to integers and writes the folder. Of the question, what an allocation would decide is
// not looked at. Errors: those of the parts; (unsupported) layers that are no chain of dense ones;
// (infeasible) more tables than the device has.
ConstantDesign generate_constant_folder(const DesignQuestion& question);

}  // namespace tilewright
