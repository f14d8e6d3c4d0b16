// The loops as in the SystemVerilog, without addresses: which words are padding decides whether a grant is
// needed, and the innermost counts where `last` is.
#include "tilewright/pipeline/component/tensor_reader.h"

#include <fmt/format.h>

#include "tilewright/base/error.h"
#include "tilewright/pipeline/component/area_features.h"
#include "tilewright/pipeline/component/list.h"
#include "tilewright/pipeline/component/task_rows.h"
#include "tilewright/pipeline/image/row_layout.h"
#include "tilewright/synthesis/memory_cells.h"

namespace tilewright::pipeline {
namespace tensor_reader {
namespace {

using netlist::Direction;
using netlist::Parameters;

constexpr const char* kName = "tensor_reader";
constexpr int kProgressPorts = 8;
enum Port {
  kStart,
  kProgress,
  kReadValid = kProgress + kProgressPorts,
  kReadReady,
  kReadAddress,
  kReadData,
  kOutValid,
  kOutReady,
  kOutData,
  kOutLast,
  kBusy
};

constexpr RowField<TensorReaderRow> kFields[] = {
    {"UNIT", unsigned_bits(4), &TensorReaderRow::unit},
    {"BASE", signed_bits(32), &TensorReaderRow::base},
    {"OBS", unsigned_bits(16), &TensorReaderRow::outer_step},
    {"RS", unsigned_bits(32), &TensorReaderRow::row_step},
    {"CS", unsigned_bits(16), &TensorReaderRow::column_step},
    {"YS", unsigned_bits(32),
     [](const TensorReaderRow& row, const Parameters&) { return row.stride_y * row.row_step; }},
    {"XS", unsigned_bits(32),
     [](const TensorReaderRow& row, const Parameters&) { return row.stride_x * row.column_step; }},
    {"OB", unsigned_bits(16), &TensorReaderRow::outer},
    {"HO", unsigned_bits(16), &TensorReaderRow::rows},
    {"WO", unsigned_bits(16), &TensorReaderRow::columns},
    {"KH", unsigned_bits(8), &TensorReaderRow::kernel_rows},
    {"KW", unsigned_bits(8), &TensorReaderRow::kernel_columns},
    {"CB", unsigned_bits(16), &TensorReaderRow::blocks},
    {"SH", unsigned_bits(4), &TensorReaderRow::stride_y},
    {"SW", unsigned_bits(4), &TensorReaderRow::stride_x},
    {"Y0", signed_bits(16), &TensorReaderRow::first_y},
    {"X0", signed_bits(16), &TensorReaderRow::first_x},
    {"H", unsigned_bits(16), &TensorReaderRow::in_rows},
    {"W", unsigned_bits(16), &TensorReaderRow::in_columns},
    {"PAD", parameter_bits("AW", true), &TensorReaderRow::pad_value},
    {"FLAT", unsigned_bits(1), &TensorReaderRow::flat},
    {"WAIT", repeated_bits(16, "PROGRESS"), &TensorReaderRow::waits},
};
constexpr RowFields<TensorReaderRow> kRow(kFields);
std::vector<RowLayout> layouts() { return {row_layout(kName, kRow)}; }
Parameters sizes(int aw, int progress_sources) {
  return {{"AW", int64_t{aw}}, {"PROGRESS", int64_t{progress_sources}}};
}

std::vector<ComponentPort> ports(const Parameters& parameters) {
  const int64_t width =
      parameter_in(parameters, kName, "PI", 1, 1 << 16) * parameter_in(parameters, kName, "AW", 1, 64);
  const int units = int(parameter_in(parameters, kName, "UNITS", 1, 16, 1));
  const int address = int(parameter_in(parameters, kName, "A", 1, 32));
  parameter_in(parameters, kName, "PROGRESS", 0, kProgressPorts);
  parameter_in(parameters, kName, "TASKS", 1, 1 << 16, 1);
  parameter_in(parameters, kName, "QUEUE", 1, 1 << 16, 8);
  parameter_in(parameters, kName, "OB_BITS", 1, 16, 16);
  parameter_in(parameters, kName, "SIZE_BITS", 1, 16, 16);
  parameter_in(parameters, kName, "K_BITS", 1, 8, 8);
  parameter_in(parameters, kName, "CB_BITS", 1, 16, 16);
  const auto in = Direction::kInput, out = Direction::kOutput;
  std::vector<ComponentPort> list = {{{"start", in, 1}, PortTiming::kControl}};
  for (int i = 0; i < kProgressPorts; ++i) {
    list.push_back({{fmt::format("progress{}", i), in, 16}, PortTiming::kControl});
  }
  list.push_back({{"rd_valid", out, units}, PortTiming::kControl});
  list.push_back({{"rd_ready", in, units}, PortTiming::kControl});
  list.push_back({{"rd_address", out, address}, PortTiming::kData});
  list.push_back({{"rd_data", in, int(units * width)}, PortTiming::kData});
  add_stream(list, "out", out, int(width), true);
  list.push_back({{"busy", out, 1}, PortTiming::kControl});
  return list;
}

void check_counters(const Parameters& parameters, const std::vector<TensorReaderRow>& tasks) {
  const auto bits = [&](const char* name, int64_t fallback) {
    return netlist::integer_or(parameters, name, fallback);
  };
  for (const TensorReaderRow& task : tasks) {
    counted(kName, "OB", task.outer, bits("OB_BITS", 16));
    for (const int64_t size : {task.rows, task.columns, task.in_rows, task.in_columns}) {
      counted(kName, "a height or width", size, bits("SIZE_BITS", 16));
    }
    counted(kName, "KH", task.kernel_rows, bits("K_BITS", 8));
    counted(kName, "KW", task.kernel_columns, bits("K_BITS", 8));
    counted(kName, "CB", task.blocks, bits("CB_BITS", 16));
    if (task.unit >= bits("UNITS", 1)) {
      throw Error(ErrorKind::kInvalidInput, fmt::format("tensor_reader: there is no unit {}", task.unit),
                  "UNIT is below UNITS");
    }
  }
}

class Model : public CycleModel {
 public:
  Model(const Parameters& parameters, std::vector<TensorReaderRow> tasks)
      : progress_(int(netlist::integer(parameters, "PROGRESS"))),
        depth_(netlist::integer_or(parameters, "QUEUE", 8)),
        tasks_(std::move(tasks)),
        queue_(size_t(depth_)) {}

