// Reading goes the way that writing went, so that a folder whose parts do not belong together is found out.
#include "tilewright/flow/design/design_folder.h"

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/folder_writer.h"
#include "tilewright/flow/design/design_page.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/pipeline/emit/emit.h"
#include "tilewright/pipeline/estimate/estimate.h"

namespace tilewright {
namespace fs = std::filesystem;

void write_design_folder(const fs::path& folder, const Graph& graph, const GeneratedDesign& generated,
                         const Device& device, const fs::path& rtl_folder, const PageOrigin& origin) {
  FolderWriter writer(folder, kDesignMaker);
  const fs::path& to = writer.path();
  pipeline::EmitOptions emit;
  emit.rtl_folder = rtl_folder;
  emit.cycles = generated.report.cycles();
  pipeline::emit(generated.design, generated.network, &device, to, emit);
  write_onnx(to / kDesignModelFile, graph);
  write_text_file(to / kDesignAllocationFile, pipeline::print_allocation(generated.allocated.allocation));
  write_text_file(to / kDesignDeviceFile, print_device(device));
  Page page = design_page(generated.report);
  page.origin = origin;
  write_text_file(to / "report.html", page_html(page));
  write_text_file(to / "report.json", to_json(generated.report));
  writer.commit();
}

bool is_design_folder(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(folder / kDesignModelFile, ignored) &&
         std::filesystem::is_regular_file(folder / kDesignAllocationFile, ignored);
}

DesignFolder read_design_folder(const std::filesystem::path& folder) {
  return with_context("design '" + folder.string() + "'", [&] {
    DesignFolder result;
    result.graph = read_onnx(folder / kDesignModelFile);
    result.device = read_device(folder / kDesignDeviceFile);
    result.network = pipeline::extract_network(result.graph);
    const std::filesystem::path file = folder / kDesignAllocationFile;
    result.allocation = pipeline::parse_allocation(read_text_file(file), file.string());
    Diagnostics diagnostics;
    result.allocation.verify(result.network, diagnostics);
    diagnostics.raise_if_any(file.string());
    result.design = pipeline::build(result.network, result.allocation);
    return result;
  });
}

MemoryModel design_memory(const Device& device) {
  if (device.memory) return device.memory->model();
  const pipeline::MemoryPort port;
  MemoryModel model;
  model.latency = uint32_t(port.latency_cycles);
  model.efficiency_percent = uint32_t(port.efficiency_percent);
  return model;
}

}  // namespace tilewright
