// Only the grants take part in time: the lowest index that asks.
#include <fmt/format.h>

#include "tilewright/base/error.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/pipeline/component/area_features.h"
#include "tilewright/pipeline/component/list.h"
#include "tilewright/pipeline/component/task_rows.h"

namespace tilewright::pipeline {
namespace tensor_memory {
namespace {

using netlist::Direction;
using netlist::Parameters;

constexpr const char* kName = "tensor_memory";
enum Port { kReadValid, kReadReady, kReadAddress, kReadData, kWriteValid, kWriteReady };

std::vector<ComponentPort> ports(const Parameters& parameters) {
  const int64_t width = parameter_in(parameters, kName, "WIDTH", 1, 1 << 20);
  const int64_t parts = parameter_in(parameters, kName, "PARTS", 1, 1 << 16, 1);
  const int64_t words = parameter_in(parameters, kName, "WORDS", 1, int64_t{1} << 31);
  const int readers = int(parameter_in(parameters, kName, "READERS", 1, 64, 1));
  const int writers = int(parameter_in(parameters, kName, "WRITERS", 1, 64, 1));
  if (width % parts != 0) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("tensor_memory: {} PARTS do not divide a WIDTH of {}", parts, width),
                "PF has to divide PI");
  }
  const int address = index_bits(words);
  const auto in = Direction::kInput, out = Direction::kOutput;
  return {{{"rd_valid", in, readers}, PortTiming::kControl},
          {{"rd_ready", out, readers}, PortTiming::kCombinational},
          {{"rd_address", in, readers * address}, PortTiming::kData},
          {{"rd_data", out, int(width)}, PortTiming::kData},
          {{"wr_valid", in, writers}, PortTiming::kControl},
          {{"wr_ready", out, writers}, PortTiming::kCombinational},
          {{"wr_address", in, writers * address}, PortTiming::kData},
          {{"wr_part", in, writers * index_bits(parts)}, PortTiming::kData},
          {{"wr_data", in, int(writers * (width / parts))}, PortTiming::kData}};
}

class Model : public CycleModel {
 public:
  explicit Model(const Parameters& parameters)
      : readers_(mask(netlist::integer_or(parameters, "READERS", 1))),
        writers_(mask(netlist::integer_or(parameters, "WRITERS", 1))) {}

  void reset(Pins&) override {}
  void settle(Pins& pins) override {
    pins.set(kReadReady, grants(pins[kReadValid]) & readers_);
    pins.set(kWriteReady, grants(pins[kWriteValid]) & writers_);
  }
  void tick(Pins&) override {}

 private:
  static uint64_t mask(int64_t count) { return ~uint64_t{0} >> (64 - count); }  // 1 to 64
  // Every index up to the lowest that asks, itself included.
  static uint64_t grants(uint64_t asking) { return asking ^ (asking - 1); }

  const uint64_t readers_, writers_;
};

std::unique_ptr<CycleModel> model(const Parameters& parameters, const MemoryImages&) {
  return std::make_unique<Model>(parameters);
}

ResourceFeatures features(const ComponentSizes& p) {
  ResourceFeatures f;
  const int64_t width = p("WIDTH"), parts = p("PARTS"), words = p("WORDS");
  area::MemoryLogic memory;
  for (int64_t part = 0; part < parts; ++part) {
    const area::MemoryLogic one =
        area::add_memory(f, p.text("KIND", "block"), words, width / parts, p.family);
    memory.lut += one.lut;
    memory.ff += one.ff;
  }
  // A gate of six inputs passes bits of three that take turns.
  const auto turns = [](int64_t count) { return count > 1 ? double(ceil_div(count, 3)) : 0; };
  const double address = double(area::bits_of(words)), readers = turns(p("READERS")),
               writers = turns(p("WRITERS"));
  f.lut = {
      1, memory.lut, readers * address, writers * address, writers * double(width / parts), double(parts)};
  f.ff = {1, memory.ff, double(width)};
  return f;
}

}  // namespace
}  // namespace tensor_memory

const ComponentType kTensorMemory = {tensor_memory::kName,
                                     {"tensor_bank"},
                                     tensor_memory::ports,
                                     tensor_memory::model,
                                     tensor_memory::features};

}  // namespace tilewright::pipeline
