// Both inputs are taken in the cycle in which both are there and the register is free.
#include "tilewright/pipeline/component/area_features.h"
#include "tilewright/pipeline/component/list.h"
#include "tilewright/pipeline/component/requirements.h"

namespace tilewright::pipeline {
namespace stream_join {
namespace {

using netlist::Direction;
using netlist::Parameters;

enum Port { kIn0Valid, kIn0Ready, kIn0Data, kIn1Valid, kIn1Ready, kIn1Data, kOutValid, kOutReady };

std::vector<ComponentPort> ports(const Parameters& parameters) {
  Requirements requirements("stream_join", parameters);
  const int64_t width = requirements.at_least("WIDTH", 1);
  requirements.raise_if_any();
  std::vector<ComponentPort> list;
  add_stream(list, "in0", Direction::kInput, int(width));
  add_stream(list, "in1", Direction::kInput, int(width));
  add_stream(list, "out", Direction::kOutput, int(2 * width));
  return list;
}

class Model : public CycleModel {
 public:
  void reset(Pins& pins) override { pins.set(kOutValid, 0); }

  void settle(Pins& pins) override {
    const uint64_t free = held(pins) ? 0 : 1;
    pins.set(kIn0Ready, free & pins[kIn1Valid]);
    pins.set(kIn1Ready, free & pins[kIn0Valid]);
  }

  void tick(Pins& pins) override {
    const bool both = pins[kIn0Valid] != 0 && pins[kIn1Valid] != 0;
    pins.set(kOutValid, both || held(pins) ? 1 : 0);
  }

 private:
  static bool held(const Pins& pins) { return pins[kOutValid] != 0 && pins[kOutReady] == 0; }
};

std::unique_ptr<CycleModel> model(const Parameters&, const MemoryImages&) {
  return std::make_unique<Model>();
}

ResourceFeatures features(const ComponentSizes& p) { return area::registered_beat(2 * double(p("WIDTH"))); }

}  // namespace
}  // namespace stream_join

const ComponentType kStreamJoin = {
    "stream_join", {}, stream_join::ports, stream_join::model, stream_join::features};

}  // namespace tilewright::pipeline
