// The table is explicit: no target registers itself.
#include "tilewright/flow/targets.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/flow/design/design_target.h"
#include "tilewright/flow/place/fabric_target.h"
#include "tilewright/flow/run/overlay_target.h"
#include "tilewright/flow/target/host_target.h"
#include "tilewright/quantize/report.h"

namespace tilewright {
namespace {

bool has_engine(const Target& target, const std::string& engine) {
  return std::find(target.engines.begin(), target.engines.end(), engine) != target.engines.end();
}

}  // namespace

std::span<const Target* const> targets() {
  static const Target* const table[] = {
      &overlay_target(),
      &design_target(),
      &fabric_target(),
      &host_target(),
  };
  return table;
}

const Target& target_of(const std::filesystem::path& path) {
  const auto all = targets();
  return **std::find_if(all.begin(), all.end(), [&](const Target* t) { return t->recognizes(path); });
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
  const Target& target = target_of(request.model.path);
  const Target* owner = nullptr;  // of the engine, where that has one alone
  int64_t owners = 0;
  for (const Target* other : targets()) {
    if (!has_engine(*other, request.engine.name)) continue;
    owner = other;
    ++owners;
  }
  if (owners == 1 && owner != &target) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("'{}' is not a {}", request.model.path.string(), owner->artifact),
                owner->made_by);
  }
  return target.run(request);
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
      Samples::read(request.labels).labels(count, classes, request.input.count > 0);
  RunAccuracy result{0, int64_t(labels.size())};
  for (size_t i = 0; i < labels.size(); ++i) result.right += labels[i] == report.classes[i];
  return result;
}

SynthesisAnswer synthesize(const SynthesisRequest& request) {
  const Target& target = target_of(request.hardware);
  return (target.synthesize != nullptr ? target : overlay_target()).synthesize(request);
}

}  // namespace tilewright
