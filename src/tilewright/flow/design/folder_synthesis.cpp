// Large designs are counted component by component: as a whole they would take hours.
#include "tilewright/flow/design/folder_synthesis.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tilewright/base/folder_writer.h"
#include "tilewright/base/json.h"
#include "tilewright/flow/design/design_folder.h"
#include "tilewright/pipeline/emit/design_synthesis.h"
#include "tilewright/report/text_table.h"

namespace tilewright {
namespace {

constexpr int64_t kWholeLut = 60'000;  // of the estimate: designs of more are counted by component

std::string error_text(int64_t estimate, int64_t counted) {
  if (counted == 0) return estimate == 0 ? "0.0 %" : "";
  return fmt::format("{:+.1f} %", 100 * double(estimate - counted) / double(counted));
}

// Yosys counts a design; it is not placed.
void check_design_request(const SynthesisRequest& request) {
  Diagnostics problems;
  const auto refuse = [&](bool given, const char* flag) {
    if (given)
      problems.error(ErrorKind::kInvalidInput, "", "",
                     fmt::format("{} does not apply to the folder of a generated design", flag),
                     "leave it out");
  };
  refuse(request.rtl_only, "--rtl-only");
  refuse(request.clock_mhz > 0, "--clock");
  refuse(request.no_dsp, "--no-dsp");
  problems.raise_if_any();
}

}  // namespace

SynthesisAnswer synthesize_design_folder(const SynthesisRequest& request) {
  check_design_request(request);
  const DesignFolder folder = read_design_folder(request.hardware);
  const Device device =
      request.device.empty() ? folder.device : find_device(request.device, request.folders.devices());
  const pipeline::Budget budget = pipeline::device_budget(device);
  const pipeline::Estimate estimate =
      pipeline::estimate(folder.network, folder.allocation, device.family, budget.port);
  pipeline::DesignSynthesisOptions job;
  job.rtl_folder = request.folders.rtl;
  job.folder =
      request.output.empty() ? std::filesystem::path(request.hardware) / "synthesis" : request.output;
  job.family = device.family;
  job.use_dsp = device.has.dsp > 0;
  job.by_module = estimate.resources.lut > kWholeLut;
  job.timeout_s = request.timeout_s;
  job.stop = stop_of(request);
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
  SynthesisAnswer answer;
  answer.page.text =
      fmt::format("{} on {}: {}, {:.0f} s\n\n", folder.network.name, device.name, how, counts.seconds) +
      table.to_string();
  answer.page.json = json_text(json, 2) + "\n";
  if (!request.allow_misfit) report_misfits(device, counts.resources, answer.misfits);
  return answer;
}

}  // namespace tilewright
