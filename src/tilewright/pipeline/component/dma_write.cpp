// A burst is asked for once all its beats are in the queue, so the memory never waits for data for long.
#include "tilewright/pipeline/component/area_features.h"
#include "tilewright/pipeline/component/dma_time.h"
#include "tilewright/pipeline/component/list.h"

namespace tilewright::pipeline {
namespace dma_write {
namespace {

using netlist::Direction;
using netlist::Parameters;

constexpr const char* kName = "dma_write";
constexpr int64_t kMostOutstanding = 64;
enum Port {
  kStart,
  kBase,
  kBytes,
  kInValid,
  kInReady,
  kInData,
  kAddressValid,
  kAddressReady,
  kAddress,
  kLength,
  kSize,
  kBurst,
  kWriteValid,
  kWriteReady,
  kWriteData,
  kStrobe,
  kWriteLast,
  kResponseValid,
  kResponseReady,
  kResponse,
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
      {{"start", in, 1}, control}, {{"base", in, address}, control}, {{"bytes", in, 32}, control}};
  add_stream(list, "in", in, data);
  const std::vector<ComponentPort> master = {{{"m_awvalid", out, 1}, control},
                                             {{"m_awready", in, 1}, control},
                                             {{"m_awaddr", out, address}, control},
                                             {{"m_awlen", out, 8}, control},
                                             {{"m_awsize", out, 3}, control},
                                             {{"m_awburst", out, 2}, control},
                                             {{"m_wvalid", out, 1}, control},
                                             {{"m_wready", in, 1}, control},
                                             {{"m_wdata", out, data}, PortTiming::kData},
                                             {{"m_wstrb", out, data / 8}, PortTiming::kData},
                                             {{"m_wlast", out, 1}, control},
                                             {{"m_bvalid", in, 1}, control},
                                             {{"m_bready", out, 1}, control},
                                             {{"m_bresp", in, 2}, control},
                                             {{"busy", out, 1}, control},
                                             {{"error", out, 1}, control}};
  list.insert(list.end(), master.begin(), master.end());
  return list;
}

class Model : public CycleModel {
 public:
  explicit Model(const Parameters& parameters)
      : bursts_(netlist::integer(parameters, "DATA"), netlist::integer(parameters, "BURST"),
                netlist::integer_or(parameters, "A", 32)),
        queue_(netlist::integer(parameters, "QUEUE"), netlist::text_or(parameters, "KIND", "block")) {}

  void reset(Pins& pins) override {
    bursts_.start(0, 0);
    queue_.reset();
    waiting_ = burst_left_ = outstanding_ = 0;
    for (const int port : {kAddressValid, kAddress, kLength, kWriteValid, kWriteLast, kBusy, kError}) {
      pins.set(port, 0);
    }
    pins.set(kSize, uint64_t(bursts_.size()));
    pins.set(kBurst, 1);
    pins.set(kResponseReady, 1);
  }

  void settle(Pins& pins) override { pins.set(kInReady, queue_.can_push() ? 1 : 0); }

  void tick(Pins& pins) override {
    const int64_t beats = bursts_.beats();
    const bool accepted = pins[kAddressReady] != 0, answered = pins[kResponseValid] != 0;
    const bool taken = pins[kInValid] != 0 && pins[kInReady] != 0;
    const bool written = pins[kWriteValid] != 0 && pins[kWriteReady] != 0;
    const bool burst_done = burst_left_ == 0 || (burst_left_ == 1 && written);
    const bool ask = pins[kBusy] != 0 && bursts_.left() && (pins[kAddressValid] == 0 || accepted) &&
                     waiting_ >= beats && burst_done && outstanding_ < kMostOutstanding;
    const bool idle = !bursts_.left() && outstanding_ == 0;
    queue_.tick(taken, burst_left_ != 0 && pins[kWriteReady] != 0);
    if (ask) {
      pins.set(kAddress, bursts_.address());
      pins.set(kLength, uint64_t(beats - 1));
      bursts_.ask();
      burst_left_ = beats;
    } else if (written) {
      --burst_left_;
    }
    if (ask || accepted) pins.set(kAddressValid, ask ? 1 : 0);
    waiting_ += int64_t{taken} - (ask ? beats : 0);
    outstanding_ += int64_t{ask} - int64_t{answered};
    pins.set(kWriteValid, burst_left_ != 0 && queue_.valid() ? 1 : 0);
    pins.set(kWriteLast, burst_left_ == 1 ? 1 : 0);
    if (pins[kStart] != 0) {
      bursts_.start(pins[kBase], pins[kBytes]);
      pins.set(kBusy, 1);
      pins.set(kError, 0);
      return;
    }
    if (idle) pins.set(kBusy, 0);
    if (answered && (pins[kResponse] & 2) != 0) pins.set(kError, 1);
  }

 private:
  BurstTime bursts_;
  QueueTime queue_;
  int64_t waiting_ = 0;     // beats in the queue that no burst has been asked for
  int64_t burst_left_ = 0;  // beats of the burst that is written
  int64_t outstanding_ = 0;
};

std::unique_ptr<CycleModel> model(const Parameters& parameters, const MemoryImages&) {
  return std::make_unique<Model>(parameters);
}

}  // namespace
}  // namespace dma_write

const ComponentType kDmaWrite = {
    dma_write::kName, {"stream_fifo", "stream_memory"}, dma_write::ports, dma_write::model, dma_features};

}  // namespace tilewright::pipeline
