// One register between the streams; a counter over KEEP + DROP + ADD says what the next step is.
#include "tilewright/base/error.h"
#include "tilewright/pipeline/component/area_features.h"
#include "tilewright/pipeline/component/list.h"

namespace tilewright::pipeline {
namespace stream_frame {
namespace {

using netlist::Direction;
using netlist::Parameters;

enum Port { kInValid, kInReady, kInData, kOutValid, kOutReady };

std::vector<ComponentPort> ports(const Parameters& parameters) {
  const int64_t width = netlist::integer(parameters, "WIDTH");
  const int64_t keep = netlist::integer(parameters, "KEEP");
  if (width < 1 || keep < 1 || netlist::integer_or(parameters, "DROP", 0) < 0 ||
      netlist::integer_or(parameters, "ADD", 0) < 0) {
    throw Error(ErrorKind::kInvalidInput,
                "stream_frame needs WIDTH and KEEP of at least 1, DROP and ADD of 0");
  }
  std::vector<ComponentPort> list;
  add_stream(list, "in", Direction::kInput, int(width));
  add_stream(list, "out", Direction::kOutput, int(width));
  return list;
}

class Model : public CycleModel {
 public:
  explicit Model(const Parameters& parameters)
      : keep_(netlist::integer(parameters, "KEEP")),
        add_from_(keep_ + netlist::integer_or(parameters, "DROP", 0)),
        total_(add_from_ + netlist::integer_or(parameters, "ADD", 0)) {}

  void reset(Pins& pins) override {
    position_ = 0;
    pins.set(kOutValid, 0);
  }

  void settle(Pins& pins) override {
    pins.set(kInReady, position_ < add_from_ && (position_ >= keep_ || free(pins)) ? 1 : 0);
  }

  void tick(Pins& pins) override {
    const bool keeping = position_ < keep_;
    const bool takes = pins[kInValid] != 0 && pins[kInReady] != 0;
    const bool adds = position_ >= add_from_ && free(pins);
    if (takes || adds) position_ = position_ + 1 == total_ ? 0 : position_ + 1;
    if ((takes && keeping) || adds) {
      pins.set(kOutValid, 1);
    } else if (pins[kOutReady] != 0) {
      pins.set(kOutValid, 0);
    }
  }

 private:
  static bool free(const Pins& pins) { return pins[kOutValid] == 0 || pins[kOutReady] != 0; }

  const int64_t keep_, add_from_, total_;
  int64_t position_ = 0;
};

std::unique_ptr<CycleModel> model(const Parameters& parameters, const MemoryImages&) {
  return std::make_unique<Model>(parameters);
}

ResourceFeatures features(const ComponentSizes& p) {
  ResourceFeatures f;
  const double position = double(area::bits_of(p("KEEP") + p("DROP") + p("ADD")));
  f.lut = {1, position, double(p("WIDTH"))};
  f.ff = {1, position, double(p("WIDTH"))};
  return f;
}

}  // namespace
}  // namespace stream_frame

const ComponentType kStreamFrame = {
    "stream_frame", {}, stream_frame::ports, stream_frame::model, stream_frame::features};

}  // namespace tilewright::pipeline
