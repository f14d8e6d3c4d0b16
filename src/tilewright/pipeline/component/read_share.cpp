// Grants of addresses, and a queue of whose beats come; beats pass in the cycle in which the memory has them.
#include <bit>
#include <deque>

#include "tilewright/pipeline/component/area_features.h"
#include "tilewright/pipeline/component/list.h"
#include "tilewright/pipeline/component/task_rows.h"

namespace tilewright::pipeline {
namespace read_share {
namespace {

using netlist::Direction;
using netlist::Parameters;

constexpr const char* kName = "read_share";
constexpr size_t kMostOutstanding = 64;
constexpr int kReadPorts = 11;
// Of one port; client 1 and the memory follow with the same order.
enum Port {
  kAddressValid,
  kAddressReady,
  kAddress,
  kLength,
  kSize,
  kBurst,
  kValid,
  kReady,
  kData,
  kResponse,
  kLast
};
constexpr int kClient[2] = {0, kReadPorts};
constexpr int kMemory = 2 * kReadPorts;

std::vector<ComponentPort> ports(const Parameters& parameters) {
  const int data = int(parameter_in(parameters, kName, "DATA", 8, 1024));
  const int address = int(parameter_in(parameters, kName, "A", 12, 64, 32));
  std::vector<ComponentPort> list;
  for (const std::string prefix : {"c0_", "c1_", "m_"}) {
    const bool memory = prefix == "m_";
    const Direction asks = memory ? Direction::kOutput : Direction::kInput;
    const Direction answers = memory ? Direction::kInput : Direction::kOutput;
    const PortTiming control = PortTiming::kControl;
    const PortTiming passed = memory ? control : PortTiming::kCombinational;
    const std::vector<ComponentPort> port = {
        {{prefix + "arvalid", asks, 1}, control},
        {{prefix + "arready", answers, 1}, passed},
        {{prefix + "araddr", asks, address}, control},
        {{prefix + "arlen", asks, 8}, control},
        {{prefix + "arsize", asks, 3}, control},
        {{prefix + "arburst", asks, 2}, control},
        {{prefix + "rvalid", answers, 1}, passed},
        {{prefix + "rready", asks, 1}, memory ? PortTiming::kCombinational : control},
        {{prefix + "rdata", answers, data}, PortTiming::kData},
        {{prefix + "rresp", answers, 2}, passed},
        {{prefix + "rlast", answers, 1}, passed}};
    list.insert(list.end(), port.begin(), port.end());
  }
  return list;
}

class Model : public CycleModel {
 public:
  explicit Model(const Parameters& parameters)
      : size_(std::countr_zero(uint64_t(netlist::integer(parameters, "DATA") / 8))) {}

  void reset(Pins& pins) override {
    owners_.clear();
    for (const int port : {kAddressValid, kAddress, kLength}) pins.set(kMemory + port, 0);
    pins.set(kMemory + kSize, uint64_t(size_));
    pins.set(kMemory + kBurst, 1);
  }

  void settle(Pins& pins) override {
    const bool free = is_free(pins);
    const size_t owner = owners_.empty() ? 0 : owners_.front();
    pins.set(kClient[0] + kAddressReady, free ? 1 : 0);
    pins.set(kClient[1] + kAddressReady, free && pins[kClient[0] + kAddressValid] == 0 ? 1 : 0);
    pins.set(kMemory + kReady, pins[kClient[owner] + kReady]);
    for (size_t client = 0; client < 2; ++client) {
      pins.set(kClient[client] + kValid, client == owner ? pins[kMemory + kValid] : 0);
      pins.set(kClient[client] + kResponse, pins[kMemory + kResponse]);
      pins.set(kClient[client] + kLast, pins[kMemory + kLast]);
    }
  }

  void tick(Pins& pins) override {
    const bool first = pins[kClient[0] + kAddressValid] != 0;
    const bool ask = is_free(pins) && (first || pins[kClient[1] + kAddressValid] != 0);
    const bool done =
        pins[kMemory + kValid] != 0 && pins[kMemory + kLast] != 0 && pins[kMemory + kReady] != 0;
    if (ask || pins[kMemory + kAddressReady] != 0) pins.set(kMemory + kAddressValid, ask ? 1 : 0);
    if (done) owners_.pop_front();
    if (!ask) return;
    const int client = kClient[first ? 0 : 1];
    pins.set(kMemory + kAddress, pins[client + kAddress]);
    pins.set(kMemory + kLength, pins[client + kLength]);
    owners_.push_back(first ? 0 : 1);
  }

 private:
  bool is_free(const Pins& pins) const {
    return (pins[kMemory + kAddressValid] == 0 || pins[kMemory + kAddressReady] != 0) &&
           owners_.size() != kMostOutstanding;
  }

  const int size_;
  std::deque<size_t> owners_;
};

std::unique_ptr<CycleModel> model(const Parameters& parameters, const MemoryImages&) {
  return std::make_unique<Model>(parameters);
}

ResourceFeatures features(const ComponentSizes& p) {
  ResourceFeatures f;
  f.lut = {1, double(p("A"))};
  f.ff = {1, double(p("A"))};
  return f;
}

}  // namespace
}  // namespace read_share

const ComponentType kReadShare = {
    read_share::kName, {}, read_share::ports, read_share::model, read_share::features};

}  // namespace tilewright::pipeline
