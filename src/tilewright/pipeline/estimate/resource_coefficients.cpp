// Set to the structure of the modules and to the Yosys runs of bench/pipeline_calibration/measured.txt, in
// the order of resource_features.cpp. docs/pipeline_models.md says which components no run stands behind.
#include <map>

#include "tilewright/pipeline/estimate/resource_model.h"

namespace tilewright::pipeline {

const ResourceCoefficients& resource_coefficients(const std::string& component) {
  static const std::map<std::string, ResourceCoefficients> table = {
      {"control", {{400, 20, 1}, {500, 32}}},
      {"dma_read", {{72, 1, 1, 4}, {30, 1.35, 1, 3}}},
      {"dma_write", {{104, 1, 1, 4}, {42, 1.35, 1, 3}}},
      {"finish",
       {{20, 1, 0, 3.5, 0, 0.3, 0.4, 200, 100, 300, 60, 120, 1},
        {10, 1, 0, 2, 0, 0.1, 0.1, 130, 100, 300, 15, 90, 16}}},
      {"lane_array", {{15, 1.25, 1, 0.88, 1, 1, 1}, {8, 1, 1, 1, 1, 1}}},
      {"line_window", {{40, 1, 4, 4, 2, 2, 0.5}, {8, 1, 3, 2.5, 1, 1}}},
      {"mac_array", {{6, 2, 1, 1, 1, 0.88, 1.2, 0}, {8, 1, 1, 1, 1, 1, 1, 0}}},
      {"read_share", {{32, 1}, {28, 1}}},
      {"rom_walker", {{110, 3, 1, 10, 0.1}, {85, 2, 0.05, 5}}},
      {"sliding_window", {{120, 1, 1, 0.6, 0.3, 4}, {120, 1, 1, 1, 1, 4}}},
      {"stream_fifo", {{8, 1, 2, 0.7}, {3, 1, 1}}},
      {"stream_fork", {{5}, {2, 1}}},
      {"stream_frame", {{10, 4, 0.3}, {1, 1, 1}}},
      {"stream_join", {{4}, {1, 1}}},
      {"stream_width", {{12, 2.1, 2}, {2, 1, 1}}},
      {"tensor_memory", {{3, 1, 0.5, 0.5, 0.4, 1}, {0, 1, 1}}},
      {"tensor_reader", {{190, 8, 1, 0.5, 0.4, 8, 3, 0.3}, {150, 8, 20}}},
      {"tensor_writer", {{80, 4, 2, 0.1, 1}, {105, 5, 1, 10}}},
      {"weight_ring", {{110, 1, 6, 0.5, 60, 0.3}, {60, 1, 5, 64}}},
  };
  static const ResourceCoefficients none;
  const auto found = table.find(component);
  return found == table.end() ? none : found->second;
}

}  // namespace tilewright::pipeline
