// The registers, the handshakes of AXI4-Lite, and the sequence of images, cycle by cycle.
#include <fmt/format.h>

#include <array>

#include "tilewright/base/error.h"
#include "tilewright/pipeline/component/area_features.h"
#include "tilewright/pipeline/component/list.h"
#include "tilewright/pipeline/component/task_rows.h"
#include "tilewright/pipeline/image/registers.h"

namespace tilewright::pipeline {
namespace control {
namespace {

using netlist::Direction;
using netlist::Parameters;

constexpr const char* kName = "control";
constexpr uint64_t kControlAt = register_offset("CONTROL");
constexpr uint64_t kStatusAt = register_offset("STATUS");
constexpr uint64_t kIdAt = register_offset("ID");
constexpr uint64_t kVersionAt = register_offset("VERSION");
constexpr uint64_t kImagesAt = register_offset("IMAGES");
constexpr uint64_t kImagesDoneAt = register_offset("IMAGES_DONE");
constexpr uint64_t kCyclesLoAt = register_offset("CYCLES_LO");
constexpr uint64_t kCyclesHiAt = register_offset("CYCLES_HI");
constexpr uint64_t kInputLoAt = register_offset("INPUT_LO");
constexpr uint64_t kInputBytesAt = register_offset("INPUT_BYTES");
constexpr uint64_t kInputStrideAt = register_offset("INPUT_STRIDE");
constexpr uint64_t kOutputLoAt = register_offset("OUTPUT_LO");
constexpr uint64_t kOutputBytesAt = register_offset("OUTPUT_BYTES");
constexpr uint64_t kOutputStrideAt = register_offset("OUTPUT_STRIDE");
constexpr uint64_t kWeights0LoAt = register_offset("WEIGHTS0_LO");
constexpr uint64_t kWeightBytesAt = register_offset("WEIGHT_BYTES");
constexpr uint64_t kIdentityAt = register_offset("IDENTITY");
constexpr uint64_t kIdentityEnd = kIdentityAt + 4 * DesignIdentity::kWords;
enum Port {
  kWriteAddressValid,
  kWriteAddressReady,
  kWriteAddress,
  kWriteValid,
  kWriteReady,
  kWriteData,
  kStrobes,
  kResponseValid,
  kResponseReady,
  kResponse,
  kReadAddressValid,
  kReadAddressReady,
  kReadAddress,
  kReadValid,
  kReadReady,
  kReadData,
  kReadResponse,
  kStart,
  kInputBase,
  kInputBytes,
  kOutputBase,
  kOutputBytes,
  kWeightBase,
  kWeightBytes = kWeightBase + 4,
  kBusy,
  kError,
  kInterrupt
};

std::vector<ComponentPort> ports(const Parameters& parameters) {
  const int address = int(parameter_in(parameters, kName, "A", 12, 64, 32));
  const int busy = int(parameter_in(parameters, kName, "BUSY", 1, 64, 1));
  parameter_in(parameters, kName, "CHANNELS", 1, 4, 1);
  const auto in = Direction::kInput, out = Direction::kOutput;
  const std::vector<netlist::Port> list = {{"s_awvalid", in, 1},
                                           {"s_awready", out, 1},
                                           {"s_awaddr", in, 12},
                                           {"s_wvalid", in, 1},
                                           {"s_wready", out, 1},
                                           {"s_wdata", in, 32},
                                           {"s_wstrb", in, 4},
                                           {"s_bvalid", out, 1},
                                           {"s_bready", in, 1},
                                           {"s_bresp", out, 2},
                                           {"s_arvalid", in, 1},
                                           {"s_arready", out, 1},
                                           {"s_araddr", in, 12},
                                           {"s_rvalid", out, 1},
                                           {"s_rready", in, 1},
                                           {"s_rdata", out, 32},
                                           {"s_rresp", out, 2},
                                           {"start", out, 1},
                                           {"input_base", out, address},
                                           {"input_bytes", out, 32},
                                           {"output_base", out, address},
                                           {"output_bytes", out, 32},
                                           {"weight_base0", out, address},
                                           {"weight_base1", out, address},
                                           {"weight_base2", out, address},
                                           {"weight_base3", out, address},
                                           {"weight_bytes", out, 32},
                                           {"busy", in, busy},
                                           {"error", in, 1},
                                           {"irq", out, 1}};
  std::vector<ComponentPort> result;
  for (const netlist::Port& port : list) result.push_back({port, PortTiming::kControl});
  return result;
}

class Model : public CycleModel {
 public:
  Model(const Parameters& parameters, const MemoryImages& images)
      : address_bits_(int(netlist::integer_or(parameters, "A", 32))),
        channels_(int(netlist::integer_or(parameters, "CHANNELS", 1))) {
    const std::string name = netlist::text_or(parameters, "IDENTITY", "");
    if (name.empty()) return;
    const auto found = images.find(name);
    if (found == images.end() || found->second.words() != DesignIdentity::kWords) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("control: there is no identity '{}' of 16 words", name),
                  "add encode(DesignIdentity) to the images of the design");
    }
    for (int i = 0; i < DesignIdentity::kWords; ++i) identity_[size_t(i)] = found->second.get(i, 0, 32);
  }

