// The block is small, so that a design takes milliseconds and a mutation that is accepted can be built.
#include "fuzz/allocation_targets.h"

#include <memory>

#include "fuzz/mutation.h"
#include "tilewright/flow/design/generate.h"
#include "tilewright/flow/model/hardware_form.h"
#include "zoo/seeded.h"
#include "zoo/zoo.h"

namespace tilewright {
namespace {

Bytes damage_allocation(const Bytes& text, size_t index, Random& random) {
  return random.chance(0.7) ? damage_number(text, random) : damage_anything(text, index, random);
}

FuzzTarget allocation_target(const Graph& graph, GenerateRequest request, const std::string& form) {
  const std::string text = pipeline::print_allocation(generate(graph, request).allocated.allocation);
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  const auto read = [graph, request](std::span<const std::byte> damaged) mutable {
    const auto* characters = reinterpret_cast<const char*>(damaged.data());
    request.allocation = pipeline::parse_allocation({characters, damaged.size()}, "damaged");
    generate(graph, request);
  };
  return {"allocation", "allocation as " + form, Bytes(bytes, bytes + text.size()), damage_allocation, read};
}

}  // namespace

std::vector<FuzzTarget> allocation_targets() {
  const Graph block = zoo::residual_block(8, 6);
  const Graph graph = hardware_form(block, {}, {zoo::seeded_input(block)}, 1);
  GenerateRequest request;
  request.device =
      find_device("xc7z020", std::filesystem::path(TILEWRIGHT_SOURCE_DIR) / "hardware" / "devices");
  request.budget = pipeline::device_budget(request.device);
  request.simulate = false;
  request.allocate.processors = false;
  std::vector<FuzzTarget> targets = {allocation_target(graph, request, "stages")};
  request.allocate.processors = true;
  request.allocate.streaming = false;
  targets.push_back(allocation_target(graph, request, "processors"));
  return targets;
}

}  // namespace tilewright
