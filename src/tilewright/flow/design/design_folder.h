// Reads back the folder that `generate` writes: the model in hardware numbers and the allocation are enough
// to build the design again.
#pragma once

#include <filesystem>

#include "tilewright/flow/design/generate.h"
#include "tilewright/graph/graph.h"
#include "tilewright/hardware/device.h"
#include "tilewright/hardware/memory_model.h"
#include "tilewright/pipeline/design/allocation.h"
#include "tilewright/pipeline/design/build.h"
#include "tilewright/pipeline/network/network.h"
#include "tilewright/report/page.h"

namespace tilewright {

inline constexpr const char* kDesignModelFile = "model.onnx";
inline constexpr const char* kDesignAllocationFile = "allocation.yaml";
// Who writes designs, for check_folder_target.
inline constexpr const char* kDesignMaker = "generate";
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
// Writes everything of a design, report.html (of `origin`) included, with a FolderWriter: `folder` appears
// complete or not at all, and replaces an earlier design, keeping files that were added to it. Errors
// (invalid input): those of FolderWriter; what cannot be written (disk full).
void write_design_folder(const std::filesystem::path& folder, const Graph& graph,
                         const GeneratedDesign& generated, const Device& device,
                         const std::filesystem::path& rtl_folder, const PageOrigin& origin);
// The memory at the ports of a design for `device`; a bare part has the memory of device_budget.
MemoryModel design_memory(const Device& device);

}  // namespace tilewright
