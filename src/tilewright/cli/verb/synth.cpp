// `synth`: an overlay or a generated design through the synthesis flow of its device.
#include <filesystem>
#include <ostream>

#include "tilewright/cli/options/command_limits.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/progress_line.h"
#include "tilewright/cli/options/verbs.h"
#include "tilewright/flow/targets.h"

namespace tilewright::cli {

void synth(const SynthOptions& options, std::ostream& out) {
  SynthesisRequest request;
  request.hardware = options.hardware;
  request.device = options.device;
  request.output = options.output;
  if (options.output.empty()) request.temporary = std::filesystem::temp_directory_path();
  request.clock_mhz = options.clock_mhz;
  request.seed = options.seed;
  request.timeout_s = options.timeout_s;
  request.rtl_only = options.rtl_only;
  request.no_dsp = options.no_dsp;
  request.allow_misfit = options.allow_misfit;
  request.folders = shared_folders();
  const Deadline deadline;
  const Interruptible interruptible(deadline);
  request.deadline = &deadline;
  const SynthesisAnswer answer =
      with_progress("synthesising " + options.hardware, [&] { return synthesize(request); });
  out << (options.json ? answer.page.json : answer.page.text);
  answer.misfits.raise_if_any();
}

}  // namespace tilewright::cli
