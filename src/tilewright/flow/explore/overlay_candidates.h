// The overlays that could fit one device, as exploration sees them: knobs (overlay/tuning/hardware_space.h),
// area and clock in closed form, the bound of the network on each, and the jobs that tune it there.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/flow/explore/exploration_network.h"
#include "tilewright/hardware/device.h"
#include "tilewright/tune/explore/exploration.h"

namespace tilewright {

struct OverlayCandidateOptions {
  Device device;
  std::filesystem::path network;     // bundle on a folder that workers share
  std::filesystem::path rtl_folder;  // the repository's rtl/
  MemoryModel memory;
  uint64_t seed = 1;
  int threads = 1;  // of bounds
};

class OverlayCandidates : public tune::ExplorationBackend {
 public:
  // Errors (unsupported): no area model for the device's family; those of hardware_space.
  OverlayCandidates(const ExplorationNetwork& network, OverlayCandidateOptions options);

  const KnobSpace& space() const override { return space_; }
  const std::vector<std::string>& resources() const override;
  tune::CandidateFacts judge(KnobSpace::Point point) const override;
  std::vector<Need> needs(KnobSpace::Point point) const override;
  std::string content(KnobSpace::Point point) const override;
  tune::Job job(KnobSpace::Point point, int64_t trials) const override;
  tune::CandidateResult read_reply(const std::string& reply) const override;

  OverlayHardware hardware(KnobSpace::Point point) const;  // its clock is the estimated one
  int operand_bits() const { return operand_bits_; }
  // A lower bound for the cycles of the network on this overlay, for any schedules.
  double bound_cycles(KnobSpace::Point point) const;

 private:
  std::vector<Need> needs(const OverlayHardware& machine) const;

  OverlayCandidateOptions options_;
  int operand_bits_ = 8;
  int64_t macs_ = 0;
  std::string network_digest_;
  KnobSpace space_;
  std::vector<size_t> bound_knobs_;   // those that bounds depend on
  std::vector<double> bound_cycles_;  // by their digits, the first knob the slowest
  uint64_t rtl_hash_ = 0;
};

}  // namespace tilewright
