// Files that a component uses come before it, so that readers of one pass are content.
#include "tilewright/pipeline/verilog/design_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/netlist/verilog.h"
#include "tilewright/pipeline/component/component.h"
#include "tilewright/pipeline/component/config_package.h"

namespace tilewright::pipeline {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHandshakeRules = "checks/tw_handshake_checker.sv";  // in every component

void add_file(const std::string& module, std::set<std::string>& seen, std::vector<fs::path>& files) {
  if (!seen.insert(module).second) return;
  if (module == kConfigPackage) {
    files.push_back(kConfigPackageFile);
    return;
  }
  if (const ComponentType* const type = component_type(module)) {
    for (const char* const used : type->uses) add_file(used, seen, files);
  }
  files.push_back(fs::path("pipeline") / (component_module(module) + ".sv"));
}

// `design` with every parameter and memory that names one of `images` naming the file in `folder` instead.
netlist::Netlist with_image_folder(netlist::Netlist design, const MemoryImages& images,
                                   const std::string& folder) {
  const auto move = [&](std::string& name) {
    if (images.contains(name)) name = folder + "/" + name;
  };
  for (netlist::Module& module : design.modules) {
    for (netlist::Instance& instance : module.instances) {
      for (auto& [key, value] : instance.parameters) {
        if (std::string* const text = std::get_if<std::string>(&value)) move(*text);
      }
    }
    for (netlist::Memory& memory : module.memories) {
      const bool banked = memory.banks > 1 && images.contains(memory.contents + ".0");
      if (banked) memory.contents = folder + "/" + memory.contents;
      move(memory.contents);
    }
  }
  return design;
}

fs::path existing_source(const fs::path& source) {
  if (fs::exists(source)) return source;
  throw Error(ErrorKind::kInvalidInput, fmt::format("no component source '{}'", source.string()),
              "name the folder rtl of Tilewright");
}

}  // namespace

std::vector<fs::path> component_files(const netlist::Netlist& design) {
  std::set<std::string> seen;
  std::vector<fs::path> files;
  for (const netlist::Module& module : design.modules) {
    for (const netlist::Instance& instance : module.instances) {
      if (design.module(instance.module) == nullptr) add_file(instance.module, seen, files);
    }
  }
  if (!files.empty()) files.insert(files.begin(), kHandshakeRules);
  return files;
}

std::string component_file_text(const fs::path& file, const fs::path& rtl_folder) {
  if (file == kConfigPackageFile) return config_package();
  return read_text_file(existing_source(rtl_folder / file));
}

netlist::Netlist with_folder_parameter(netlist::Netlist design, const MemoryImages& images) {
  TILEWRIGHT_CHECK(design.modules.size() == 1, "a design of several modules");
  netlist::Module& top = design.modules[0];
  top.text_parameters[kFolderParameter] = ".";
  for (netlist::Instance& instance : top.instances) {
    for (auto& [key, value] : instance.parameters) {
      const std::string* const text = std::get_if<std::string>(&value);
      if (text == nullptr || !images.contains(*text)) continue;
      value = netlist::ParameterText{kFolderParameter, "/memory/" + *text};
    }
  }
  return design;
}

std::vector<fs::path> write_sources(const netlist::Netlist& design, const MemoryImages& images,
                                    const fs::path& folder, const fs::path& rtl_folder) {
  create_folder(folder);
  for (const auto& [name, image] : images) write_text_file(folder / name, image.to_hex());
  std::vector<fs::path> sources;
  for (const fs::path& file : component_files(design)) {
    if (file == kConfigPackageFile) {
      sources.push_back(folder / file);
      write_text_file(sources.back(), config_package());
    } else {
      sources.push_back(existing_source(rtl_folder / file));
    }
  }
  const netlist::Netlist placed = with_image_folder(design, images, fs::absolute(folder).string());
  const fs::path top = folder / (netlist::printed_module(design, design.top, component_library()) + ".sv");
  write_text_file(top, netlist::to_verilog(placed, component_library()));
  sources.push_back(top);
  return sources;
}

}  // namespace tilewright::pipeline
