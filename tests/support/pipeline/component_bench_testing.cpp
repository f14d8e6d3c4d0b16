// The order of a cycle: stimulus on RTL and model, both settle, comparison, observers, both tick.
#include "support/pipeline/component_bench_testing.h"

#include <fmt/format.h>

#include <algorithm>

#include "tilewright/base/error.h"

namespace tilewright::pipeline {

uint64_t Beat::get(int low, int width) const {
  TILEWRIGHT_CHECK(low >= 0 && width >= 1 && width <= 64 && low + width <= bits_, "bits outside of a beat");
  uint64_t value = 0;
  for (int bit = 0; bit < width; ++bit) {
    value |= uint64_t((words_[size_t(low + bit) / 32] >> ((low + bit) % 32)) & 1) << bit;
  }
  return value;
}

int64_t Beat::get_signed(int low, int width) const {
  return int64_t(get(low, width) << (64 - width)) >> (64 - width);
}

void Beat::set(int low, int width, uint64_t value) {
  TILEWRIGHT_CHECK(low >= 0 && width >= 1 && width <= 64 && low + width <= bits_, "bits outside of a beat");
  for (int bit = 0; bit < width; ++bit) {
    uint32_t& word = words_[size_t(low + bit) / 32];
    const uint32_t mask = uint32_t{1} << ((low + bit) % 32);
    word = ((value >> bit) & 1) != 0 ? word | mask : word & ~mask;
  }
}

void Beat::randomize(Random& random) {
  for (uint32_t& word : words_) word = uint32_t(random.next());
  if (bits_ % 32 != 0) words_.back() &= (uint32_t{1} << (bits_ % 32)) - 1;
}

const BenchPins::Pin& BenchPins::pin(const std::string& port) const {
  const auto it = pins_.find(port);
  if (it == pins_.end()) throw Error(ErrorKind::kInternal, fmt::format("the case has no port '{}'", port));
  return it->second;
}

uint64_t BenchPins::get(const std::string& port) const { return rtl_->get(pin(port).rtl); }

Beat BenchPins::get_beat(const std::string& port) const {
  const int rtl = pin(port).rtl;
  Beat beat(rtl_->bits(rtl));
  rtl_->get_words(rtl, beat.words().data());
  return beat;
}

void BenchPins::set(const std::string& port, uint64_t value) {
  const Pin& p = pin(port);
  rtl_->set(p.rtl, value);
  if (p.cell != nullptr) *p.cell = value;
}

void BenchPins::set_beat(const std::string& port, const Beat& value) {
  const Pin& p = pin(port);
  TILEWRIGHT_CHECK(value.bits() == rtl_->bits(p.rtl), "a beat of another width than its port");
  rtl_->set_words(p.rtl, value.words().data());
  if (p.cell != nullptr) *p.cell = value.get(0, std::min(value.bits(), 64));
}

bool BenchCase::next(const std::string&, Beat& data, bool& last, Random& random) {
  if (data.bits() > 0) data.randomize(random);
  last = random.chance(0.25);
  return true;
}

// One case while it runs.
class BenchRun {
 public:
  BenchRun(BenchCase& bench_case, std::string prefix, const BenchOptions& options)
      : case_(bench_case),
        prefix_(std::move(prefix)),
        type_(component_type(bench_case.component)),
        random_(options.seed) {
    if (type_ == nullptr) {
      throw Error(ErrorKind::kInvalidInput, fmt::format("no component '{}'", bench_case.component));
    }
    ports_ = type_->ports(case_.parameters);
    cells_.resize(ports_.size());
    find_streams();
  }

  // An instance whose ports are all ports of the top.
  void add_to(netlist::Module& top, MemoryImages& images) const {
    netlist::Parameters parameters = case_.parameters;
    for (auto& [key, value] : parameters) {
      std::string* const text = std::get_if<std::string>(&value);
      if (text != nullptr && case_.images.contains(*text)) *text = prefix_ + *text;
    }
    for (const auto& [name, image] : case_.images) images[prefix_ + name] = image;
    std::map<std::string, netlist::NetId> connections;
    for (const ComponentPort& port : ports_) {
      connections[port.port.name] =
          top.add_port(prefix_ + port.port.name, port.port.direction, port.port.width);
    }
    top.add_instance(prefix_ + "instance", case_.component, parameters, connections);
  }

