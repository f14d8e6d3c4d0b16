// Bit k of the masks is the beat k + 1 steps after it was taken; the step of the accumulators is acc_valid.
#include "tilewright/pipeline/component/array_model.h"

#include "tilewright/base/error.h"

namespace tilewright::pipeline {
namespace arrays {
namespace {

using netlist::Direction;

enum Port {
  kActValid,
  kActReady,
  kActData,
  kActLast,
  kWeightValid,
  kWeightReady,
  kWeightData,
  kAccValid,
  kAccReady
};

class Model : public CycleModel {
 public:
  explicit Model(int64_t steps) : before_(uint64_t{1} << (steps - 2)), kept_(before_ * 2 - 1) {
    TILEWRIGHT_CHECK(steps >= 2 && steps <= 64, "an array of 2 to 64 steps");
  }

  void reset(Pins& pins) override {
    valids_ = lasts_ = 0;
    pins.set(kAccValid, 0);
  }

  void settle(Pins& pins) override {
    const bool moves = enabled(pins);
    pins.set(kActReady, moves && pins[kWeightValid] != 0 ? 1 : 0);
    pins.set(kWeightReady, moves && pins[kActValid] != 0 ? 1 : 0);
  }

  void tick(Pins& pins) override {
    if (!enabled(pins)) return;
    const bool accumulates = (valids_ & before_) != 0;
    const bool held = pins[kAccValid] != 0 && pins[kAccReady] == 0;
    pins.set(kAccValid, (accumulates ? (lasts_ & before_) != 0 : held) ? 1 : 0);
    const bool takes = pins[kActValid] != 0 && pins[kWeightValid] != 0;
    valids_ = ((valids_ << 1) | uint64_t(takes)) & kept_;
    lasts_ = ((lasts_ << 1) | uint64_t(pins[kActLast] != 0)) & kept_;
  }

 private:
  bool enabled(const Pins& pins) const {
    return pins[kAccValid] == 0 || pins[kAccReady] != 0 || (valids_ & before_) == 0;
  }

  const uint64_t before_, kept_;
  uint64_t valids_ = 0, lasts_ = 0;
};

}  // namespace
}  // namespace arrays

std::vector<ComponentPort> array_ports(int64_t act_bits, int64_t weight_bits, int64_t acc_bits) {
  std::vector<ComponentPort> list;
  add_stream(list, "act", netlist::Direction::kInput, int(act_bits), true);
  add_stream(list, "weight", netlist::Direction::kInput, int(weight_bits));
  add_stream(list, "acc", netlist::Direction::kOutput, int(acc_bits));
  return list;
}

std::unique_ptr<CycleModel> array_model(int64_t steps) { return std::make_unique<arrays::Model>(steps); }

int64_t multiplier_steps(int64_t a_bits, int64_t b_bits, bool lut) {
  const bool one_block = (a_bits <= 25 && b_bits <= 18) || (a_bits <= 18 && b_bits <= 25);
  return lut || one_block ? 1 : 2;
}

int64_t packed_rows(const std::string& multiply) {
  for (const int64_t rows : {2, 3, 4}) {
    if (multiply == "packed" + std::to_string(rows)) return rows;
  }
  return 0;
}

int64_t packed_bits(int64_t rows, int64_t activation_bits, int64_t weight_bits) {
  return (rows - 1) * (activation_bits + weight_bits) + weight_bits;
}

int64_t tree_levels(int64_t count) {
  int64_t levels = 0;
  while ((int64_t{1} << levels) < count) ++levels;
  return levels;
}

}  // namespace tilewright::pipeline