  void reset(Pins& pins) override {
    have_address_ = have_data_ = running_ = failed_ = false;
    words_.fill(0);
    images_done_ = 0;
    cycles_ = 0;
    for (int port = 0; port <= kInterrupt; ++port) {
      if (port != kBusy && port != kError) pins.set(port, 0);
    }
    drive(pins);
  }

  void tick(Pins& pins) override {
    read(pins);
    const bool write = have_address_ && have_data_ && pins[kResponseValid] == 0;
    const bool control = write && (strobes_ & 1) != 0;
    const bool launch = control && address_ == kControlAt && (value_ & kControlStart) != 0;
    const bool clear_done = control && address_ == kStatusAt && (value_ & kStatusDone) != 0;
    step(pins, launch && !running_, clear_done);
    if (write) store();
    pins.set(kResponseValid, write || (pins[kResponseValid] != 0 && pins[kResponseReady] == 0) ? 1 : 0);
    take_write(pins, write);
    drive(pins);
  }

 private:
  uint64_t word(uint64_t offset) const { return words_[offset / 4]; }
  uint64_t wide(uint64_t offset) const { return masked(word(offset) | word(offset + 4) << 32); }
  uint64_t masked(uint64_t value) const {
    return address_bits_ == 64 ? value : value & ((uint64_t{1} << address_bits_) - 1);
  }

  void take_write(Pins& pins, bool done) {
    const bool address = pins[kWriteAddressValid] != 0 && !have_address_;
    const bool data = pins[kWriteValid] != 0 && !have_data_;
    if (address) address_ = pins[kWriteAddress];
    if (data) {
      value_ = pins[kWriteData];
      strobes_ = pins[kStrobes];
    }
    have_address_ = address || (have_address_ && !done);
    have_data_ = data || (have_data_ && !done);
  }

  // The bits of a register that exist.
  uint64_t bits_of(uint64_t offset) const {
    const uint64_t all = 0xFFFFFFFF, high = masked(~uint64_t{0}) >> 32;
    if (offset >= kWeights0LoAt && offset < kWeightBytesAt) {
      if (int(offset - kWeights0LoAt) / 8 >= channels_) return 0;
      return (offset - kWeights0LoAt) % 8 == 0 ? all : high;
    }
    if (offset == kInputLoAt + 4 || offset == kOutputLoAt + 4) return high;
    const bool writable = offset == kImagesAt || (offset >= kInputLoAt && offset <= kWeightBytesAt);
    return writable ? all : 0;
  }

  void store() {
    if (address_ % 4 != 0 || address_ >= kIdentityAt) return;
    uint64_t mask = 0;
    for (int i = 0; i < 4; ++i) mask |= (strobes_ >> i & 1) != 0 ? uint64_t{0xFF} << 8 * i : 0;
    mask &= bits_of(address_);
    uint64_t& target = words_[address_ / 4];
    target = (target & ~mask) | (value_ & mask);
  }

