// Request and reply are JSON. A request carries everything but the network, which the worker reads from the
// shared file once and keeps while the digest and the operand width stay the same.
#include "tilewright/flow/explore/candidate_job.h"

#include <fmt/format.h>

#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "tilewright/base/error.h"
#include "tilewright/base/json.h"
#include "tilewright/base/plain_text.h"
#include "tilewright/flow/explore/candidate_tuning.h"
#include "tilewright/overlay/tuning/schedule_problem.h"

namespace tilewright {
namespace {

using Json = nlohmann::json;

CandidateRequest parse_request(const std::string& text) {
  const Json value = parse_json(text, "candidate");
  Diagnostics problems;
  JsonMap fields(value, "candidate", problems);
  CandidateRequest request;
  request.network = fields.text("network");
  request.network_digest = fields.text("network_digest");
  request.operand_bits = int(fields.integer("operand_bits", 1, 8));
  request.trials = fields.integer("trials", 0, INT64_MAX);
  request.seed = uint64_t(fields.integer("seed", 0, INT64_MAX));
  const std::string hardware = fields.text("hardware"), memory = fields.text("memory");
  const std::string tool = fields.text("tool");
  fields.finish();
  problems.raise_if_any();
  overlay::require_timing_tool(tool);
  request.hardware = parse_overlay_hardware(hardware, "candidate");
  request.memory = parse_memory_model(memory, "candidate");
  return request;
}

// The network of the last request, for the jobs that follow.
class NetworkShelf {
 public:
  std::shared_ptr<const ExplorationNetwork> get(const CandidateRequest& request) {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (!network_ || request.network_digest != digest_ || request.operand_bits != network_->operand_bits) {
      network_ = std::make_shared<const ExplorationNetwork>(
          exploration_network(read_bundle(request.network), request.operand_bits));
      digest_ = network_digest(*network_);
    }
    if (request.network_digest != digest_) {
      throw InterruptedError(
          fmt::format("'{}' holds a different network from the study's", request.network.string()),
          "explore it in another folder");
    }
    return network_;
  }

 private:
  std::mutex mutex_;
  std::string digest_;
  std::shared_ptr<const ExplorationNetwork> network_;
};

}  // namespace

std::string print_candidate_request(const CandidateRequest& request) {
  const Json value{{"network", request.network.string()},
                   {"network_digest", request.network_digest},
                   {"operand_bits", request.operand_bits},
                   {"hardware", print_overlay_hardware(request.hardware)},
                   {"memory", print_memory_model(request.memory)},
                   {"trials", request.trials},
                   {"seed", request.seed},
                   {"tool", overlay::kTimingTool}};
  try {
    return value.dump();
  } catch (const Json::exception&) {  // with another path the worker would look elsewhere
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("the path '{}' is not UTF-8", plain_text(request.network.string())),
                "give a folder with another name");
  }
}

tune::JobKind candidate_job(const Deadline* deadline) {
  return {kCandidateJob, [shelf = std::make_shared<NetworkShelf>(), deadline](const std::string& text) {
            const CandidateRequest request = parse_request(text);
            const auto network = shelf->get(request);
            return print_tuned(tune_candidate(*network, request.hardware, request.memory, request.trials,
                                              request.seed, deadline));
          }};
}

}  // namespace tilewright
