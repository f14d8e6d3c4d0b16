// A netlist as files that tools read: its Verilog, the sources of its components, its memory images.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/netlist/netlist.h"
#include "tilewright/pipeline/image/memory_image.h"

namespace tilewright::pipeline {

// The files that the components of `design` need, in reading order, each once: below the folder rtl, and
// kConfigPackageFile, which is no file of it.
std::vector<std::filesystem::path> component_files(const netlist::Netlist& design);
// The text of one of them. Errors (invalid input): a source that `rtl_folder` lacks.
std::string component_file_text(const std::filesystem::path& file, const std::filesystem::path& rtl_folder);

// The modules' parameter that names the folder with the folder memory/ of a design.
inline constexpr const char* kFolderParameter = "FOLDER";
// `design`, whose top has kFolderParameter ("." unless said otherwise), with every parameter that names one
// of `images` naming its file in `memory` of that folder instead.
netlist::Netlist with_folder_parameter(netlist::Netlist design, const MemoryImages& images);

// Writes the netlist as TOP.sv, the package and the images into `folder`, with absolute paths for $readmemh;
// components stay where they are. Returns all sources in reading order. Errors (invalid input): a source that
// is missing, a folder that cannot be written.
std::vector<std::filesystem::path> write_sources(const netlist::Netlist& design, const MemoryImages& images,
                                                 const std::filesystem::path& folder,
                                                 const std::filesystem::path& rtl_folder);

}  // namespace tilewright::pipeline
