// The table is explicit: no target registers itself.
#include "tilewright/flow/targets.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tilewright/base/json.h"
#include "tilewright/base/words/nearest_word.h"
#include "tilewright/flow/design/design_target.h"
#include "tilewright/flow/map/array_target.h"
#include "tilewright/flow/model/hardware_form.h"
#include "tilewright/flow/place/fabric_target.h"
#include "tilewright/flow/run/overlay_target.h"
#include "tilewright/flow/target/host_target.h"
#include "tilewright/graph/inference/statistics.h"
#include "tilewright/quantize/report.h"

namespace tilewright {
namespace {

bool has_engine(const Target& target, const std::string& engine) {
  return std::find(target.engines.begin(), target.engines.end(), engine) != target.engines.end();
}

// Of "TARGET=NAME". Errors (invalid input): another form, no such target, one that takes no models.
const Target& target_named(const std::string& machine) {
  std::vector<std::string> names;
  for (const Target* target : targets()) {
    if (target->refusals == nullptr) continue;
    if (machine.starts_with(target->name + "=")) return *target;
    names.push_back(target->name);
  }
  throw Error(ErrorKind::kInvalidInput, fmt::format("'{}' names no machine of a target", machine),
              fmt::format("{}write TARGET=MACHINE with one of the targets {}",
                          did_you_mean(machine.substr(0, machine.find('=')), names), fmt::join(names, ", ")));
}

}  // namespace

std::span<const Target* const> targets() {
  static const Target* const table[] = {
      &overlay_target(), &design_target(), &array_target(), &fabric_target(), &host_target(),
  };
  return table;
}

const Target& target_of(const std::filesystem::path& path) {
  const auto all = targets();
  return **std::find_if(all.begin(), all.end(),
                        [&](const Target* t) { return t->recognizes != nullptr && t->recognizes(path); });
}

std::vector<std::string> engine_names() {
  std::vector<std::string> names;
  for (const Target* target : targets()) {
    for (const std::string& engine : target->engines) {
      if (std::find(names.begin(), names.end(), engine) == names.end()) names.push_back(engine);
    }
  }
  return names;
}

RunReport run(const RunRequest& request) {
  const Target& target = request.model.graph ? host_target() : target_of(request.model.path);
  const Target* owner = nullptr;  // of the engine, where that has one alone
  int64_t owners = 0;
  for (const Target* other : targets()) {
    if (!has_engine(*other, request.engine.name)) continue;
    owner = other;
    ++owners;
  }
  if (owners == 0) check_engine(target, request.engine.name);
  if (owners == 1 && owner != &target) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("'{}' is not a {}", request.model.path.string(), owner->artifact),
                owner->made_by);
  }
  return target.run(request);
}

std::string to_string(const RunAccuracy& accuracy) {
  return fmt::format("top-1 accuracy {:.2f} % ({} of {})\n", 100.0 * accuracy.share(), accuracy.right,
                     accuracy.count);
}

RunAccuracy run_accuracy(const RunReport& report, const RunRequest& request) {
  const int64_t count = int64_t(report.classes.size());
  const Tensor& scores = report.outputs[0].second;
  if (count == 0) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("--labels: the first output has shape {}, which has no elements",
                            to_string(scores.shape())),
                "leave it out");
  }
  const int64_t classes = class_count(scores.type(), scores.size() / count);
  const std::vector<int64_t> labels =
      read_samples({.input = "", .path = request.labels, .array = {}})
          .labels(count, classes, request.input.count > 0 || report.ending != Ending::kNone);
  RunAccuracy result{0, int64_t(labels.size()), labels};
  for (size_t i = 0; i < labels.size(); ++i) result.right += labels[i] == report.classes[i];
  return result;
}

Answer taken_by(const ModelFile& model, const std::string& machine, const SharedFolders& folders) {
  const Target& target = target_named(machine);
  const std::string name = machine.substr(target.name.size() + 1);
  Graph loaded = load_model(model);
  const std::vector<Tensor> samples = random_inputs(loaded);
  const Graph graph = hardware_form(std::move(loaded), {}, samples, 1, Recipe::kQuickest);
  const Diagnostics refusals = target.refusals(graph, name, folders);
  int64_t macs = 0, taken_macs = 0, taken = 0;
  for (const Node& node : graph.nodes) {
    const std::vector<Diagnostic>& errors = refusals.errors();
    const bool refused = std::any_of(errors.begin(), errors.end(),
                                     [&](const Diagnostic& d) { return d.where == where(node); });
    macs += multiply_accumulates(graph, node);
    if (refused) continue;
    taken_macs += multiply_accumulates(graph, node);
    ++taken;
  }
  const double share = macs == 0 ? 0 : double(taken_macs) / double(macs);
  nlohmann::json json = {{"target", target.name}, {"machine", name},    {"nodes", graph.nodes.size()},
                         {"taken", taken},        {"mac_share", share}, {"refused", nlohmann::json::array()}};
  std::string text = fmt::format("{} of {} nodes can run on {} ({}), with {:.2f} % of the MACs\n", taken,
                                 graph.nodes.size(), name, target.name, 100 * share);
  for (const Diagnostic& refusal : refusals.errors()) {
    text += "  " + to_string(refusal) + "\n";
    json["refused"].push_back(
        {{"node", refusal.where}, {"op", refusal.op}, {"reason", refusal.message}, {"hint", refusal.hint}});
  }
  return {text, json_text(json, 2) + "\n"};
}

SynthesisAnswer synthesize(const SynthesisRequest& request) {
  const Target& target = target_of(request.hardware);
  return (target.synthesize != nullptr ? target : overlay_target()).synthesize(request);
}

}  // namespace tilewright
