// Streams are made from the wires, from the reader of each backwards; the writers of tensor memories take
// from them task by task.
#include "tilewright/pipeline/simulate/design_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tilewright/base/error.h"
#include "tilewright/pipeline/component/component.h"
#include "tilewright/pipeline/component/finish.h"
#include "tilewright/pipeline/component/tensor_reader.h"
#include "tilewright/pipeline/component/tensor_writer.h"
#include "tilewright/pipeline/simulate/value_streams.h"

namespace tilewright::pipeline {
namespace {

using netlist::Instance;
using netlist::integer;
using netlist::integer_or;
using netlist::kNoNet;
using netlist::NetId;
using netlist::text_or;

// Units of tensor memories, word by word.
struct TensorUnits {
  std::vector<std::vector<int64_t>> elements;
  int64_t word = 1;  // elements

  int64_t* at(int64_t unit, int64_t address) {
    std::vector<int64_t>& own = elements.at(size_t(unit));
    TILEWRIGHT_CHECK(address >= 0 && (address + 1) * word <= int64_t(own.size()),
                     "a task that reaches beyond its tensor memory");
    return own.data() + address * word;
  }
};

class TensorReader : public ValueStream {
 public:
  TensorReader(const Instance& instance, const MemoryImages& images, TensorUnits& units)
      : ValueStream(int(integer(instance.parameters, "AW")), integer(instance.parameters, "PI")),
        units_(units),
        address_bits_(int(integer(instance.parameters, "A"))),
        rows_(decode_tensor_reader(images.at(text_or(instance.parameters, "TABLE", "")), bits,
                                   int(integer(instance.parameters, "PROGRESS")))) {}

  const std::vector<int64_t>& waits() const { return rows_[row_].waits; }

  void next(ValueBeat& beat) override {
    const TensorReaderRow& r = rows_[row_];
    const int64_t y = y_ * r.stride_y + ky_, x = x_ * r.stride_x + kx_;
    const int64_t py = y + r.first_y, px = x + r.first_x;
    if (py < 0 || py >= r.in_rows || px < 0 || px >= r.in_columns) {
      beat.elements.assign(size_t(count), low_bits(r.pad_value, bits));
    } else {
      const int64_t address = r.base + outer_ * r.outer_step + y * r.row_step + x * r.column_step + block_;
      const int64_t* const word = units_.at(r.unit, low_bits(address, address_bits_));
      beat.elements.assign(word, word + count);
    }
    beat.last = advance(r);
  }

 private:
  bool advance(const TensorReaderRow& r) {
    if (++block_ < r.blocks) return r.flat;
    block_ = 0;
    if (++kx_ < r.kernel_columns) return r.flat;
    kx_ = 0;
    if (++ky_ < r.kernel_rows) return r.flat;
    ky_ = 0;
    if (++x_ < r.columns) return true;
    x_ = 0;
    if (++y_ < r.rows) return true;
    y_ = 0;
    if (++outer_ < r.outer) return true;
    outer_ = 0;
    row_ = row_ + 1 == rows_.size() ? 0 : row_ + 1;
    return true;
  }

  TensorUnits& units_;
  const int address_bits_;
  const std::vector<TensorReaderRow> rows_;
  size_t row_ = 0;
  int64_t outer_ = 0, y_ = 0, x_ = 0, ky_ = 0, kx_ = 0, block_ = 0;
};

// A tensor_writer and what it takes from.
struct Writer {
  NetId progress = kNoNet;
  ValueStreamPtr in;
  std::vector<TensorWriterRow> rows;
  int64_t parts = 1;
  int address_bits = 1;
  // Its engine's readers; the residual's only where the task adds.
  std::shared_ptr<TensorReader> input, residual;
  std::vector<FinishRow> finishes;
  int64_t done = 0;
};

class Evaluation {
 public:
  Evaluation(const Design& design, const std::vector<int32_t>& image)
      : design_(design), module_(design.netlist.modules[0]), image_(arrange_input(design.input, image)) {
    for (const Instance& instance : module_.instances) {
      for (const ComponentPort& port : component_type(instance.module)->ports(instance.parameters)) {
        const NetId net = connected(instance, port.port.name);
        if (port.port.direction == netlist::Direction::kOutput && net != kNoNet) {
          drivers_[net] = {&instance, port.port.name};
        }
      }
      if (instance.module == "control") control_ = &instance;
      if (instance.module != "tensor_memory") continue;
      units_.word = integer(instance.parameters, "WIDTH") / design.output.element_bits;
      units_.elements.emplace_back(size_t(integer(instance.parameters, "WORDS") * units_.word), 0);
    }
    for (const Instance& instance : module_.instances) {
      if (instance.module == "tensor_writer") add_writer(instance);
      if (instance.module == "dma_write") output_ = &instance;
    }
  }

