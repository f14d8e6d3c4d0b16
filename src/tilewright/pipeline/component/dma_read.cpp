// Room in the queue is kept for what is asked for, so beats come whenever the memory likes.
#include <fmt/format.h>

#include "tilewright/base/error.h"
#include "tilewright/pipeline/component/area_features.h"
#include "tilewright/pipeline/component/dma_time.h"
#include "tilewright/pipeline/component/list.h"

namespace tilewright::pipeline {

void check_burst_parameters(const netlist::Parameters& parameters, const char* component) {
  const int64_t data = parameter_in(parameters, component, "DATA", 8, 1024);
  const int64_t burst = parameter_in(parameters, component, "BURST", 1, 256);
  const int64_t queue = parameter_in(parameters, component, "QUEUE", 1, 1 << 20);
  parameter_in(parameters, component, "A", 12, 64, 32);
  const auto error = [&](const std::string& message, const char* hint) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("{}: {}", component, message), hint);
  };
  if (!std::has_single_bit(uint64_t(data))) {
    error(fmt::format("DATA {} is not a power of two", data), "8 to 1024 bits");
  }
  if (!std::has_single_bit(uint64_t(burst)) || burst * data / 8 > 4096) {
    error(fmt::format("BURST {} of {} bytes", burst, data / 8), "a power of two of beats within 4096 bytes");
  }
  if (queue < burst) error(fmt::format("QUEUE {} holds no burst of {}", queue, burst), "QUEUE >= BURST");
}

ResourceFeatures dma_features(const ComponentSizes& p) {
  ResourceFeatures f;
  const area::MemoryLogic memory =
      area::add_memory(f, p.text("KIND", "block"), p("QUEUE"), p("DATA"), p.family);
  const double position = double(p("A") + 32 - 2 * area::bits_of(p("DATA") / 8));
  f.lut = {1, position, memory.lut, double(area::bits_of(p("QUEUE")))};
  f.ff = {1, position, memory.ff, double(area::bits_of(p("QUEUE")))};
  return f;
}

namespace dma_read {
namespace {

using netlist::Direction;
using netlist::Parameters;

constexpr const char* kName = "dma_read";
enum Port {
  kStart,
  kBase,
  kBytes,
  kAddressValid,
  kAddressReady,
  kAddress,
  kLength,
  kSize,
  kBurst,
  kReadValid,
  kReadReady,
  kReadData,
  kResponse,
  kReadLast,
  kOutValid,
  kOutReady,
  kOutData,
  kBusy,
  kError
};

std::vector<ComponentPort> ports(const Parameters& parameters) {
  check_burst_parameters(parameters, kName);
  const int data = int(netlist::integer(parameters, "DATA"));
  const int address = int(netlist::integer_or(parameters, "A", 32));
  const auto in = Direction::kInput, out = Direction::kOutput;
  const auto control = PortTiming::kControl;
  std::vector<ComponentPort> list = {
      {{"start", in, 1}, control},      {{"base", in, address}, control},
      {{"bytes", in, 32}, control},     {{"m_arvalid", out, 1}, control},
      {{"m_arready", in, 1}, control},  {{"m_araddr", out, address}, control},
      {{"m_arlen", out, 8}, control},   {{"m_arsize", out, 3}, control},
      {{"m_arburst", out, 2}, control}, {{"m_rvalid", in, 1}, control},
      {{"m_rready", out, 1}, control},  {{"m_rdata", in, data}, PortTiming::kData},
      {{"m_rresp", in, 2}, control},    {{"m_rlast", in, 1}, control}};
  add_stream(list, "out", out, data);
  list.push_back({{"busy", out, 1}, control});
  list.push_back({{"error", out, 1}, control});
  return list;
}

class Model : public CycleModel {
 public:
  explicit Model(const Parameters& parameters)
      : depth_(netlist::integer(parameters, "QUEUE")),
        bursts_(netlist::integer(parameters, "DATA"), netlist::integer(parameters, "BURST"),
                netlist::integer_or(parameters, "A", 32)),
        queue_(depth_, netlist::text_or(parameters, "KIND", "block")) {}

  void reset(Pins& pins) override {
    bursts_.start(0, 0);
    queue_.reset();
    room_ = depth_;
    for (const int port : {kAddressValid, kAddress, kLength, kOutValid, kBusy, kError}) pins.set(port, 0);
    pins.set(kSize, uint64_t(bursts_.size()));
    pins.set(kBurst, 1);
    pins.set(kReadReady, 1);
  }

  void tick(Pins& pins) override {
    const int64_t beats = bursts_.beats();
    const bool accepted = pins[kAddressReady] != 0;
    const bool ask =
        pins[kBusy] != 0 && bursts_.left() && (pins[kAddressValid] == 0 || accepted) && room_ >= beats;
    const bool start = pins[kStart] != 0, arrives = pins[kReadValid] != 0;
    const bool idle = !bursts_.left() && room_ == depth_;
    if (ask) {
      pins.set(kAddress, bursts_.address());
      pins.set(kLength, uint64_t(beats - 1));
      room_ -= beats;
      bursts_.ask();
    }
    if (ask || accepted) pins.set(kAddressValid, ask ? 1 : 0);
    if (queue_.valid() && pins[kOutReady] != 0) ++room_;
    queue_.tick(arrives, pins[kOutReady] != 0);
    pins.set(kOutValid, queue_.valid() ? 1 : 0);
    if (start) {
      bursts_.start(pins[kBase], pins[kBytes]);
      pins.set(kBusy, 1);
      pins.set(kError, 0);
      return;
    }
    if (idle) pins.set(kBusy, 0);
    if (arrives && (pins[kResponse] & 2) != 0) pins.set(kError, 1);
  }

 private:
  const int64_t depth_;
  BurstTime bursts_;
  QueueTime queue_;
  int64_t room_ = 0;  // in the queue, less what was asked for
};

std::unique_ptr<CycleModel> model(const Parameters& parameters, const MemoryImages&) {
  return std::make_unique<Model>(parameters);
}

}  // namespace
}  // namespace dma_read

const ComponentType kDmaRead = {
    dma_read::kName, {"stream_fifo", "stream_memory"}, dma_read::ports, dma_read::model, dma_features};

}  // namespace tilewright::pipeline
