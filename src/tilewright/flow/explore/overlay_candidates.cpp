// The bound of a network is computed once for each combination of the few knobs that it depends on and then
// looked up, as the space has far more points than combinations. Area and clock are closed forms.
#include "tilewright/flow/explore/overlay_candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/hash.h"
#include "tilewright/base/parallel.h"
#include "tilewright/flow/explore/candidate_job.h"
#include "tilewright/flow/explore/candidate_tuning.h"
#include "tilewright/overlay/implement/clock_model.h"
#include "tilewright/overlay/implement/overlay_area.h"
#include "tilewright/overlay/rtl/rtl_config.h"
#include "tilewright/overlay/tuning/hardware_space.h"
#include "tilewright/overlay/tuning/schedule_problem.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;
constexpr double kJobTimeout_s = 3600;

// What bounds depend on; all other knobs can only slow a schedule down.
constexpr const char* kBoundKnobs[] = {"batch",     "words",           "block_out",
                                       "alu_share", "gemm_beside_alu", "memory_width_bits"};

double network_bound(const ExplorationNetwork& network, const OverlayHardware& hardware,
                     const MemoryModel& memory) {
  double cycles = 0;
  for (const ExplorationLayer& item : network.layers) {
    cycles += double(item.count) *
              overlay::forms_bound(overlay::LayerForms(item.layer, hardware), hardware, memory);
  }
  return cycles;
}

uint64_t hash_of_sources(const fs::path& folder) {
  std::vector<fs::path> files;
  if (fs::is_directory(folder)) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().extension() == ".sv") files.push_back(entry.path());
    }
  }
  if (files.empty()) {
    throw Error(ErrorKind::kInvalidInput, "'" + folder.string() + "' has no .sv files",
                "name the folder rtl of Tilewright");
  }
  std::sort(files.begin(), files.end());
  std::string text;
  for (const fs::path& file : files) text += file.filename().string() + "\n" + read_text_file(file);
  return fnv1a(text);
}

}  // namespace

OverlayCandidates::OverlayCandidates(const ExplorationNetwork& network, OverlayCandidateOptions options)
    : options_(std::move(options)),
      operand_bits_(network.operand_bits),
      macs_(network.macs),
      network_digest_(network_digest(network)),
      space_(overlay::hardware_space(network.operand_bits, options_.device)),
      rtl_hash_(hash_of_sources(options_.rtl_folder / "overlay")) {
  if (options_.device.family != synthesis::DeviceFamily::kXc7) {
    throw Error(ErrorKind::kUnsupported,
                fmt::format("device '{}' is of the family {}, for which overlays have no area model",
                            options_.device.name, synthesis::family_name(options_.device.family)),
                "7 series parts have one (xc7z020)");
  }
  size_t combinations = 1;
  for (const char* name : kBoundKnobs) {
    bound_knobs_.push_back(space_.knob(name));
    combinations *= space_.knobs()[bound_knobs_.back()].values.size();
  }
  bound_cycles_.resize(combinations);
  parallel_for(options_.threads, int64_t(combinations), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      // The other knobs are at their largest, so that buffers do not matter.
      std::vector<int64_t> values;
      for (const Knob& knob : space_.knobs()) values.push_back(knob.values.back());
      auto rest = size_t(i);
      for (size_t k = bound_knobs_.size(); k-- > 0;) {
        const std::vector<int64_t>& of_knob = space_.knobs()[bound_knobs_[k]].values;
        values[bound_knobs_[k]] = of_knob[rest % of_knob.size()];
        rest /= of_knob.size();
      }
      const auto point = space_.find(values);
      if (!point || !space_.valid(*point)) continue;  // no overlay has these
      bound_cycles_[size_t(i)] =
          network_bound(network, overlay::hardware_at(values, operand_bits_), options_.memory);
    }
  });
}

const std::vector<std::string>& OverlayCandidates::resources() const {
  static const std::vector<std::string> names = {"LUT", "FF", "DSP", "BRAM"};
  return names;
}

OverlayHardware OverlayCandidates::hardware(KnobSpace::Point point) const {
  OverlayHardware hardware = overlay::hardware_at(space_.values(point), operand_bits_);
  hardware.clock_mhz = overlay::estimated_clock_mhz(hardware, options_.device);
  return hardware;
}

double OverlayCandidates::bound_cycles(KnobSpace::Point point) const {
  size_t index = 0;
  for (const size_t knob : bound_knobs_) {
    index = index * space_.knobs()[knob].values.size() + space_.digit(point, knob);
  }
  if (bound_cycles_[index] > 0) return bound_cycles_[index];
  // The largest buffers are more than the encoding can address: what the array alone can do is left.
  return double(macs_) / double(overlay::hardware_at(space_.values(point), operand_bits_).macs_per_uop());
}

std::vector<tune::ExplorationBackend::Need> OverlayCandidates::needs(const OverlayHardware& machine) const {
  const synthesis::Resources area = overlay::overlay_area(machine);
  const synthesis::Resources& has = options_.device.has;
  return {{area.lut, has.lut}, {area.ff, has.ff}, {area.dsp, has.dsp}, {area.bram, has.bram}};
}

std::vector<tune::ExplorationBackend::Need> OverlayCandidates::needs(KnobSpace::Point point) const {
  return needs(overlay::hardware_at(space_.values(point), operand_bits_));
}

tune::CandidateFacts OverlayCandidates::judge(KnobSpace::Point point) const {
  const OverlayHardware machine = hardware(point);
  tune::CandidateFacts facts;
  facts.clock_mhz = machine.clock_mhz;
  const std::vector<Need> all = needs(machine);
  for (size_t r = 0; r < all.size(); ++r) {
    const double share = all[r].have > 0   ? double(all[r].need) / double(all[r].have)
                         : all[r].need > 0 ? std::numeric_limits<double>::infinity()
                                           : 0;
    if (share <= facts.utilisation) continue;
    facts.utilisation = share;
    facts.scarcest = int(r);
  }
  facts.bound_s = bound_cycles(point) / (facts.clock_mhz * 1e6);
  facts.peak_gops = 2e-3 * double(machine.macs_per_uop()) * facts.clock_mhz;
  return facts;
}

std::string OverlayCandidates::content(KnobSpace::Point point) const {
  const std::string package = overlay::rtl_config(overlay::hardware_at(space_.values(point), operand_bits_));
  return fmt::format("{:016x}",
                     fnv1a(fmt::format("{:016x}\n{}\n{}", rtl_hash_, overlay::kTimingTool, package)));
}

tune::Job OverlayCandidates::job(KnobSpace::Point point, int64_t trials) const {
  const CandidateRequest request{fs::absolute(options_.network),
                                 network_digest_,
                                 operand_bits_,
                                 hardware(point),
                                 options_.memory,
                                 trials,
                                 options_.seed};
  tune::Job job;
  job.kind = kCandidateJob;
  job.request = print_candidate_request(request);
  // Another RTL is another job, though the simulator is asked the same.
  job.id = fmt::format("candidate-w{}-{:016x}-{}", operand_bits_, fnv1a(job.request), content(point));
  job.timeout_s = kJobTimeout_s;
  return job;
}

tune::CandidateResult OverlayCandidates::read_reply(const std::string& reply) const {
  const TunedCandidate tuned = parse_tuned(reply, "reply of a worker");
  tune::CandidateResult result;
  result.cycles = tuned.cycles;
  result.trials = tuned.trials;
  result.details = print_tuned(tuned);
  return result;
}

}  // namespace tilewright
