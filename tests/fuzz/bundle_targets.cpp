#include "fuzz/bundle_targets.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <memory>

#include "fuzz/mutation.h"
#include "tilewright/flow/bundle.h"
#include "tilewright/flow/container.h"
#include "tilewright/flow/engine.h"
#include "tilewright/frontend/onnx/onnx_reader.h"
#include "tilewright/hardware/overlay_hardware.h"
#include "tilewright/quantize/integerize.h"
#include "tilewright/transform/pipeline.h"

namespace tilewright {
namespace {

// One number of a text section becomes another; no number: any damage.
Bytes damage_number(const Bytes& text, size_t index, Random& random) {
  constexpr const char* kNumbers[] = {"0",
                                      "-1",
                                      "1",
                                      "3",
                                      "255",
                                      "65536",
                                      "2147483647",
                                      "-7",
                                      "1e9",
                                      "4294967296",
                                      "1099511627776",
                                      "9223372036854775807",
                                      "99999999999999999999"};
  const auto is_digit = [](std::byte b) { return std::isdigit(int(b)) != 0; };
  std::vector<size_t> starts;
  for (size_t i = 0; i < text.size(); ++i) {
    if (is_digit(text[i]) && (i == 0 || !is_digit(text[i - 1]))) starts.push_back(i);
  }
  if (starts.empty()) return damage_anything(text, index, random);
  Bytes damaged = text;
  const auto begin =
      damaged.begin() + std::ptrdiff_t(starts[size_t(random.between(0, int64_t(starts.size()) - 1))]);
  const auto at = damaged.erase(begin, std::find_if_not(begin, damaged.end(), is_digit));
  const std::string number = kNumbers[random.between(0, int64_t(std::size(kNumbers)) - 1)];
  const auto* bytes = reinterpret_cast<const std::byte*>(number.data());
  damaged.insert(at, bytes, bytes + number.size());
  return damaged;
}

Bytes damage_section(const Bytes& original, size_t index, Random& random) {
  Sections sections = parse_container(original);
  auto chosen = std::next(sections.begin(), random.between(0, int64_t(sections.size()) - 1));
  Bytes& content = chosen->second;
  if (chosen->first.ends_with(".onnx")) {
    content = damage_protobuf(content)(content, index, random);
  } else {
    content =
        random.chance(0.7) ? damage_number(content, index, random) : damage_anything(content, index, random);
  }
  return format_container(sections);
}

}  // namespace

std::vector<FuzzTarget> bundle_targets(const std::filesystem::path& model,
                                       const std::filesystem::path& hardware) {
  const Graph graph = integerize(optimize(read_onnx(model)));
  const Bytes bundle = format_bundle(compile(graph, read_overlay_hardware(hardware)).bundle);
  const auto read = [](std::span<const std::byte> bytes) {
    const auto engine = std::make_shared<const Engine>(parse_bundle(bytes), EngineKind::kFunctional);
    std::vector<Tensor> inputs;
    for (const ValueId id : engine->graph().inputs) {
      const Value& input = engine->graph().value(id);
      inputs.emplace_back(input.type, input.shape);
    }
    Session(engine).run(inputs);
  };
  const std::string name = "bundle of " + model.string();
  return {{name, bundle, damage_anything, read},
          {name + ", checksums made right", bundle, damage_section, read}};
}

}  // namespace tilewright