  void attach(RtlModel& rtl) {
    bench_pins_.rtl_ = &rtl;
    for (size_t i = 0; i < ports_.size(); ++i) {
      BenchPins::Pin pin{rtl.port(prefix_ + ports_[i].port.name), nullptr};
      if (ports_[i].timing != PortTiming::kData) pin.cell = &cells_[i];
      bench_pins_.pins_[ports_[i].port.name] = pin;
    }
  }

  // Inputs that hold reset's inputs quiet.
  void clear_inputs() {
    for (size_t i = 0; i < ports_.size(); ++i) {
      cells_[i] = 0;
      if (ports_[i].port.direction == netlist::Direction::kInput) {
        bench_pins_.rtl_->set(bench_pins_.pin(ports_[i].port.name).rtl, 0);
      }
    }
  }

  void begin(bool full_speed) {
    model_ = type_->cycle_model(case_.parameters, case_.images);
    std::vector<uint64_t*> cells;
    for (uint64_t& cell : cells_) cells.push_back(&cell);
    model_pins_ = std::make_unique<Pins>(cells);
    model_->reset(*model_pins_);
    problem_.clear();
    full_speed_ = full_speed;
    for (Stream& stream : streams_) stream.offered = stream.held = false;
    change_at_ = 0;
    cycle_ = 0;
    case_.begin();
  }

  void drive() {
    if (cycle_ == change_at_) choose_stalls();
    for (Stream& stream : streams_) {
      const bool go = random_.chance(stream.chance);
      if (stream.input) {
        if (!stream.offered && go) offer(stream);
        bench_pins_.set(stream.name + "_valid", stream.offered ? 1 : 0);
      } else {
        bench_pins_.set(stream.name + "_ready", go ? 1 : 0);
      }
    }
    case_.drive(bench_pins_, random_);
  }

  // Both have settled: compares, then hands out what passes; returns beats of output streams.
  uint64_t look() {
    model_->settle(*model_pins_);
    if (problem_.empty()) compare();
    uint64_t beats = 0;
    for (Stream& stream : streams_) beats += pass(stream);
    case_.observe(bench_pins_);
    return beats;
  }

  void tick() {
    model_->tick(*model_pins_);
    ++cycle_;
  }

  std::string finish() {
    const std::string wrong = case_.finish();
    if (problem_.empty() && !wrong.empty()) problem_ = wrong;
    return problem_.empty() ? "" : fmt::format("{} {}: {}", case_.component, parameter_text(), problem_);
  }

 private:
  struct Stream {
    std::string name;
    bool input = false, has_data = false, has_last = false;
    int bits = 0;
    double chance = 1;
    bool offered = false;  // input: a beat that was not taken yet
    bool held = false;     // output: the same
    Beat data;
    bool last = false;
  };

  const ComponentPort* find(const std::string& name) const {
    for (const ComponentPort& port : ports_) {
      if (port.port.name == name) return &port;
    }
    return nullptr;
  }

  void find_streams() {
    for (const ComponentPort& port : ports_) {
      const std::string& name = port.port.name;
      if (name.size() < 7 || !name.ends_with("_valid") || port.port.width != 1) continue;
      Stream stream;
      stream.name = name.substr(0, name.size() - 6);
      stream.input = port.port.direction == netlist::Direction::kInput;
      const ComponentPort* const ready = find(stream.name + "_ready");
      const ComponentPort* const data = find(stream.name + "_data");
      if (ready == nullptr || ready->port.width != 1 || ready->port.direction == port.port.direction)
        continue;
      if (data != nullptr && data->port.direction != port.port.direction) continue;
      if (!case_.is_stream(stream.name)) continue;
      stream.has_data = data != nullptr;
      stream.bits = data == nullptr ? 0 : data->port.width;
      stream.has_last = find(stream.name + "_last") != nullptr;
      streams_.push_back(stream);
    }
  }

  void choose_stalls() {
    static constexpr double kChances[] = {1, 1, 0.9, 0.5, 0.1};
    for (Stream& stream : streams_) stream.chance = full_speed_ ? 1 : kChances[random_.between(0, 4)];
    change_at_ = cycle_ + uint64_t(random_.between(20, 400));
  }

