// The tuning of one candidate (flow/explore/candidate_tuning.h) as a job for workers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "tilewright/hardware/memory_model.h"
#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/search/deadline.h"
#include "tilewright/tune/fleet/worker.h"

namespace tilewright {

inline constexpr const char* kCandidateJob = "candidate";

// The request to a worker. `network` names the bundle of the study, in a folder that workers share; its
// digest (network_digest) ties the answer to the content of the file, not just to its name.
struct CandidateRequest {
  std::filesystem::path network;
  std::string network_digest;
  int operand_bits = 8;
  OverlayHardware hardware;
  MemoryModel memory;
  int64_t trials = 0;
  uint64_t seed = 1;
};
std::string print_candidate_request(const CandidateRequest& request);
// Answers such requests; keeps the network of the last one. A worker whose version differs from that of the
// requester, or that finds a different network in the file, does not answer (InterruptedError). Jobs in this
// process end with `deadline`, if any.
tune::JobKind candidate_job(const Deadline* deadline = nullptr);

}  // namespace tilewright
