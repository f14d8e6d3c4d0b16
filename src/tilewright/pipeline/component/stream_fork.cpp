// One register, and for each output whether it still has to take what stands there.
#include "tilewright/pipeline/component/area_features.h"
#include "tilewright/pipeline/component/list.h"
#include "tilewright/pipeline/component/requirements.h"

namespace tilewright::pipeline {
namespace stream_fork {
namespace {

using netlist::Direction;
using netlist::Parameters;

enum Port { kInValid, kInReady, kInData, kOut0Valid, kOut0Ready, kOut0Data, kOut1Valid, kOut1Ready };

std::vector<ComponentPort> ports(const Parameters& parameters) {
  Requirements requirements("stream_fork", parameters);
  const int64_t width = requirements.at_least("WIDTH", 1);
  requirements.raise_if_any();
  std::vector<ComponentPort> list;
  add_stream(list, "in", Direction::kInput, int(width));
  add_stream(list, "out0", Direction::kOutput, int(width));
  add_stream(list, "out1", Direction::kOutput, int(width));
  return list;
}

class Model : public CycleModel {
 public:
  void reset(Pins& pins) override {
    pins.set(kOut0Valid, 0);
    pins.set(kOut1Valid, 0);
  }

  void settle(Pins& pins) override { pins.set(kInReady, held0(pins) || held1(pins) ? 0 : 1); }

  void tick(Pins& pins) override {
    const bool taken = pins[kInValid] != 0 && pins[kInReady] != 0;
    const bool valid0 = taken || held0(pins), valid1 = taken || held1(pins);
    pins.set(kOut0Valid, valid0 ? 1 : 0);
    pins.set(kOut1Valid, valid1 ? 1 : 0);
  }

 private:
  static bool held0(const Pins& pins) { return pins[kOut0Valid] != 0 && pins[kOut0Ready] == 0; }
  static bool held1(const Pins& pins) { return pins[kOut1Valid] != 0 && pins[kOut1Ready] == 0; }
};

std::unique_ptr<CycleModel> model(const Parameters&, const MemoryImages&) {
  return std::make_unique<Model>();
}

ResourceFeatures features(const ComponentSizes& p) { return area::registered_beat(double(p("WIDTH"))); }

}  // namespace
}  // namespace stream_fork

const ComponentType kStreamFork = {
    "stream_fork", {}, stream_fork::ports, stream_fork::model, stream_fork::features};

}  // namespace tilewright::pipeline
