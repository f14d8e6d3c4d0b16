// Whoever wants only the numbers needs no folder for the files.
#include "tilewright/flow/run/overlay_synthesis.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "tilewright/base/file.h"
#include "tilewright/base/folder_writer.h"
#include "tilewright/base/json.h"
#include "tilewright/base/temporary_folder.h"
#include "tilewright/hardware/register_map.h"
#include "tilewright/overlay/implement/overlay_synthesis.h"
#include "tilewright/overlay/rtl/registers.h"
#include "tilewright/overlay/rtl/rtl_config.h"

namespace tilewright {
namespace {

// Beside the sources, for tools that read SystemRDL.
void write_registers(const std::filesystem::path& folder) {
  write_text_file(folder / "registers.rdl", system_rdl({"tilewright_overlay_registers",
                                                        "Registers of the overlay", overlay::kRegisters}));
}

Answer write_sources(const SynthesisRequest& request, const OverlayHardware& hardware) {
  if (request.output.empty()) {
    throw Error(ErrorKind::kInvalidInput, "no folder is given for the sources", "-o FOLDER");
  }
  const FolderClaim claim(request.output, "synth");
  const auto files = overlay::write_rtl(hardware, request.output, request.folders.rtl);
  write_registers(request.output);
  nlohmann::json list = nlohmann::json::array();
  for (const auto& file : files) list.push_back(file.string());
  return {
      fmt::format("{} source files of '{}' in {}\n", files.size(), hardware.name, request.output.string()),
      json_text(nlohmann::json{{"hardware", hardware.name}, {"sources", list}}, 2) + "\n"};
}

}  // namespace

SynthesisAnswer synthesize_overlay(const SynthesisRequest& request) {
  const OverlayHardware hardware = find_overlay_hardware(request.hardware, request.folders.hardware);
  if (request.rtl_only) return {write_sources(request, hardware), {}};
  if (request.device.empty()) {
    throw Error(ErrorKind::kInvalidInput, "no device is given", "--device NAME, or --rtl-only");
  }
  const Device device = find_device(request.device, request.folders.devices());
  std::optional<TemporaryFolder> temporary;
  if (request.output.empty()) temporary.emplace(request.temporary, "tilewright-synth");
  const std::filesystem::path folder = temporary ? temporary->path() : request.output;
  const FolderClaim claim(folder, "synth");
  overlay::SynthesisReport report =
      overlay::synthesize(hardware, device,
                          {request.folders.rtl, folder, request.clock_mhz, request.seed, !request.no_dsp,
                           request.timeout_s, request.allow_misfit, stop_of(request)});
  if (temporary) {
    report.sources.clear();
    report.bitstream.clear();
  } else {
    write_registers(folder);
  }
  return {{overlay::to_string(report), overlay::to_json(report)}, {}};
}

}  // namespace tilewright
