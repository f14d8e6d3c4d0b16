// The loops as in the SystemVerilog, without addresses: which beats are written, and where tasks end.
#include "tilewright/pipeline/component/tensor_writer.h"

#include <fmt/format.h>

#include "tilewright/base/error.h"
#include "tilewright/pipeline/component/area_features.h"
#include "tilewright/pipeline/component/list.h"
#include "tilewright/pipeline/component/task_rows.h"
#include "tilewright/pipeline/image/row_layout.h"

namespace tilewright::pipeline {
namespace tensor_writer {
namespace {

using netlist::Direction;
using netlist::Parameters;

constexpr const char* kName = "tensor_writer";
constexpr RowField<TensorWriterRow> kFields[] = {
    {"UNIT", unsigned_bits(4), &TensorWriterRow::unit},
    {"BASE", unsigned_bits(32), &TensorWriterRow::base},
    {"OBS", unsigned_bits(16), &TensorWriterRow::outer_step},
    {"RS", unsigned_bits(32), &TensorWriterRow::row_step},
    {"CS", unsigned_bits(16), &TensorWriterRow::column_step},
    {"OB", unsigned_bits(16), &TensorWriterRow::outer},
    {"HO", unsigned_bits(16), &TensorWriterRow::rows},
    {"WO", unsigned_bits(16), &TensorWriterRow::columns},
    {"D", unsigned_bits(16), &TensorWriterRow::beats},
    {"LIMIT", unsigned_bits(16), &TensorWriterRow::limit},
};
constexpr RowFields<TensorWriterRow> kRow(kFields);
std::vector<RowLayout> layouts() { return {row_layout(kName, kRow)}; }

enum Port {
  kInValid,
  kInReady,
  kInData,
  kWriteValid,
  kWriteReady,
  kWriteAddress,
  kWritePart,
  kWriteData,
  kProgress,
  kClear
};

std::vector<ComponentPort> ports(const Parameters& parameters) {
  const int64_t pi = parameter_in(parameters, kName, "PI", 1, 1 << 16);
  const int64_t pf = parameter_in(parameters, kName, "PF", 1, 1 << 16);
  const int width = int(pf * parameter_in(parameters, kName, "AW", 1, 64));
  const int units = int(parameter_in(parameters, kName, "UNITS", 1, 16, 1));
  const int address = int(parameter_in(parameters, kName, "A", 1, 32));
  parameter_in(parameters, kName, "TASKS", 1, 1 << 16, 1);
  for (const char* name : {"OB_BITS", "SIZE_BITS", "D_BITS", "W_BITS"}) {
    parameter_in(parameters, kName, name, 1, 16, 16);
  }
  if (pi % pf != 0) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("tensor_writer: PF {} does not divide PI {}", pf, pi),
                "PF has to divide PI");
  }
  const auto in = Direction::kInput, out = Direction::kOutput;
  std::vector<ComponentPort> list;
  add_stream(list, "in", in, width);
  list.push_back({{"wr_valid", out, units}, PortTiming::kControl});
  list.push_back({{"wr_ready", in, units}, PortTiming::kControl});
  list.push_back({{"wr_address", out, address}, PortTiming::kData});
  list.push_back({{"wr_part", out, index_bits(pi / pf)}, PortTiming::kData});
  list.push_back({{"wr_data", out, width}, PortTiming::kData});
  list.push_back({{"progress", out, 16}, PortTiming::kControl});
  list.push_back({{"clear", in, 1}, PortTiming::kControl});
  return list;
}

void check_counters(const Parameters& parameters, const std::vector<TensorWriterRow>& tasks) {
  const auto bits = [&](const char* name) { return netlist::integer_or(parameters, name, 16); };
  const int64_t parts = netlist::integer(parameters, "PI") / netlist::integer(parameters, "PF");
  for (const TensorWriterRow& task : tasks) {
    counted(kName, "OB", task.outer, bits("OB_BITS"));
    counted(kName, "HO", task.rows, bits("SIZE_BITS"));
    counted(kName, "WO", task.columns, bits("SIZE_BITS"));
    counted(kName, "D", task.beats, bits("D_BITS"));
    counted(kName, "LIMIT", task.limit, bits("W_BITS"));
    counted(kName, "the last word of a pixel", task.outer * task.outer_step + task.beats / parts + 1,
            bits("W_BITS"));
    if (task.unit >= netlist::integer_or(parameters, "UNITS", 1)) {
      throw Error(ErrorKind::kInvalidInput, fmt::format("tensor_writer: there is no unit {}", task.unit),
                  "UNIT is below UNITS");
    }
  }
}

class Model : public CycleModel {
 public:
  Model(const Parameters& parameters, std::vector<TensorWriterRow> tasks)
      : parts_(netlist::integer(parameters, "PI") / netlist::integer(parameters, "PF")),
        tasks_(std::move(tasks)) {}

