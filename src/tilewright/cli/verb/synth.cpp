// `synth`: an overlay through the synthesis flow of its device, or its RTL alone; a generated design through
// Yosys, whose counts stand beside the estimate. Large designs are counted component by component.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "tilewright/base/folder_writer.h"
#include "tilewright/base/json.h"
#include "tilewright/base/temporary_folder.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/design/design_folder.h"
#include "tilewright/overlay/implement/overlay_synthesis.h"
#include "tilewright/overlay/rtl/rtl_config.h"
#include "tilewright/pipeline/allocate/allocate.h"
#include "tilewright/pipeline/emit/design_synthesis.h"
#include "tilewright/report/text_table.h"

namespace tilewright::cli {
namespace {

// Designs of more LUTs, by the estimate, take hours as a whole and are counted by component.
constexpr int64_t kWholeLut = 60'000;

std::string error_text(int64_t estimate, int64_t counted) {
  if (counted == 0) return estimate == 0 ? "0.0 %" : "";
  return fmt::format("{:+.1f} %", 100 * double(estimate - counted) / double(counted));
}

void synth_design(const SynthOptions& options, std::ostream& out) {
  const DesignFolder folder = read_design_folder(options.hardware);
  const Device device = options.device.empty()
                            ? folder.device
                            : find_device(options.device, shared_folder("hardware") / "devices");
  const pipeline::Budget budget = pipeline::device_budget(device);
  const pipeline::Estimate estimate =
      pipeline::estimate(folder.network, folder.allocation, device.family, budget.port);
  pipeline::DesignSynthesisOptions job;
  job.rtl_folder = shared_folder("rtl");
  job.folder = options.output.empty() ? std::filesystem::path(options.hardware) / "synthesis"
                                      : std::filesystem::path(options.output);
  job.family = device.family;
  job.by_module = estimate.resources.lut > kWholeLut;
  job.timeout_s = options.timeout_s;
  const FolderClaim claim(job.folder, "synth");
  const pipeline::DesignCounts counts = pipeline::count_resources(folder.design, job);
  const std::vector<ResourceFit> estimated = fit(device, estimate.resources),
                                 counted = fit(device, counts.resources);
  nlohmann::json json = {{"device", device.name},
                         {"by_module", counts.by_module},
                         {"runs", counts.runs},
                         {"seconds", counts.seconds},
                         {"other_cells", counts.other}};
  TextTable table({"", ">Yosys", ">estimate", ">error", ">device", ">of device"});
  for (size_t i = 0; i < counted.size(); ++i) {
    const ResourceFit& need = counted[i];
    const int64_t guess = estimated[i].need;
    table.row({need.resource, std::to_string(need.need), std::to_string(guess), error_text(guess, need.need),
               std::to_string(need.have),
               need.have > 0 ? fmt::format("{:.1f} %", 100 * double(need.need) / double(need.have)) : ""});
    json["resources"].push_back(
        {{"resource", need.resource}, {"yosys", need.need}, {"estimate", guess}, {"device", need.have}});
  }
  const std::string how = counts.by_module
                              ? fmt::format("sum over {} distinct components, each by itself", counts.runs)
                              : "the design as a whole";
  if (options.json) {
    out << json_text(json, 2) << "\n";
  } else {
    out << fmt::format("{} on {}: {}, {:.0f} s\n\n", folder.network.name, device.name, how, counts.seconds)
        << table.to_string();
  }
  if (options.allow_misfit) return;
  Diagnostics diagnostics;
  report_misfits(device, counts.resources, diagnostics);
  diagnostics.raise_if_any();
}

}  // namespace

void synth(const SynthOptions& options, std::ostream& out) {
  if (is_design_folder(options.hardware)) return synth_design(options, out);
  const OverlayHardware hardware = find_hardware(options.hardware);
  const std::filesystem::path rtl = shared_folder("rtl");
  if (options.rtl_only) {
    if (options.output.empty()) {
      throw Error(ErrorKind::kInvalidInput, "no folder is given for the sources", "-o FOLDER");
    }
    const FolderClaim claim(options.output, "synth");
    const auto files = overlay::write_rtl(hardware, options.output, rtl);
    if (options.json) {
      nlohmann::json list = nlohmann::json::array();
      for (const auto& file : files) list.push_back(file.string());
      out << json_text(nlohmann::json{{"hardware", hardware.name}, {"sources", list}}, 2) << "\n";
    } else {
      out << fmt::format("{} source files of '{}' in {}\n", files.size(), hardware.name, options.output);
    }
    return;
  }
  if (options.device.empty()) {
    throw Error(ErrorKind::kInvalidInput, "no device is given", "--device NAME, or --rtl-only");
  }
  const Device device = find_device(options.device, shared_folder("hardware") / "devices");
  // Whoever wants only the numbers needs no folder for the files.
  std::optional<TemporaryFolder> temporary;
  if (options.output.empty()) temporary.emplace(std::filesystem::temp_directory_path(), "tilewright-synth");
  const std::filesystem::path folder = temporary ? temporary->path() : std::filesystem::path(options.output);
  const FolderClaim claim(folder, "synth");
  overlay::SynthesisReport report =
      overlay::synthesize(hardware, device,
                          {rtl, folder, options.clock_mhz, options.seed, !options.no_dsp, options.timeout_s,
                           options.allow_misfit});
  if (temporary) {
    report.sources.clear();
    report.bitstream.clear();
  }
  out << (options.json ? overlay::to_json(report) : overlay::to_string(report));
}

}  // namespace tilewright::cli