  void reset(Pins& pins) override {
    task_ = 0;
    running_ = begun_ = asked_ = false;
    flying_[0] = flying_[1] = {};
    ahead_ = filled_ = 0;
    put_ = get_ = 0;
    for (const int port : {kReadValid, kOutValid, kOutLast, kBusy}) pins.set(port, 0);
  }

  void tick(Pins& pins) override {
    const bool granted = asked_ && (pad_ || (pins[kReadValid] & pins[kReadReady]) != 0);
    const bool step = begun_ && (!asked_ || granted) && ahead_ != depth_;
    const bool taken = pins[kOutValid] != 0 && pins[kOutReady] != 0;
    const bool load = running_ && !begun_ && may_begin(pins);
    const Flying arrived = flying_[1];
    flying_[1] = flying_[0];
    flying_[0] = {granted, ends_};
    bool task_done = false;
    if (step || granted) {
      asked_ = step;
      pins.set(kReadValid, 0);
    }
    if (step) task_done = advance(pins);
    if (load) begin();
    if (pins[kStart] != 0) {
      running_ = true;
    } else if (task_done && task_ == 0) {
      running_ = false;
    }
    ahead_ += int(step) - int(taken);
    move_queue(pins, arrived, taken);
    pins.set(kBusy, running_ || ahead_ != 0 ? 1 : 0);
  }

 private:
  struct Flying {
    bool valid = false, ends = false;
  };

  bool may_begin(const Pins& pins) const {
    const TensorReaderRow& task = tasks_[task_];
    for (int i = 0; i < progress_; ++i) {
      if (int64_t(pins[kProgress + i]) < task.waits[size_t(i)]) return false;
    }
    return true;
  }

  void begin() {
    const TensorReaderRow& task = tasks_[task_];
    begun_ = true;
    outer_ = y_ = x_ = ky_ = kx_ = block_ = 0;
    window_y_ = task.first_y;
    window_x_ = task.first_x;
  }