  void reset(Pins& pins) override {
    task_ = 0;
    begun_ = asked_ = false;
    pins.set(kWriteValid, 0);
    pins.set(kProgress, 0);
  }

  void settle(Pins& pins) override { pins.set(kInReady, begun_ && (!asked_ || granted(pins)) ? 1 : 0); }

  void tick(Pins& pins) override {
    const bool done = granted(pins), take = pins[kInValid] != 0 && pins[kInReady] != 0;
    if (pins[kClear] != 0) {
      pins.set(kProgress, 0);
    } else if (done && ends_) {
      pins.set(kProgress, (pins[kProgress] + 1) & 0xFFFF);
    }
    if (take || done) {
      asked_ = take;
      pins.set(kWriteValid, 0);
    }
    if (take) {
      advance(pins);
    } else if (!begun_) {
      begun_ = true;
      outer_ = y_ = x_ = beat_ = part_ = word_ = 0;
    }
  }

 private:
  bool granted(const Pins& pins) const {
    return asked_ && (skip_ || (pins[kWriteValid] & pins[kWriteReady]) != 0);
  }

  void advance(Pins& pins) {
    const TensorWriterRow& task = tasks_[task_];
    skip_ = word_ >= task.limit;
    ends_ = false;
    if (!skip_) pins.set(kWriteValid, uint64_t{1} << task.unit);
    if (++part_ == parts_) {
      part_ = 0;
      ++word_;
    }
    if (++beat_ < task.beats) return;
    beat_ = part_ = 0;
    word_ = outer_ * task.outer_step;
    if (++x_ < task.columns) return;
    x_ = 0;
    if (++y_ < task.rows) return;
    y_ = 0;
    word_ += task.outer_step;
    if (++outer_ < task.outer) return;
    ends_ = true;
    begun_ = false;
    task_ = task_ + 1 == tasks_.size() ? 0 : task_ + 1;
  }

  const int64_t parts_;
  const std::vector<TensorWriterRow> tasks_;
  size_t task_ = 0;
  bool begun_ = false;
  int64_t outer_ = 0, y_ = 0, x_ = 0, beat_ = 0, part_ = 0, word_ = 0;
  bool asked_ = false, skip_ = false, ends_ = false;  // the request
};

std::unique_ptr<CycleModel> model(const Parameters& parameters, const MemoryImages& images) {
  std::vector<TensorWriterRow> tasks =
      decode_tensor_writer(task_table(parameters, images, row_bits(kRow), kName));
  check_counters(parameters, tasks);
  return std::make_unique<Model>(parameters, std::move(tasks));
}

ResourceFeatures features(const ComponentSizes& p) {
  ResourceFeatures f;
  const int64_t tasks = p("TASKS", 1);
  const double address = double(p("A")), several = tasks > 1 ? 1 : 0;
  f.lut = {1, address, several * address, area::table_logic(tasks, 2 * address + 40), double(p("UNITS"))};
  f.ff = {1, address, double(p("PF") * p("AW")), several, double(area::bits_of(tasks))};
  return f;
}

}  // namespace
}  // namespace tensor_writer

MemoryImage encode(const std::vector<TensorWriterRow>& rows) { return write_rows(tensor_writer::kRow, rows); }

std::vector<TensorWriterRow> decode_tensor_writer(const MemoryImage& table) {
  return read_rows(tensor_writer::kRow, table);
}

const ComponentType kTensorWriter = {tensor_writer::kName,    {"component_config", "task_table"},
                                     tensor_writer::ports,    tensor_writer::model,
                                     tensor_writer::features, tensor_writer::layouts};

}  // namespace tilewright::pipeline
