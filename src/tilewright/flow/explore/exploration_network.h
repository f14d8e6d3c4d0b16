// A network as exploration sees it: the distinct layers that run on an overlay, each with how often it comes,
// as if the network had been trained with operands of some width. Shapes alone decide how long a layer takes,
// so the widths of one compiled bundle stand for those of all others: weights and activations are replaced by
// some of that width.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tilewright/flow/model/load_model.h"
#include "tilewright/flow/run/bundle.h"
#include "tilewright/overlay/schedule/layer.h"

namespace tilewright {

struct ExplorationLayer {
  overlay::OverlayLayer layer;
  int64_t count = 1;
  std::vector<std::string> names;  // of the nodes
};

struct ExplorationNetwork {
  int operand_bits = 8;
  std::vector<ExplorationLayer> layers;  // in the order of their first nodes
  // What is left out, "name: reason": nodes of the host, and below 8 bits layers that have no such form.
  std::vector<std::string> left_out;
  int64_t macs = 0;
};

// A digest of what is tuned (layers and how often they occur): it does not change if a compiler gives the
// same layers other schedules or placements.
std::string network_digest(const ExplorationNetwork& network);

// Errors (invalid input): the bundle is not of 8-bit operands; (unsupported) nothing is left.
ExplorationNetwork exploration_network(const Bundle& bundle, int operand_bits);

// A model compiled for exploration_reference(). Time does not depend on numbers, so a float model is
// quantised on random inputs. Errors: those of hardware_form and compile.
Bundle exploration_bundle(Graph model, int threads);
// The same of a model file, or the bundle that the file is. Errors besides: those of load_model and
// read_bundle.
Bundle exploration_bundle(const ModelFile& file, int threads);

// The overlay that networks are compiled for before they are explored: 8 bits, 1x16x16.
OverlayHardware exploration_reference();

}  // namespace tilewright
