// Components in RTL next to their timing models, cycle by cycle, under random stalls. Many cases are placed
// side by side in one top, so one compiled model serves all.
//
// In every cycle, every output that is not payload must equal the model's, `last` while it is valid; a stream
// keeps what it offers until it is taken. The case defines the expected data.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/pipeline/component/component.h"
#include "tilewright/pipeline/verilog/rtl_model.h"

namespace tilewright::pipeline {

// The value of a payload port.
class Beat {
 public:
  Beat() = default;
  explicit Beat(int bits) : bits_(bits), words_(size_t(bits + 31) / 32) {}
  int bits() const { return bits_; }
  const std::vector<uint32_t>& words() const { return words_; }
  std::vector<uint32_t>& words() { return words_; }
  // Bits [low, low + width), width <= 64.
  uint64_t get(int low, int width) const;
  int64_t get_signed(int low, int width) const;
  void set(int low, int width, uint64_t value);
  void randomize(Random& random);
  bool operator==(const Beat&) const = default;

 private:
  int bits_ = 0;
  std::vector<uint32_t> words_;
};

// The ports of one case by name. Setting reaches RTL and model alike; getting reads the RTL.
class BenchPins {
 public:
  uint64_t get(const std::string& port) const;
  Beat get_beat(const std::string& port) const;
  void set(const std::string& port, uint64_t value);
  void set_beat(const std::string& port, const Beat& value);

 private:
  friend class BenchRun;
  struct Pin {
    int rtl = 0;
    uint64_t* cell = nullptr;  // of the model; payload: null
  };
  const Pin& pin(const std::string& port) const;
  RtlModel* rtl_ = nullptr;
  std::map<std::string, Pin> pins_;
};

// One component with its parameters. Streams (NAME_valid, NAME_ready of one bit, NAME_data in the direction
// of valid or not at all) are driven by the bench, all other inputs by drive().
class BenchCase {
 public:
  BenchCase(std::string component_name, netlist::Parameters component_parameters,
            MemoryImages component_images = {})
      : component(std::move(component_name)),
        parameters(std::move(component_parameters)),
        images(std::move(component_images)) {}
  virtual ~BenchCase() = default;

  std::string component;
  netlist::Parameters parameters;
  MemoryImages images;  // names are the case's own: others may use the same ones

  // Whether the bench drives NAME_*; no: drive() does.
  virtual bool is_stream(const std::string&) const { return true; }
  // After reset, before the first cycle of each run.
  virtual void begin() {}
  // The next beat of an input stream; false: nothing to send now. Without it: random bits for ever.
  virtual bool next(const std::string& stream, Beat& data, bool& last, Random& random);
  // Sets the inputs of this cycle; outputs read here are those from registers.
  virtual void drive(BenchPins&, Random&) {}
  // Everything has settled; nothing may be set.
  virtual void observe(const BenchPins&) {}
  // A beat passes in this cycle.
  virtual void transferred(const std::string& /*stream*/, const Beat& /*data*/, bool /*last*/) {}
  // After the last cycle of a run: what was wrong with the data, empty if nothing.
  virtual std::string finish() { return ""; }
};

using BenchCases = std::vector<std::unique_ptr<BenchCase>>;

struct BenchOptions {
  RtlModelOptions rtl;
  uint64_t seed = 1;
  int runs = 3;       // the first at full speed, the others with stalls
  int cycles = 3000;  // of each run
};

struct BenchResult {
  std::vector<std::string> problems;  // at most one per case and run
  uint64_t cycles = 0;                // compared, over all cases
  uint64_t beats = 0;                 // of output streams
};

// Errors: what RtlModel and the components' ports() throw.
BenchResult run_bench(const std::vector<BenchCase*>& cases, const BenchOptions& options);

}  // namespace tilewright::pipeline
