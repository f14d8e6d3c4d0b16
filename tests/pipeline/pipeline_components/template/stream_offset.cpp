// The template of a component in C++ (docs/guides/components.md): ports, model in time, features of its
// area.
#include "tilewright/pipeline/component/area_features.h"
#include "tilewright/pipeline/component/list.h"
#include "tilewright/pipeline/component/requirements.h"

namespace tilewright::pipeline {
namespace stream_offset {
namespace {

// In the order in which ports() lists them.
enum Port { kInValid, kInReady, kInData, kOutValid, kOutReady };

std::vector<ComponentPort> ports(const netlist::Parameters& parameters) {
  Requirements requirements("stream_offset", parameters);
  const int64_t bits = requirements.at_least("BITS", 1);
  requirements.at_least("OFFSET", 0);
  requirements.raise_if_any();
  std::vector<ComponentPort> list;
  add_stream(list, "in", netlist::Direction::kInput, int(bits));
  add_stream(list, "out", netlist::Direction::kOutput, int(bits));
  return list;
}

class Model : public CycleModel {
 public:
  void reset(Pins& pins) override { pins.set(kOutValid, 0); }
  void settle(Pins& pins) override { pins.set(kInReady, free(pins) ? 1 : 0); }
  void tick(Pins& pins) override {
    if (free(pins)) pins.set(kOutValid, pins[kInValid]);
  }

 private:
  static bool free(const Pins& pins) { return pins[kOutValid] == 0 || pins[kOutReady] != 0; }
};

std::unique_ptr<CycleModel> model(const netlist::Parameters&, const MemoryImages&) {
  return std::make_unique<Model>();
}

// The handshake, and a register for each bit of a beat; the sum is made by carry cells alone.
ResourceFeatures features(const ComponentSizes& p) {
  ResourceFeatures f;
  f.lut = {1};
  f.ff = {1, double(p("BITS"))};
  return f;
}

}  // namespace
}  // namespace stream_offset

const ComponentType kStreamOffset = {
    "stream_offset", {}, stream_offset::ports, stream_offset::model, stream_offset::features};

}  // namespace tilewright::pipeline
