// A queue counts its beats, the one at the output included. The output takes the next beat from the ring, or,
// where the ring lies in LUTs and is empty, the one that comes in.
#include "tilewright/pipeline/component/area_features.h"
#include "tilewright/pipeline/component/list.h"
#include "tilewright/pipeline/component/requirements.h"

namespace tilewright::pipeline {
namespace stream_fifo {
namespace {

using netlist::Direction;
using netlist::Parameters;

enum Port { kInValid, kInReady, kInData, kOutValid, kOutReady };

std::vector<ComponentPort> ports(const Parameters& parameters) {
  Requirements requirements("stream_fifo", parameters);
  const int64_t width = requirements.at_least("WIDTH", 1);
  requirements.at_least("DEPTH", 1);
  requirements.kind("lutram");
  requirements.raise_if_any();
  std::vector<ComponentPort> list;
  add_stream(list, "in", Direction::kInput, int(width));
  add_stream(list, "out", Direction::kOutput, int(width));
  return list;
}

class Model : public CycleModel {
 public:
  explicit Model(const Parameters& parameters) : depth_(netlist::integer(parameters, "DEPTH")) {
    const std::string kind = netlist::text_or(parameters, "KIND", "lutram");
    late_ = kind == "block" || kind == "ultra";
  }

  void reset(Pins& pins) override {
    count_ = 0;
    pins.set(kOutValid, 0);
  }

  void settle(Pins& pins) override { pins.set(kInReady, count_ < depth_ ? 1 : 0); }

  void tick(Pins& pins) override {
    const bool valid = pins[kOutValid] != 0, ready = pins[kOutReady] != 0;
    const bool taken = pins[kInValid] != 0 && count_ < depth_;
    const bool in_ring = count_ > (valid ? 1 : 0);
    pins.set(kOutValid, (valid && !ready) || in_ring || (taken && !late_) ? 1 : 0);
    count_ += (taken ? 1 : 0) - (valid && ready ? 1 : 0);
  }

 private:
  const int64_t depth_;
  bool late_ = false;
  int64_t count_ = 0;
};

std::unique_ptr<CycleModel> model(const Parameters& parameters, const MemoryImages&) {
  return std::make_unique<Model>(parameters);
}

ResourceFeatures features(const ComponentSizes& p) {
  ResourceFeatures f;
  const int64_t depth = p("DEPTH"), width = p("WIDTH");
  const std::string kind = p.text("KIND", "lutram");
  const bool late = kind == "block" || kind == "ultra";
  const int64_t ring = late ? depth : std::max<int64_t>(1, depth - 1);
  const area::MemoryLogic memory = area::add_memory(f, kind, ring, width, p.family, true);
  const double control = double(area::bits_of(ring) * 2 + area::bits_of(depth + 1));
  f.lut = {1, memory.lut, control, late ? 0.0 : double(width)};
  f.ff = {1, control, late ? 0.0 : kind == "registers" ? memory.ff : double(width)};
  return f;
}

}  // namespace
}  // namespace stream_fifo

const ComponentType kStreamFifo = {
    "stream_fifo", {"stream_memory"}, stream_fifo::ports, stream_fifo::model, stream_fifo::features};

}  // namespace tilewright::pipeline
