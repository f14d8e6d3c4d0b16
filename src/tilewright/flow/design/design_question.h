// The request of `generate` in plain words, and the design that answers it.
#pragma once

#include <filesystem>
#include <string>

#include "tilewright/flow/design/generate.h"
#include "tilewright/flow/model/load_model.h"
#include "tilewright/flow/samples/sample_request.h"
#include "tilewright/flow/samples/samples.h"
#include "tilewright/flow/target/shared_folders.h"
#include "tilewright/report/page.h"
#include "tilewright/search/deadline.h"

namespace tilewright {

struct DesignQuestion {
  ModelFile model;
  std::string device;                 // a preset's name or a file
  std::string budget;                 // of pipeline::apply_budget; empty: all of the device
  double clock_mhz = 0;               // 0: the device's
  std::string objective = "latency";  // or throughput
  std::string form = "auto";          // streaming: a stage for every layer; processors: shared
                                      // engines; constant: design/constant_design.h
  std::string number_type = "int8";   // or fixed point such as q10.22
  int weight_bits = 8, activation_bits = 8;
  SampleRequest calibration;  // of a float model in int8; empty: random where weights are drawn
  // Bits per layer for a budget: precision_limits, "lut=0.5"; empty: all layers have the bits above. Which
  // bits there are, "2,4,8"; class numbers of the calibration, if there are any; how long weights are
  // trained at the chosen bits, 0: not at all; and the file of the quantised model in the format of
  // write_quantized, empty: none.
  std::string bits_for, widths;
  std::optional<SampleSource> labels;
  double fine_tune_seconds = 60;
  std::filesystem::path quantized;
  std::string quantized_format = "qdq";
  std::filesystem::path allocation;  // file that replaces the search; empty: none
  std::string memory;                // of the simulation; empty: the device's
  bool simulate = true;
  int threads = 1;
  std::filesystem::path output;        // folder of the design
  const Deadline* deadline = nullptr;  // a design that is not simulated by then is only estimated
  SharedFolders folders;
  PageOrigin origin;  // of report.html
};

// The model in the number type of its hardware.
struct DesignGraph {
  Graph graph;
  Answer preprocessing;  // of the calibration's pictures and sounds; empty: there are none
  int64_t batch = 1;     // of the model, taken apart
};
// Errors: those of the parts; (invalid input) bits that fixed point does not have.
DesignGraph design_graph(const DesignQuestion& question);

// Converts the model to the number type, generates the design within the budget, and writes its folder.
// Errors: those of the parts; (invalid input) bits that fixed point does not have; bits to be chosen for a
// model that is no float model with calibration.
GeneratedDesign generate_folder(const DesignQuestion& question);

}  // namespace tilewright