  // One word: the request, then the counters. True: it was the task's last.
  bool advance(Pins& pins) {
    const TensorReaderRow& task = tasks_[task_];
    const int64_t py = window_y_ + ky_, px = window_x_ + kx_;
    pad_ = py < 0 || py >= task.in_rows || px < 0 || px >= task.in_columns;
    if (!pad_) pins.set(kReadValid, uint64_t{1} << task.unit);
    ends_ = task.flat;
    if (++block_ < task.blocks) return false;
    block_ = 0;
    if (++kx_ < task.kernel_columns) return false;
    kx_ = 0;
    if (++ky_ < task.kernel_rows) return false;
    ky_ = 0;
    ends_ = true;
    window_x_ += task.stride_x;
    if (++x_ < task.columns) return false;
    x_ = 0;
    window_x_ = task.first_x;
    window_y_ += task.stride_y;
    if (++y_ < task.rows) return false;
    y_ = 0;
    window_y_ = task.first_y;
    if (++outer_ < task.outer) return false;
    begun_ = false;
    task_ = task_ + 1 == tasks_.size() ? 0 : task_ + 1;
    return true;
  }

  void move_queue(Pins& pins, Flying arrived, bool taken) {
    if (arrived.valid) {
      queue_[put_] = arrived.ends;
      put_ = put_ + 1 == queue_.size() ? 0 : put_ + 1;
    }
    if (taken) get_ = get_ + 1 == queue_.size() ? 0 : get_ + 1;
    filled_ += int(arrived.valid) - int(taken);
    pins.set(kOutValid, filled_ != 0 ? 1 : 0);
    pins.set(kOutLast, filled_ != 0 && queue_[get_] != 0 ? 1 : 0);
  }

  const int progress_;
  const int64_t depth_;
  const std::vector<TensorReaderRow> tasks_;
  size_t task_ = 0;
  bool running_ = false, begun_ = false;
  int64_t outer_ = 0, y_ = 0, x_ = 0, ky_ = 0, kx_ = 0, block_ = 0;
  int64_t window_y_ = 0, window_x_ = 0;
  bool asked_ = false, pad_ = false, ends_ = false;  // the request
  Flying flying_[2];                                 // granted one and two cycles ago
  int64_t ahead_ = 0, filled_ = 0;
  std::vector<uint8_t> queue_;  // `last` of the words in the queue
  size_t put_ = 0, get_ = 0;
};

std::unique_ptr<CycleModel> model(const Parameters& parameters, const MemoryImages& images) {
  const int aw = int(netlist::integer(parameters, "AW"));
  const int sources = int(netlist::integer(parameters, "PROGRESS"));
  const MemoryImage& table = task_table(parameters, images, row_bits(kRow, parameters), kName);
  std::vector<TensorReaderRow> tasks = decode_tensor_reader(table, aw, sources);
  check_counters(parameters, tasks);
  return std::make_unique<Model>(parameters, std::move(tasks));
}

ResourceFeatures features(const ComponentSizes& p) {
  ResourceFeatures f;
  const int64_t word = p("PI") * p("AW"), units = p("UNITS"), tasks = p("TASKS", 1);
  const double address = double(p("A")), progress = double(p("PROGRESS")), several = tasks > 1 ? 1 : 0;
  const area::MemoryLogic queue = area::add_memory(f, "lutram", p("QUEUE"), word + 1, p.family, true);
  f.lut = {1,
           address,
           queue.lut,
           double(word),
           units > 1 ? double(units * word) : 0,
           progress,
           several * address,
           area::table_logic(tasks, 2 * address + 60)};
  f.ff = {1, address, several, double(p("AW")), double(area::bits_of(tasks)), double(units)};
  return f;
}

}  // namespace
}  // namespace tensor_reader

MemoryImage encode(const std::vector<TensorReaderRow>& rows, int aw, int progress_sources) {
  return write_rows(tensor_reader::kRow, rows, tensor_reader::sizes(aw, progress_sources));
}

std::vector<TensorReaderRow> decode_tensor_reader(const MemoryImage& table, int aw, int progress_sources) {
  return read_rows(tensor_reader::kRow, table, tensor_reader::sizes(aw, progress_sources));
}

const ComponentType kTensorReader = {tensor_reader::kName,    {"component_config", "task_table"},
                                     tensor_reader::ports,    tensor_reader::model,
                                     tensor_reader::features, tensor_reader::layouts};

}  // namespace tilewright::pipeline
