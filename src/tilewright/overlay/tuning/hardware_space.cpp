// Scratchpads and queues are powers of two, as the RTL has them; ranges end where a further step cannot help
// a part of the size of a Zynq-7020. `alu_share` is a share of the lanes, so that every value of it means
// something for every array.
#include "tilewright/overlay/tuning/hardware_space.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/overlay/rtl/rtl_config.h"

namespace tilewright::overlay {
namespace {

enum HardwareKnobIndex {
  kBatchKnob,
  kWords,
  kBlockOut,
  kUopKib,
  kInputKib,
  kWeightKib,
  kAccumulatorKib,
  kAluShare,
  kBeside,
  kPort,
  kCommandQueue,
  kReadQueue
};

// Whole spaces are walked: no text is made of a point that nobody sees.
OverlayHardware nameless(const std::vector<int64_t>& values, int operand_bits) {
  constexpr int64_t kKib = 1024;
  OverlayHardware h;
  h.name = "overlay";
  h.isa = IsaVersion::kWide;
  h.batch = int(values[kBatchKnob]);
  h.block_in = int(values[kWords] * 8 / operand_bits);
  h.block_out = int(values[kBlockOut]);
  h.input_bits = h.weight_bits = h.output_bits = operand_bits;
  h.uop_buffer_bytes = values[kUopKib] * kKib;
  h.input_buffer_bytes = values[kInputKib] * kKib;
  h.weight_buffer_bytes = values[kWeightKib] * kKib;
  h.accumulator_buffer_bytes = values[kAccumulatorKib] * kKib;
  h.alu_lanes = int(h.batch * h.block_out / values[kAluShare]);
  h.gemm_beside_alu = values[kBeside] != 0;
  h.memory_width_bits = int(values[kPort]);
  h.command_queue_depth = int(values[kCommandQueue]);
  h.read_queue_beats = int(values[kReadQueue]);
  h.max_burst_beats = std::min(64, h.read_queue_beats);
  return h;
}

// Outputs are stored as the next layer's inputs: what why_not() of layer.h asks of the blocks.
bool chains(const OverlayHardware& h) {
  return h.block_in % h.block_out == 0 && (h.block_in == h.block_out || h.batch == 1);
}

bool buildable(const OverlayHardware& h) {
  Diagnostics diagnostics;
  verify_rtl(h, diagnostics);
  return diagnostics.ok();
}

}  // namespace

KnobSpace hardware_space(int operand_bits, const Device& device) {
  if (std::find(std::begin(kOperandBits), std::end(kOperandBits), operand_bits) == std::end(kOperandBits)) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("an overlay has no operands of {} bits", operand_bits),
                "8, 4, 2 and 1 exist");
  }
  const int64_t port = device.memory ? std::clamp<int64_t>(device.memory->port_bytes * 8, 32, 512) : 64;
  std::vector<int64_t> ports{port};
  if (port > 32) ports.insert(ports.begin(), port / 2);
  std::vector<Knob> knobs{
      Knob::integers("batch", {1, 2, 4}),
      Knob::integers("words", {4, 8, 16, 32}),
      Knob::integers("block_out", {4, 8, 16, 32, 64}),
      Knob::integers("uop_kib", {8, 16, 32}),
      Knob::integers("input_kib", {8, 16, 32, 64, 128}),
      Knob::integers("weight_kib", {16, 32, 64, 128, 256}),
      Knob::integers("accumulator_kib", {16, 32, 64, 128}),
      Knob::integers("alu_share", {1, 2, 4, 8}),
      Knob::choices("gemm_beside_alu", {"no", "yes"}),
      Knob::integers("memory_width_bits", std::move(ports)),
      Knob::integers("command_queue_depth", {32, 128, 512}),
      Knob::integers("read_queue_beats", {64, 256}),
  };
  return KnobSpace(std::move(knobs), [operand_bits](const std::vector<int64_t>& values) {
    if (values[kBatchKnob] * values[kBlockOut] < values[kAluShare]) return false;
    const OverlayHardware hardware = nameless(values, operand_bits);
    return chains(hardware) && buildable(hardware);
  });
}

OverlayHardware hardware_at(const std::vector<int64_t>& values, int operand_bits) {
  OverlayHardware h = nameless(values, operand_bits);
  h.name = fmt::format("w{0}a{0}-{1}x{2}x{3}-u{4}i{5}w{6}a{7}-alu{8}{9}-port{10}-q{11}r{12}", operand_bits,
                       h.batch, h.block_in, h.block_out, values[kUopKib], values[kInputKib],
                       values[kWeightKib], values[kAccumulatorKib], h.alu_lanes, h.gemm_beside_alu ? "b" : "",
                       h.memory_width_bits, h.command_queue_depth, h.read_queue_beats);
  return h;
}

}  // namespace tilewright::overlay
