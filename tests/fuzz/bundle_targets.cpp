#include "fuzz/bundle_targets.h"

#include <iterator>
#include <memory>

#include "fuzz/model_targets.h"
#include "fuzz/mutation.h"
#include "tilewright/flow/model/container.h"
#include "tilewright/flow/run/bundle.h"
#include "tilewright/flow/run/engine.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/quantize/integerize/integerize.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

Bytes damage_section(const Bytes& original, size_t index, Random& random) {
  Sections sections = parse_container(original);
  auto chosen = std::next(sections.begin(), random.between(0, int64_t(sections.size()) - 1));
  Bytes& content = chosen->second;
  if (chosen->first.ends_with(".onnx")) {
    content = damage_protobuf(content)(content, index, random);
  } else {
    content = random.chance(0.7) ? damage_number(content, random) : damage_anything(content, index, random);
  }
  return format_container(sections);
}

}  // namespace

std::vector<FuzzTarget> bundle_targets(const std::filesystem::path& model,
                                       const std::filesystem::path& hardware) {
  const Graph graph = integerize(optimize(read_onnx(model)));
  const Bytes bundle = format_bundle(compile(graph, read_overlay_hardware(hardware)).bundle);
  const auto read = [](std::span<const std::byte> bytes) {
    const auto engine = std::make_shared<const Engine>(parse_bundle(bytes), Execution::kAsPlaced);
    std::vector<Tensor> inputs;
    for (const ValueId id : engine->graph().inputs) {
      const Value& input = engine->graph().value(id);
      inputs.emplace_back(input.type, input.shape);
    }
    Session(engine).run(inputs);
  };
  const std::string name = "bundle of " + model.string();
  return {{"bundle", name, bundle, damage_anything, read},
          {"bundle", name + ", checksums made right", bundle, damage_section, read}};
}

}  // namespace tilewright
