// The folder that `generate` writes, read back: the model in hardware numbers and the allocation are all that
// a design needs to be built again.
#pragma once

#include <filesystem>

#include "tilewright/flow/generate.h"
#include "tilewright/graph/graph.h"
#include "tilewright/hardware/device.h"
#include "tilewright/hardware/memory_model.h"
#include "tilewright/pipeline/allocation.h"
#include "tilewright/pipeline/build/build.h"
#include "tilewright/pipeline/network.h"

namespace tilewright {

inline constexpr const char* kDesignModelFile = "model.onnx";
inline constexpr const char* kDesignAllocationFile = "allocation.yaml";
inline constexpr const char* kDesignDeviceFile = "device.yaml";

struct DesignFolder {
  Graph graph;
  Device device;
  pipeline::Network network;
  pipeline::Allocation allocation;
  pipeline::Design design;
};

// Whether the folder looks like one that `generate` has written.
bool is_design_folder(const std::filesystem::path& folder);
// Errors (invalid input): a file that is missing or damaged, files that do not belong together.
DesignFolder read_design_folder(const std::filesystem::path& folder);
// Writes everything of a design. `folder` appears complete or not at all; one that holds a design is
// replaced. Errors (invalid input): those of check_design_target; what cannot be written (disk full).
void write_design_folder(const std::filesystem::path& folder, const Graph& graph,
                         const GeneratedDesign& generated, const Device& device,
                         const std::filesystem::path& rtl_folder);
// What lies behind the memory ports of a design for `device`; a bare part has the memory of device_budget.
MemoryModel design_memory(const Device& device);
// Errors (invalid input): `folder` holds something that is no design, or is no folder.
void check_design_target(const std::filesystem::path& folder);

}  // namespace tilewright