  void read(Pins& pins) {
    const bool accepted = pins[kReadAddressValid] != 0 && pins[kReadValid] == 0;
    if (accepted) pins.set(kReadData, value_at(pins, pins[kReadAddress]));
    pins.set(kReadValid, accepted || (pins[kReadValid] != 0 && pins[kReadReady] == 0) ? 1 : 0);
  }

  uint64_t value_at(const Pins& pins, uint64_t offset) const {
    switch (offset) {
      case kControlAt:
        return running_ ? 1 : 0;
      case kStatusAt:
        return (failed_ ? uint64_t{kStatusError} : 0) | pins[kInterrupt];
      case kIdAt:
        return kPipelineId;
      case kVersionAt:
        return kPipelineVersion;
      case kImagesDoneAt:
        return images_done_;
      case kCyclesLoAt:
        return cycles_ & 0xFFFFFFFF;
      case kCyclesHiAt:
        return cycles_ >> 32;
      default:
        break;
    }
    if (offset >= kIdentityAt && offset < kIdentityEnd) return identity_[(offset - kIdentityAt) / 4];
    return offset < kIdentityAt ? word(offset) : 0;
  }

  // The sequence of images.
  void step(Pins& pins, bool launch, bool clear_done) {
    const bool starting = pins[kStart] != 0, image_done = running_ && !starting && pins[kBusy] == 0;
    pins.set(kStart, launch ? 1 : 0);
    if (launch) {
      running_ = true;
      failed_ = false;
      pins.set(kInterrupt, 0);
      images_done_ = 0;
      cycles_ = 0;
      pins.set(kInputBase, wide(kInputLoAt));
      pins.set(kOutputBase, wide(kOutputLoAt));
      return;
    }
    if (clear_done) pins.set(kInterrupt, 0);
    if (running_) {
      ++cycles_;
      failed_ = failed_ || (pins[kError] != 0 && !starting);
    }
    if (!image_done) return;
    images_done_ = (images_done_ + 1) & 0xFFFFFFFF;
    pins.set(kInputBase, masked(pins[kInputBase] + word(kInputStrideAt)));
    pins.set(kOutputBase, masked(pins[kOutputBase] + word(kOutputStrideAt)));
    running_ = images_done_ < word(kImagesAt);
    pins.set(running_ ? kStart : kInterrupt, 1);
  }

  void drive(Pins& pins) {
    pins.set(kWriteAddressReady, have_address_ ? 0 : 1);
    pins.set(kWriteReady, have_data_ ? 0 : 1);
    pins.set(kReadAddressReady, pins[kReadValid] != 0 ? 0 : 1);
    pins.set(kInputBytes, word(kInputBytesAt));
    pins.set(kOutputBytes, word(kOutputBytesAt));
    pins.set(kWeightBytes, word(kWeightBytesAt));
    for (int i = 0; i < 4; ++i) pins.set(kWeightBase + i, wide(kWeights0LoAt + 8 * uint64_t(i)));
  }

  const int address_bits_, channels_;
  std::array<uint64_t, DesignIdentity::kWords> identity_{};
  bool have_address_ = false, have_data_ = false;
  uint64_t address_ = 0, value_ = 0, strobes_ = 0;
  std::array<uint64_t, kIdentityAt / 4> words_{};  // as the host wrote them
  bool running_ = false, failed_ = false;
  uint64_t images_done_ = 0, cycles_ = 0;
};

std::unique_ptr<CycleModel> model(const Parameters& parameters, const MemoryImages& images) {
  return std::make_unique<Model>(parameters, images);
}

ResourceFeatures features(const ComponentSizes& p) {
  ResourceFeatures f;
  f.lut = {1, double(p("CHANNELS")), double(p("BUSY"))};
  f.ff = {1, double(p("CHANNELS"))};
  return f;
}

}  // namespace
}  // namespace control

const ComponentType kControl = {
    control::kName, {"component_config"}, control::ports, control::model, control::features};

}  // namespace tilewright::pipeline
