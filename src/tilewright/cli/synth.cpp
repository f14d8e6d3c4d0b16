#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

#include "tilewright/cli/model_input.h"
#include "tilewright/cli/verbs.h"
#include "tilewright/overlay/overlay_synthesis.h"
#include "tilewright/overlay/rtl_config.h"

namespace tilewright::cli {

void synth(const SynthOptions& options, std::ostream& out) {
  const OverlayHardware hardware = find_hardware(options.hardware);
  const std::filesystem::path rtl = shared_folder("rtl");
  if (options.output.empty()) {
    throw Error(ErrorKind::kInvalidInput, "no folder is given for what synthesis writes", "-o FOLDER");
  }
  if (options.rtl_only) {
    const auto files = overlay::write_rtl(hardware, options.output, rtl / "overlay");
    if (options.json) {
      nlohmann::json list = nlohmann::json::array();
      for (const auto& file : files) list.push_back(file.string());
      out << nlohmann::json{{"hardware", hardware.name}, {"sources", list}}.dump(2) << "\n";
    } else {
      out << fmt::format("{} source files of '{}' in {}\n", files.size(), hardware.name, options.output);
    }
    return;
  }
  if (options.device.empty()) {
    throw Error(ErrorKind::kInvalidInput, "no device is given", "--device NAME, or --rtl-only");
  }
  const Device device = find_device(options.device, shared_folder("hardware") / "devices");
  const overlay::SynthesisReport report =
      overlay::synthesize(hardware, device,
                          {rtl, options.output, options.clock_mhz, options.seed, !options.no_dsp,
                           options.timeout_s, options.allow_misfit});
  out << (options.json ? overlay::to_json(report) : overlay::to_string(report));
}

}  // namespace tilewright::cli
