// One register: a wide beat leaves it in parts, or narrow beats gather in it. What is counted is the parts
// left.
#include "tilewright/pipeline/component/area_features.h"
#include "tilewright/pipeline/component/list.h"
#include "tilewright/pipeline/component/requirements.h"

namespace tilewright::pipeline {
namespace stream_width {
namespace {

using netlist::Direction;
using netlist::Parameters;

enum Port { kInValid, kInReady, kInData, kOutValid, kOutReady };

std::vector<ComponentPort> ports(const Parameters& parameters) {
  Requirements requirements("stream_width", parameters);
  const int64_t element = requirements.at_least("ELEMENT", 1);
  const int64_t in = requirements.at_least("IN", 1), out = requirements.at_least("OUT", 1);
  requirements.need(in % out == 0 || out % in == 0, "neither of IN = " + std::to_string(in) + " and OUT = " +
                                                        std::to_string(out) + " divides the other");
  requirements.raise_if_any();
  std::vector<ComponentPort> list;
  add_stream(list, "in", Direction::kInput, int(in * element));
  add_stream(list, "out", Direction::kOutput, int(out * element));
  return list;
}

// IN > OUT: `left_` parts follow the one at the output.
class Cut : public CycleModel {
 public:
  explicit Cut(int64_t parts) : parts_(parts) {}

  void reset(Pins& pins) override {
    left_ = 0;
    pins.set(kOutValid, 0);
  }

  void settle(Pins& pins) override { pins.set(kInReady, next(pins) ? 1 : 0); }

  void tick(Pins& pins) override {
    if (next(pins)) {
      pins.set(kOutValid, pins[kInValid]);
      left_ = parts_ - 1;
    } else if (pins[kOutReady] != 0) {
      --left_;
    }
  }

 private:
  bool next(const Pins& pins) const { return pins[kOutValid] == 0 || (pins[kOutReady] != 0 && left_ == 0); }

  const int64_t parts_;
  int64_t left_ = 0;
};

// IN <= OUT: `missing_` parts follow the next one.
class Gather : public CycleModel {
 public:
  explicit Gather(int64_t parts) : parts_(parts) {}

  void reset(Pins& pins) override {
    missing_ = parts_ - 1;
    pins.set(kOutValid, 0);
  }

  void settle(Pins& pins) override { pins.set(kInReady, held(pins) ? 0 : 1); }

  void tick(Pins& pins) override {
    const bool taken = pins[kInValid] != 0 && !held(pins);
    const bool whole = taken && missing_ == 0;
    if (taken) missing_ = whole ? parts_ - 1 : missing_ - 1;
    pins.set(kOutValid, whole || held(pins) ? 1 : 0);
  }

 private:
  static bool held(const Pins& pins) { return pins[kOutValid] != 0 && pins[kOutReady] == 0; }

  const int64_t parts_;
  int64_t missing_ = 0;
};

std::unique_ptr<CycleModel> model(const Parameters& parameters, const MemoryImages&) {
  const int64_t in = netlist::integer(parameters, "IN"), out = netlist::integer(parameters, "OUT");
  if (in > out) return std::make_unique<Cut>(in / out);
  return std::make_unique<Gather>(out / in);
}

ResourceFeatures features(const ComponentSizes& p) {
  ResourceFeatures f;
  const int64_t element = p("ELEMENT"), in = p("IN"), out = p("OUT");
  const int64_t parts = std::max(in, out) / std::min(in, out);
  const double count = in == out ? 0 : double(area::bits_of(parts));
  f.lut = {1, in > out ? double(in * element) : 0, count};
  f.ff = {1, double(std::max(in, out) * element), count};
  return f;
}

}  // namespace
}  // namespace stream_width

const ComponentType kStreamWidth = {
    "stream_width", {}, stream_width::ports, stream_width::model, stream_width::features};

}  // namespace tilewright::pipeline
