// Fitted to the Yosys runs of bench/pipeline_calibration/measured.txt by its `fit`; in the order of
// resource_features.cpp.
#include <map>

#include "tilewright/pipeline/resource_model.h"

namespace tilewright::pipeline {

const ResourceCoefficients& resource_coefficients(const std::string& component) {
  static const std::map<std::string, ResourceCoefficients> table = {
      {"control", {{400, 20, 1}, {500, 32}}},
      {"dma_read", {{60, 1, 1, 4}, {30, 2, 1, 3}}},
      {"dma_write", {{90, 1, 1, 4}, {40, 2, 1, 3}}},
      {"finish",
       {{30, 1, 1, 1.2, 0.5, 0.3, 2, 200, 100, 300, 60, 120, 1},
        {20, 1, 1, 1.0, 0.5, 0.2, 2, 130, 100, 300, 50, 90, 16}}},
      {"lane_array", {{15, 1, 1, 1, 1, 1, 1}, {15, 1, 1, 1, 1, 1}}},
      {"line_window", {{40, 1, 6, 4, 3, 4, 0.5}, {10, 1, 4, 3, 1, 1}}},
      {"mac_array", {{15, 1, 1, 1, 1, 1, 1, 1}, {15, 1, 1, 1, 1, 1, 1, 1}}},
      {"read_share", {{20, 1}, {20, 1}}},
      {"rom_walker", {{60, 3, 0.7, 60, 0.3}, {60, 2, 1, 64}}},
      {"sliding_window", {{120, 1, 1, 0.6, 0.3, 4}, {120, 1, 1, 1, 1, 4}}},
      {"stream_fifo", {{8, 1, 2, 0.7}, {3, 1, 1}}},
      {"stream_fork", {{5}, {2, 1}}},
      {"stream_frame", {{6, 2, 0.5}, {1, 1, 1}}},
      {"stream_join", {{4}, {1, 1}}},
      {"stream_width", {{5, 1, 2}, {2, 1, 1}}},
      {"tensor_memory", {{4, 1, 0.6, 0.6, 0.6, 1}, {0, 1, 1}}},
      {"tensor_reader", {{150, 8, 1, 0.5, 0.4, 8, 3, 0.3}, {150, 8, 20}}},
      {"tensor_writer", {{120, 6, 3, 0.3, 1}, {100, 5, 1, 10}}},
      {"weight_ring", {{80, 1, 6, 0.4, 60, 0.3}, {60, 1, 5, 64}}},
  };
  static const ResourceCoefficients none;
  const auto found = table.find(component);
  return found == table.end() ? none : found->second;
}

}  // namespace tilewright::pipeline