  std::vector<int32_t> run() {
    run_tasks();
    const ValueStreamPtr in = regrouped(stream(*output_, "in"), 8);
    std::vector<uint8_t> bytes;
    ValueBeat beat;
    while (int64_t(bytes.size()) < design_.output.bytes) {
      in->next(beat);
      for (const int64_t element : beat.elements) bytes.push_back(uint8_t(element));
    }
    return read_output(design_.output, bytes);
  }

 private:
  struct Driver {
    const Instance* instance = nullptr;
    std::string port;
  };

  static NetId connected(const Instance& instance, const std::string& port) {
    const auto found = instance.connections.find(port);
    return found == instance.connections.end() ? kNoNet : found->second;
  }
  const Driver& driver(const Instance& reader, const std::string& name) const {
    const auto found = drivers_.find(connected(reader, name + "_data"));
    TILEWRIGHT_CHECK(found != drivers_.end(), reader.name + " has no stream at " + name);
    return found->second;
  }

  // What arrives at a port NAME of `reader`.
  ValueStreamPtr stream(const Instance& reader, const std::string& name) {
    const Driver& from = driver(reader, name);
    ValueStreamPtr& known = streams_[{from.instance->name, from.port}];
    if (known == nullptr) {
      ValueStreamPtr made = make(*from.instance, from.port);
      streams_[{from.instance->name, from.port}] = made;
      return made;
    }
    return known;
  }
  ValueStreamPtr stream(const Instance& reader, const std::string& name, int bits) {
    return regrouped(stream(reader, name), bits);
  }

  ValueStreamPtr make(const Instance& i, const std::string& port) {
    const netlist::Parameters& p = i.parameters;
    const auto aw = [&] { return int(integer(p, "AW")); };
    if (i.module == "dma_read") return read_port(i);
    if (i.module == "stream_fifo") return stream(i, "in");
    if (i.module == "stream_width")
      return width_stream(stream(i, "in", int(integer(p, "ELEMENT"))), integer(p, "OUT"));
    if (i.module == "stream_frame") return frame_stream(stream(i, "in"), p);
    if (i.module == "stream_join") return join_stream(stream(i, "in0"), stream(i, "in1"));
    if (i.module == "stream_fork") {
      const std::vector<ValueStreamPtr> both = fork_streams(stream(i, "in"));
      streams_[{i.name, "out0_data"}] = both[0];
      streams_[{i.name, "out1_data"}] = both[1];
      return both[port == "out0_data" ? 0 : 1];
    }
    if (i.module == "line_window") return line_window_stream(stream(i, "in", aw()), p);
    if (i.module == "sliding_window") {
      return sliding_window_stream(stream(i, "in", aw()), p, design_.images);
    }
    if (i.module == "mac_array")
      return mac_stream(stream(i, "act", aw()), words(i, "weight"), p, every_beat(i));
    if (i.module == "lane_array")
      return lane_stream(stream(i, "act", aw()), words(i, "weight"), p, every_beat(i));
    if (i.module == "finish") {
      const bool residual = integer_or(p, "RESIDUAL", 0) != 0;
      return finish_stream(stream(i, "acc"), words(i, "param"),
                           residual ? stream(i, "residual", aw()) : nullptr, p, design_.images);
    }
    TILEWRIGHT_CHECK(i.module == "tensor_reader", "no values of a component " + i.module);
    return std::make_shared<TensorReader>(i, design_.images, units_);
  }

  ValueStreamPtr read_port(const Instance& instance) {
    const NetId base = connected(instance, "base");
    const int64_t bytes = integer(instance.parameters, "DATA") / 8;
    if (base == connected(*control_, "input_base")) return bytes_stream(image_, bytes);
    int64_t channel = 0;
    while (base != connected(*control_, fmt::format("weight_base{}", channel))) ++channel;
    const auto first = design_.weights.begin() + channel * design_.weight_bytes_per_channel;
    return bytes_stream({first, first + design_.weight_bytes_per_channel}, bytes);
  }

  WordStreamPtr words(const Instance& reader, const std::string& name) {
    const Instance& from = *driver(reader, name).instance;
    if (from.module == "rom_walker") return rom_stream(from.parameters, design_.images);
    TILEWRIGHT_CHECK(from.module == "weight_ring", "words from a component " + from.module);
    return ring_stream(stream(from, "in"), from.parameters, design_.images);
  }

