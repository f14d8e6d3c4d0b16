// Names become what they stand for; widths are explored once each, the widest first.
#include "tilewright/flow/explore/explore_question.h"

#include <algorithm>

#include "tilewright/flow/explore/exploration_network.h"

namespace tilewright {

ExplorationReport answer_explore(const ExploreQuestion& question, const ExplorationWatcher& watcher) {
  ExplorationRequest request;
  request.deadline = question.deadline;
  request.device = find_device(question.device, question.folders.devices());
  request.memory = !question.memory.empty() ? find_memory_model(question.memory)
                   : request.device.memory  ? request.device.memory->model()
                                            : MemoryModel{};
  request.threads = question.threads;
  request.network = question.bundle ? *question.bundle : exploration_bundle(question.model, question.threads);
  request.model_name = question.model.path.stem().string();
  request.operand_bits = question.precision;
  std::sort(request.operand_bits.rbegin(), request.operand_bits.rend());
  request.operand_bits.erase(std::unique(request.operand_bits.begin(), request.operand_bits.end()),
                             request.operand_bits.end());
  request.folder = std::filesystem::absolute(question.folder);  // workers may have another working folder
  request.rtl_folder = question.folders.rtl;
  request.trials = question.trials;
  request.candidates = question.candidates;
  request.seed = question.seed;
  request.origin = question.origin;
  const auto executor = [&](const std::filesystem::path& folder) {
    return candidate_workers(question.fleet, folder, question.deadline);
  };
  return question.changed_only ? explore_changed(request, executor, watcher)
                               : explore_overlays(request, executor, watcher);
}

}  // namespace tilewright
