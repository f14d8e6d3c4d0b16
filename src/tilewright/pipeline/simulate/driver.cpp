// Images, results and weights lie one after the other in memory, each on a page of its own.
#include "tilewright/pipeline/simulate/driver.h"

#include <fmt/format.h>

#include <cstring>

#include "tilewright/base/error.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/pipeline/image/registers.h"

namespace tilewright::pipeline {
namespace {

constexpr size_t kPage = 4096;
size_t pages(size_t bytes) { return round_up(bytes, kPage); }

void check_identity(const Design& design, DesignPort& port) {
  const uint32_t id = port.read32(register_offset("ID"));
  if (id != kPipelineId) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("no generated design answers: its ID is {:08x}", id),
                "load the bitstream of this design first");
  }
  const auto image = design.images.find("identity.hex");
  TILEWRIGHT_CHECK(image != design.images.end(), "a design without identity");
  for (int word = 0; word < DesignIdentity::kWords; ++word) {
    const uint32_t found = port.read32(uint16_t(register_offset("IDENTITY") + 4 * word));
    const uint32_t wanted = uint32_t(image->second.get(word, 0, 32));
    if (found == wanted) continue;
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("the port leads to a different design: identity word {} is {:08x}, not {:08x}",
                            word, found, wanted),
                "load the bitstream of this design");
  }
}

void write64(DesignPort& port, const std::string& name, uint64_t value) {
  port.write32(register_offset(name + "_LO"), uint32_t(value));
  port.write32(register_offset(name + "_HI"), uint32_t(value >> 32));
}

}  // namespace

DesignRun run_design(const Design& design, DesignPort& port,
                     const std::vector<std::vector<int32_t>>& images) {
  check_identity(design, port);
  const size_t count = images.size();
  const size_t in_bytes = size_t(design.input.bytes), out_bytes = size_t(design.output.bytes);
  const size_t output = pages(count * in_bytes);
  const size_t weights = output + pages(count * out_bytes);
  const size_t weight_bytes = size_t(design.weight_bytes_per_channel), stride = pages(weight_bytes);
  const size_t channels = size_t(design.channels);
  std::vector<std::byte>& memory = port.memory(weights + channels * stride);
  for (size_t i = 0; i < count; ++i) {
    const std::vector<uint8_t> bytes = arrange_input(design.input, images[i]);
    std::memcpy(memory.data() + i * in_bytes, bytes.data(), bytes.size());
  }
  for (size_t c = 0; c < channels && weight_bytes > 0; ++c) {
    std::memcpy(memory.data() + weights + c * stride, design.weights.data() + c * weight_bytes, weight_bytes);
    write64(port, fmt::format("WEIGHTS{}", c), weights + c * stride);
  }
  // A streaming design takes all images as one.
  const size_t runs = design.streaming ? 1 : count, each = design.streaming ? count : 1;
  const auto set = [&](const char* name, size_t value) {
    port.write32(register_offset(name), uint32_t(value));
  };
  write64(port, "INPUT", 0);
  write64(port, "OUTPUT", output);
  set("IMAGES", runs);
  set("INPUT_BYTES", in_bytes * each);
  set("INPUT_STRIDE", in_bytes);
  set("OUTPUT_BYTES", out_bytes * each);
  set("OUTPUT_STRIDE", out_bytes);
  set("WEIGHT_BYTES", weight_bytes);
  set("CONTROL", kControlStart);
  if (!port.wait_for_interrupt()) {
    throw Error(ErrorKind::kInfeasible, "the design does not finish",
                "raise the limit of cycles; report it if that does not help");
  }
  if ((port.read32(register_offset("STATUS")) & kStatusError) != 0) {
    throw Error(ErrorKind::kInternal, "a memory port answered the design with an error");
  }
  DesignRun run;
  run.cycles = port.read32(register_offset("CYCLES_LO")) | uint64_t(port.read32(register_offset("CYCLES_HI")))
                                                               << 32;
  set("STATUS", kStatusDone);
  for (size_t i = 0; i < count; ++i) {
    const uint8_t* const first = reinterpret_cast<const uint8_t*>(memory.data()) + output + i * out_bytes;
    run.outputs.push_back(read_output(design.output, {first, first + out_bytes}));
  }
  return run;
}

}  // namespace tilewright::pipeline
