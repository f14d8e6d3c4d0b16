#include "tilewright/flow/candidate_job.h"

#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "tilewright/base/json.h"
#include "tilewright/flow/candidate_tuning.h"
#include "tilewright/overlay/tuning/schedule_problem.h"

namespace tilewright {
namespace {

using nlohmann::json;

CandidateRequest parse_request(const std::string& text) {
  const json value = parse_json(text, "candidate");
  Diagnostics problems;
  JsonMap fields(value, "candidate", problems);
  CandidateRequest request;
  request.network = fields.text("network");
  request.operand_bits = int(fields.integer("operand_bits", 1, 8));
  request.trials = fields.integer("trials", 0, INT64_MAX);
  request.seed = uint64_t(fields.integer("seed", 0, INT64_MAX));
  const std::string hardware = fields.text("hardware"), memory = fields.text("memory");
  fields.text("content");
  fields.finish();
  problems.raise_if_any();
  request.hardware = parse_overlay_hardware(hardware, "candidate");
  request.memory = parse_memory_model(memory, "candidate");
  return request;
}

// The networks of the last request, for jobs that follow.
class NetworkShelf {
 public:
  std::shared_ptr<const ExplorationNetwork> get(const std::filesystem::path& path, int bits) {
    const std::lock_guard<std::mutex> guard(mutex_);
    if (!network_ || path != path_ || bits != network_->operand_bits) {
      network_ = std::make_shared<const ExplorationNetwork>(exploration_network(read_bundle(path), bits));
      path_ = path;
    }
    return network_;
  }

 private:
  std::mutex mutex_;
  std::filesystem::path path_;
  std::shared_ptr<const ExplorationNetwork> network_;
};

}  // namespace

std::string print_candidate_request(const CandidateRequest& request) {
  return json{{"network", request.network.string()},
              {"operand_bits", request.operand_bits},
              {"hardware", print_overlay_hardware(request.hardware)},
              {"memory", print_memory_model(request.memory)},
              {"trials", request.trials},
              {"seed", request.seed},
              {"content", overlay::kTimingTool}}
      .dump();
}

tune::JobKind candidate_job() {
  return {kCandidateJob, [shelf = std::make_shared<NetworkShelf>()](const std::string& text) {
            const CandidateRequest request = parse_request(text);
            const auto network = shelf->get(request.network, request.operand_bits);
            return print_tuned(
                tune_candidate(*network, request.hardware, request.memory, request.trials, request.seed));
          }};
}

}  // namespace tilewright