  void offer(Stream& stream) {
    stream.data = Beat(stream.bits);
    stream.last = false;
    stream.offered = case_.next(stream.name, stream.data, stream.last, random_);
    if (!stream.offered) return;
    if (stream.has_data) bench_pins_.set_beat(stream.name + "_data", stream.data);
    if (stream.has_last) bench_pins_.set(stream.name + "_last", stream.last ? 1 : 0);
  }

  uint64_t pass(Stream& stream) {
    const bool valid = bench_pins_.get(stream.name + "_valid") != 0;
    const bool ready = bench_pins_.get(stream.name + "_ready") != 0;
    if (stream.input) {
      if (!valid || !ready) return 0;
      stream.offered = false;
      case_.transferred(stream.name, stream.data, stream.last);
      return 0;
    }
    Beat data(stream.bits);
    if (stream.has_data && valid) data = bench_pins_.get_beat(stream.name + "_data");
    const bool last = stream.has_last && bench_pins_.get(stream.name + "_last") != 0;
    if (stream.held && problem_.empty() && (!valid || !(data == stream.data) || last != stream.last)) {
      problem_ = fmt::format("cycle {}: '{}' changes a beat that was not taken", cycle_, stream.name);
    }
    stream.held = valid && !ready;
    stream.data = data;
    stream.last = last;
    if (!valid || !ready) return 0;
    case_.transferred(stream.name, data, last);
    return 1;
  }

  void compare() {
    for (size_t i = 0; i < ports_.size(); ++i) {
      const ComponentPort& port = ports_[i];
      if (port.port.direction != netlist::Direction::kOutput || port.timing == PortTiming::kData) continue;
      const std::string& name = port.port.name;
      const uint64_t rtl = bench_pins_.get(name);
      if (rtl == cells_[i]) continue;
      if (name.ends_with("_last") && bench_pins_.get(name.substr(0, name.size() - 5) + "_valid") == 0)
        continue;
      problem_ = fmt::format("cycle {}: '{}' is {} in RTL and {} in the model", cycle_, name, rtl, cells_[i]);
      return;
    }
  }

  std::string parameter_text() const {
    std::string text;
    for (const auto& [key, value] : case_.parameters) {
      const int64_t* const number = std::get_if<int64_t>(&value);
      text += fmt::format("{}{}={}", text.empty() ? "" : " ", key,
                          number != nullptr ? std::to_string(*number) : std::get<std::string>(value));
    }
    return text;
  }

  BenchCase& case_;
  const std::string prefix_;
  const ComponentType* const type_;
  Random random_;
  std::vector<ComponentPort> ports_;
  std::vector<uint64_t> cells_;
  std::vector<Stream> streams_;
  BenchPins bench_pins_;
  std::unique_ptr<CycleModel> model_;
  std::unique_ptr<Pins> model_pins_;
  std::string problem_;
  bool full_speed_ = true;
  uint64_t cycle_ = 0, change_at_ = 0;
};

BenchResult run_bench(const std::vector<BenchCase*>& cases, const BenchOptions& options) {
  netlist::Module top("bench");
  MemoryImages images;
  std::vector<std::unique_ptr<BenchRun>> runs;
  for (size_t i = 0; i < cases.size(); ++i) {
    BenchOptions own = options;
    own.seed += i * 1000003;
    runs.push_back(std::make_unique<BenchRun>(*cases[i], fmt::format("c{}_", i), own));
    runs.back()->add_to(top, images);
  }
  RtlModel rtl({"bench", {top}}, images, options.rtl);
  BenchResult result;
  for (int run = 0; run < options.runs; ++run) {
    if (run > 0) rtl.restart();
    for (auto& one : runs) one->attach(rtl), one->clear_inputs();
    rtl.reset();
    for (auto& one : runs) one->begin(run == 0);
    for (int cycle = 0; cycle < options.cycles; ++cycle) {
      for (auto& one : runs) one->drive();
      rtl.settle();
      for (auto& one : runs) result.beats += one->look();
      rtl.edge();
      for (auto& one : runs) one->tick();
      result.cycles += runs.size();
    }
    for (auto& one : runs) {
      const std::string problem = one->finish();
      if (!problem.empty()) result.problems.push_back(fmt::format("run {}: {}", run, problem));
    }
    const std::string complaint = rtl.complaint();
    if (!complaint.empty()) result.problems.push_back(fmt::format("run {}: {}", run, complaint));
  }
  return result;
}

}  // namespace tilewright::pipeline