  // Whether act_last is a constant.
  bool every_beat(const Instance& array) const { return drivers_.count(connected(array, "act_last")) == 0; }

  void add_writer(const Instance& instance) {
    const netlist::Parameters& p = instance.parameters;
    Writer writer;
    writer.progress = connected(instance, "progress");
    writer.in = stream(instance, "in", int(integer(p, "AW")));
    writer.rows = decode_tensor_writer(design_.images.at(text_or(p, "TABLE", "")));
    writer.parts = integer(p, "PI") / integer(p, "PF");
    writer.address_bits = int(integer(p, "A"));
    find_readers(instance, "in", false, writer);
    writers_.push_back(std::move(writer));
  }

  // The readers upstream.
  void find_readers(const Instance& at, const std::string& port, bool residual, Writer& writer) {
    const Instance& from = *driver(at, port).instance;
    if (from.module == "tensor_reader") {
      const auto reader = std::dynamic_pointer_cast<TensorReader>(stream(at, port));
      (residual ? writer.residual : writer.input) = reader;
      for (int s = 0; s < int(integer(from.parameters, "PROGRESS")); ++s) {
        writer_progress_[reader.get()].push_back(connected(from, fmt::format("progress{}", s)));
      }
    } else if (from.module == "finish") {
      writer.finishes = decode_finish(
          design_.images.at(text_or(from.parameters, "TABLE", "")),
          text_or(from.parameters, "NUMBER", "") == "fixed" ? NumberType::kFixed : NumberType::kInteger);
      find_readers(from, "acc", false, writer);
      if (integer_or(from.parameters, "RESIDUAL", 0) != 0) find_readers(from, "residual", true, writer);
    } else if (from.module == "mac_array" || from.module == "lane_array") {
      find_readers(from, "act", false, writer);
    } else if (from.module != "dma_read") {
      find_readers(from, "in", residual, writer);
    }
  }

  bool ready(const std::shared_ptr<TensorReader>& reader) const {
    if (reader == nullptr) return true;
    const std::vector<NetId>& sources = writer_progress_.at(reader.get());
    for (size_t s = 0; s < sources.size(); ++s) {
      const auto source = std::find_if(writers_.begin(), writers_.end(),
                                       [&](const Writer& w) { return w.progress == sources[s]; });
      if ((source == writers_.end() ? 0 : source->done) < reader->waits()[s]) return false;
    }
    return true;
  }

  // The last writer that may go on does, as far as it can.
  void run_tasks() {
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t w = writers_.size(); w-- > 0 && !moved;) {
        Writer& writer = writers_[w];
        while (writer.done < int64_t(writer.rows.size()) && ready(writer.input)) {
          const bool adds = !writer.finishes.empty() && writer.finishes[size_t(writer.done)].add;
          if (adds && !ready(writer.residual)) break;
          write(writer, writer.rows[size_t(writer.done)]);
          ++writer.done;
          moved = true;
        }
      }
    }
    for (const Writer& writer : writers_) {
      TILEWRIGHT_CHECK(writer.done == int64_t(writer.rows.size()), "tasks that wait for each other");
    }
  }

  void write(Writer& writer, const TensorWriterRow& row) {
    const int64_t part = writer.in->count;
    ValueBeat beat;
    for (int64_t outer = 0; outer < row.outer; ++outer) {
      for (int64_t pixel = 0; pixel < row.rows * row.columns; ++pixel) {
        const int64_t y = pixel / row.columns, x = pixel % row.columns;
        for (int64_t d = 0; d < row.beats; ++d) {
          writer.in->next(beat);
          const int64_t word = outer * row.outer_step + d / writer.parts;
          if (word >= row.limit) continue;
          const int64_t address = row.base + y * row.row_step + x * row.column_step + word;
          int64_t* const to = units_.at(row.unit, low_bits(address, writer.address_bits));
          std::copy(beat.elements.begin(), beat.elements.end(), to + d % writer.parts * part);
        }
      }
    }
  }

  const Design& design_;
  const netlist::Module& module_;
  const std::vector<uint8_t> image_;
  const Instance *control_ = nullptr, *output_ = nullptr;
  TensorUnits units_;
  std::map<NetId, Driver> drivers_;
  std::map<std::pair<std::string, std::string>, ValueStreamPtr> streams_;  // by instance and port
  std::vector<Writer> writers_;
  std::map<const TensorReader*, std::vector<NetId>> writer_progress_;
};

}  // namespace

std::vector<int32_t> evaluate_design(const Design& design, const std::vector<int32_t>& image) {
  return Evaluation(design, image).run();
}

}  // namespace tilewright::pipeline
