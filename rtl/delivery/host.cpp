// Runs images on the design of this folder: lays them out in memory, writes registers, waits, reads results.
//
// On a board, where registers and memory are mapped:
//   g++ -O2 -std=c++17 -o run host/host.cpp
//   ./run --registers FILE:OFFSET --memory FILE:OFFSET:ADDRESS:BYTES IMAGES RESULTS
// In simulation, in the folder of the design:
//   verilator --cc --exe --build -O3 -Wno-fatal --top tilewright_pipeline -o run rtl/*.sv host/host.cpp
//   obj_dir/run IMAGES RESULTS
// host/simulated.py makes a library of this file, for Python.
//
// FILE is /dev/mem or a /dev/uioN; ADDRESS is where the design sees the memory that the program maps at
// OFFSET.
//
// IMAGES holds real values (float, little-endian; a file of numpy.save, or the values alone): of each image
// all inputs of the model in its order and shapes. RESULTS gets the model's outputs likewise; of a single
// output that is a vector the program prints the largest element's index, the class. With --integers both are
// the network's own numbers, row by row, column by column, channel by channel, one byte each, or four where
// elements have more than 8 bits; so they are where the model has parts that this program does not compute.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

// A tensor in memory: pixels of words of `word_elements` elements of `bits`; with a window (rows > 0) each
// pixel holds all elements that the window sees.
struct Tensor {
  int64_t rows, columns, channels;
  int64_t source_rows, source_columns, source_channels;
  int64_t word_elements;
  int bits;
  bool bipolar;
  int64_t bytes;
  int64_t window_rows, window_columns, stride_y, stride_x, top, left, pad_value;
};

// A model's tensor: element i of its own order is element first + sum of digit * step of the image or result,
// the digits of i to the radices `size`, the first the most significant.
struct Digit {
  int64_t size, step;
};
struct Values {
  const char* name;
  int64_t elements, first;
  std::vector<Digit> digits;
  float scale;
  int64_t zero_point, low, high;
  // Of an output: a softmax of all its integers (docs/reference/arithmetic.md of Tilewright, QSoftmax;
  // without exponentials none), one of all its real values after that.
  std::vector<int32_t> exponentials;
  int64_t numerator, shift, softmax_zero;
  bool softmax;
};

// @design@

// What the program drives.
class Port {
 public:
  virtual ~Port() = default;
  virtual uint32_t read(uint32_t offset) = 0;
  virtual void write(uint32_t offset, uint32_t value) = 0;
  virtual void wait() = 0;  // for the end of a run
  // Memory that both sides see, and where the design sees it.
  virtual uint8_t* memory(size_t bytes) = 0;
  virtual uint64_t address() const = 0;
};

#if __has_include("Vtilewright_pipeline.h")  // what Verilator makes of the design
#include "Vtilewright_pipeline.h"
#include "verilated.h"

// The Verilog in simulation behind a memory with a latency.
class SimulatedPort : public Port {
 public:
  SimulatedPort() {
#define TILEWRIGHT_READ_PORT(n)                  \
  channels_.push_back({pin(top_.m##n##_arvalid), \
                       pin(top_.m##n##_arready), \
                       pin(top_.m##n##_araddr),  \
                       pin(top_.m##n##_arlen),   \
                       pin(top_.m##n##_rvalid),  \
                       pin(top_.m##n##_rready),  \
                       pin(top_.m##n##_rdata),   \
                       pin(top_.m##n##_rresp),   \
                       pin(top_.m##n##_rlast),   \
                       {},                       \
                       0,                        \
                       0});
    TILEWRIGHT_READ_PORTS(TILEWRIGHT_READ_PORT)
#undef TILEWRIGHT_READ_PORT
    for (Channel& channel : channels_) channel.address_ready.set(1);
    top_.m0_awready = top_.m0_wready = 1;
    top_.m0_bvalid = top_.m0_bresp = 0;
    top_.s_awvalid = top_.s_wvalid = top_.s_arvalid = 0;
    top_.s_bready = top_.s_rready = 1;
    top_.s_wstrb = 15;
    top_.rst = 1;
    for (int i = 0; i < 4; ++i) cycle();
    top_.rst = 0;
  }

  uint32_t read(uint32_t offset) override {
    top_.s_araddr = offset;
    top_.s_arvalid = 1;
    for (;;) {
      top_.eval();
      const bool accepted = top_.s_arready, answered = top_.s_rvalid;
      const uint32_t value = top_.s_rdata;
      cycle();
      if (accepted) top_.s_arvalid = 0;
      if (answered) return value;
    }
  }
  void write(uint32_t offset, uint32_t value) override {
    top_.s_awaddr = offset;
    top_.s_wdata = value;
    top_.s_awvalid = top_.s_wvalid = 1;
    for (;;) {
      top_.eval();
      const bool address = top_.s_awready, data = top_.s_wready, answered = top_.s_bvalid;
      cycle();
      if (address) top_.s_awvalid = 0;
      if (data) top_.s_wvalid = 0;
      if (answered) return;
    }
  }
  void wait() override {
    while (!top_.irq) cycle();
  }
  // Time goes by until the end of a run.
  void pass(uint64_t cycles) {
    for (; cycles > 0 && !top_.irq; --cycles) cycle();
  }
  uint8_t* memory(size_t bytes) override {
    if (memory_.size() < bytes) memory_.resize(bytes);
    return memory_.data();
  }
  uint64_t address() const override { return 0; }

 private:
  static constexpr uint64_t kLatency = 32;

  // A port of the model: integers and words of 32 bits alike are bytes, the lowest first.
  struct Pin {
    void* value;
    size_t size;
    uint64_t get() const {
      uint64_t result = 0;
      std::memcpy(&result, value, size < 8 ? size : 8);
      return result;
    }
    void set(uint64_t bits) const { std::memcpy(value, &bits, size < 8 ? size : 8); }
  };
  template <typename T>
  static Pin pin(T& port) {
    return {&port, sizeof(T)};
  }
  struct Burst {
    uint64_t address, beats, due;
  };
  struct Channel {
    Pin address_valid, address_ready, address, length, valid, ready, data, response, last;
    std::deque<Burst> bursts;
    uint64_t beat, free;
  };

  void cycle() {
    top_.clk = 0;
    top_.eval();
    for (Channel& channel : channels_) sample(channel);
    sample_writes();
    top_.clk = 1;
    top_.eval();
    for (Channel& channel : channels_) drive(channel);
    top_.m0_bvalid = !answers_.empty() && answers_.front() <= now_ + 1;
    ++now_;
  }

  void sample(Channel& c) {
    if (c.address_valid.get()) {
      const uint64_t beats = c.length.get() + 1;
      const uint64_t due = now_ + kLatency > c.free ? now_ + kLatency : c.free;
      c.bursts.push_back({c.address.get(), beats, due});
      c.free = due + beats;
    }
    if (c.valid.get() && c.ready.get() && ++c.beat == c.bursts.front().beats) {
      c.bursts.pop_front();
      c.beat = 0;
    }
  }

  void drive(Channel& c) {
    const bool go = !c.bursts.empty() && c.bursts.front().due + c.beat <= now_ + 1;
    c.valid.set(go);
    if (!go) return;
    const Burst& burst = c.bursts.front();
    const uint64_t at = burst.address + c.beat * kPortBytes;
    if (at + kPortBytes > memory_.size()) throw std::runtime_error("the design reads outside of memory");
    std::memcpy(c.data.value, memory_.data() + at, kPortBytes);
    c.last.set(c.beat + 1 == burst.beats);
  }

  void sample_writes() {
    if (top_.m0_bvalid && top_.m0_bready) answers_.pop_front();
    if (top_.m0_awvalid) writes_.push_back(top_.m0_awaddr);
    if (!top_.m0_wvalid) return;
    const uint64_t at = writes_.front() + write_beat_ * kPortBytes;
    if (at + kPortBytes > memory_.size()) throw std::runtime_error("the design writes outside of memory");
    uint8_t strobes[kPortBytes / 8 + 8] = {}, data[kPortBytes];
    const Pin strobe = pin(top_.m0_wstrb);
    std::memcpy(strobes, strobe.value, strobe.size < sizeof strobes ? strobe.size : sizeof strobes);
    std::memcpy(data, pin(top_.m0_wdata).value, kPortBytes);
    for (size_t i = 0; i < kPortBytes; ++i) {
      if (strobes[i / 8] >> i % 8 & 1) memory_[at + i] = data[i];
    }
    ++write_beat_;
    if (!top_.m0_wlast) return;
    write_beat_ = 0;
    writes_.pop_front();
    answers_.push_back(now_ + kLatency);
  }

  Vtilewright_pipeline top_;
  std::vector<Channel> channels_;
  std::vector<uint8_t> memory_;
  std::deque<uint64_t> writes_, answers_;
  uint64_t now_ = 0, write_beat_ = 0;
};

// For simulated.py. Memory begins at address 0 and keeps its size.
extern "C" {
SimulatedPort* design_open(uint64_t bytes) {
  SimulatedPort* const port = new SimulatedPort;
  port->memory(bytes);
  return port;
}
void design_close(SimulatedPort* port) { delete port; }
uint8_t* design_memory(SimulatedPort* port) { return port->memory(0); }
uint32_t design_read(SimulatedPort* port, uint32_t offset) { return port->read(offset); }
void design_write(SimulatedPort* port, uint32_t offset, uint32_t value) { port->write(offset, value); }
// False: the design went outside of memory.
bool design_pass(SimulatedPort* port, uint64_t cycles) {
  try {
    port->pass(cycles);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}
}
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

// Registers and memory of a board, mapped.
class MappedPort : public Port {
 public:
  MappedPort(const std::string& registers, const std::string& memory) {
    const std::vector<std::string> r = split(registers), m = split(memory);
    if (r.size() != 2 || m.size() != 4)
      throw std::runtime_error("--registers FILE:OFFSET --memory FILE:OFFSET:ADDRESS:BYTES");
    registers_ = static_cast<volatile uint32_t*>(map(r[0], number(r[1]), 4096));
    bytes_ = number(m[3]);
    memory_ = static_cast<uint8_t*>(map(m[0], number(m[1]), bytes_));
    address_ = number(m[2]);
  }

  uint32_t read(uint32_t offset) override { return registers_[offset / 4]; }
  void write(uint32_t offset, uint32_t value) override { registers_[offset / 4] = value; }
  void wait() override {
    __sync_synchronize();
    while ((read(kStatus) & 1) == 0) usleep(10);
    __sync_synchronize();
  }
  uint8_t* memory(size_t bytes) override {
    if (bytes > bytes_)
      throw std::runtime_error("the memory is too small: " + std::to_string(bytes) + " bytes are needed");
    return memory_;
  }
  uint64_t address() const override { return address_; }

 private:
  static std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts(1);
    for (const char c : text) {
      if (c == ':') {
        parts.emplace_back();
      } else {
        parts.back() += c;
      }
    }
    return parts;
  }
  static uint64_t number(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 0); }
  static void* map(const std::string& file, uint64_t offset, size_t bytes) {
    const int descriptor = open(file.c_str(), O_RDWR | O_SYNC);
    void* const at =
        descriptor < 0 ? MAP_FAILED
                       : mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, off_t(offset));
    if (at == MAP_FAILED) throw std::runtime_error("cannot map '" + file + "'");
    return at;
  }

  volatile uint32_t* registers_ = nullptr;
  uint8_t* memory_ = nullptr;
  size_t bytes_ = 0;
  uint64_t address_ = 0;
};
#endif

static std::vector<uint8_t> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read '" + path + "'");
  return {std::istreambuf_iterator<char>(file), {}};
}

static int element_bytes(const Tensor& tensor) { return tensor.bits > 8 ? 4 : 1; }

static int64_t element(const std::vector<uint8_t>& bytes, int64_t index, int size) {
  if (size == 1) return int8_t(bytes[size_t(index)]);
  int32_t value;
  std::memcpy(&value, bytes.data() + index * 4, 4);
  return value;
}

// Image `first` of `elements` into memory.
static void arrange(const Tensor& t, const std::vector<uint8_t>& elements, int64_t first, uint8_t* bytes) {
  std::memset(bytes, 0, size_t(t.bytes));
  const auto put = [&](int64_t index, int64_t value) {
    if (t.bipolar) value = value > 0;
    for (int bit = 0; bit < t.bits; ++bit) {
      const int64_t at = index * t.bits + bit;
      bytes[at / 8] = uint8_t(bytes[at / 8] | (value >> bit & 1) << at % 8);
    }
  };
  const bool window = t.window_rows > 0;
  const int64_t taps_y = window ? t.window_rows : 1, taps_x = window ? t.window_columns : 1;
  for (int64_t y = 0; y < t.rows; ++y) {
    for (int64_t x = 0; x < t.columns; ++x) {
      int64_t to = (y * t.columns + x) * t.word_elements;
      for (int64_t ky = 0; ky < taps_y; ++ky) {
        for (int64_t kx = 0; kx < taps_x; ++kx) {
          const int64_t iy = window ? y * t.stride_y - t.top + ky : y;
          const int64_t ix = window ? x * t.stride_x - t.left + kx : x;
          const bool inside = iy >= 0 && iy < t.source_rows && ix >= 0 && ix < t.source_columns;
          for (int64_t c = 0; c < t.source_channels; ++c) {
            const int64_t from = first + (iy * t.source_columns + ix) * t.source_channels + c;
            put(to++, inside ? element(elements, from, element_bytes(t)) : t.pad_value);
          }
        }
      }
    }
  }
}

static void append_result(const Tensor& t, const uint8_t* bytes, std::vector<uint8_t>& result) {
  for (int64_t pixel = 0; pixel < t.rows * t.columns; ++pixel) {
    for (int64_t c = 0; c < t.channels; ++c) {
      const int64_t low = (pixel * t.word_elements + c) * t.bits;
      uint64_t value = 0;
      for (int bit = 0; bit < t.bits; ++bit)
        value |= uint64_t(bytes[(low + bit) / 8] >> (low + bit) % 8 & 1) << bit;
      int64_t number = int64_t(value << (64 - t.bits)) >> (64 - t.bits);
      if (t.bipolar) number = value != 0 ? 1 : -1;
      for (int i = 0; i < element_bytes(t); ++i) result.push_back(uint8_t(number >> 8 * i));
    }
  }
}

// Places in the image or result, in the order of the model's tensor.
static std::vector<int64_t> places_of(const Values& values) {
  std::vector<int64_t> places = {values.first};
  for (const Digit& digit : values.digits) {
    std::vector<int64_t> next;
    for (const int64_t place : places) {
      for (int64_t i = 0; i < digit.size; ++i) next.push_back(place + i * digit.step);
    }
    places = next;
  }
  return places;
}

static int64_t number_of(float value, const Values& v) {
  if (kFraction >= 0) {
    const double scaled = std::ldexp(double(value), kFraction);
    if (!(scaled > -0x1p31)) return scaled != scaled ? 0 : INT32_MIN;
    return int64_t(std::min(std::floor(scaled + 0.5), 0x1p31 - 1));
  }
  const float low = float(v.low - v.zero_point), high = float(v.high - v.zero_point);
  const float scaled = value / v.scale;
  return int64_t(std::nearbyint(scaled > low ? std::min(scaled, high) : low)) + v.zero_point;
}

static void integer_softmax(std::vector<int64_t>& numbers, const Values& v) {
  const int64_t largest = *std::max_element(numbers.begin(), numbers.end());
  int64_t sum = 0;
  for (int64_t& number : numbers) sum += number = v.exponentials[size_t(largest - number)];
  const int64_t reciprocal = v.numerator / sum, half = v.shift > 0 ? int64_t{1} << (v.shift - 1) : 0;
  for (int64_t& number : numbers) {
    const int64_t share = ((number * reciprocal + half) >> v.shift) + v.softmax_zero;
    number = std::max(v.low, std::min(v.high, share));
  }
}

static float value_of(int64_t number, const Values& v) {
  if (kFraction >= 0) return std::ldexp(float(number), -kFraction);
  return float(number - v.zero_point) * v.scale;
}

// Images of real values as the network's numbers.
static std::vector<uint8_t> numbers_of(const std::vector<float>& reals) {
  size_t each = 0;
  for (const Values& v : kInputs) each += size_t(v.elements);
  if (reals.empty() || reals.size() % each != 0) {
    throw std::runtime_error("an image has " + std::to_string(each) + " values");
  }
  const size_t size = size_t(element_bytes(kInput));
  const size_t image_bytes =
      size_t(kInput.source_rows * kInput.source_columns * kInput.source_channels) * size;
  std::vector<uint8_t> images(reals.size() / each * image_bytes);
  const float* next = reals.data();
  for (size_t image = 0; image < reals.size() / each; ++image) {
    for (const Values& v : kInputs) {
      for (const int64_t place : places_of(v)) {
        const int64_t number = number_of(*next++, v);
        for (size_t i = 0; i < size; ++i) {
          images[image * image_bytes + size_t(place) * size + i] = uint8_t(number >> 8 * i);
        }
      }
    }
  }
  return images;
}

static std::vector<float> reals_of(const std::vector<uint8_t>& results) {
  const int size = element_bytes(kOutput);
  const int64_t each = kOutput.rows * kOutput.columns * kOutput.channels;
  std::vector<float> reals;
  for (int64_t first = 0; first < int64_t(results.size()) / size; first += each) {
    for (const Values& v : kOutputs) {
      const size_t begin = reals.size();
      std::vector<int64_t> numbers;
      for (const int64_t place : places_of(v)) numbers.push_back(element(results, first + place, size));
      if (!v.exponentials.empty()) integer_softmax(numbers, v);
      for (const int64_t number : numbers) reals.push_back(value_of(number, v));
      if (!v.softmax) continue;
      const float largest = *std::max_element(reals.begin() + int64_t(begin), reals.end());
      double sum = 0;
      for (size_t i = begin; i < reals.size(); ++i) sum += std::exp(double(reals[i] - largest));
      for (size_t i = begin; i < reals.size(); ++i)
        reals[i] = float(std::exp(double(reals[i] - largest)) / sum);
    }
  }
  return reals;
}

static void print_classes(const std::vector<float>& reals) {
  if (kOutputs.size() != 1 || kOutput.rows * kOutput.columns != 1) return;
  const int64_t each = kOutputs[0].elements;
  for (int64_t first = 0; first < int64_t(reals.size()); first += each) {
    const auto begin = reals.begin() + first;
    std::printf("image %lld: class %lld\n", static_cast<long long>(first / each),
                static_cast<long long>(std::max_element(begin, begin + each) - begin));
  }
}

// The values of a file: those alone, or a .npy file of them.
static std::vector<float> read_reals(const std::string& path) {
  const std::vector<uint8_t> bytes = read_file(path);
  size_t begin = 0;
  if (bytes.size() > 12 && std::memcmp(bytes.data(), "\x93NUMPY", 6) == 0) {
    const bool short_size = bytes[6] == 1;
    begin = (short_size ? 10 : 12) + bytes[8] + bytes[9] * 256u + (short_size ? 0 : bytes[10] * 65536u);
    const std::string header(bytes.begin(), bytes.begin() + int64_t(std::min(begin, bytes.size())));
    if (header.find("'<f4'") == std::string::npos ||
        header.find("'fortran_order': False") == std::string::npos)
      throw std::runtime_error("'" + path + "' is no array of float32 in C order");
  }
  if (begin > bytes.size() || (bytes.size() - begin) % 4 != 0)
    throw std::runtime_error("'" + path + "' is cut short");
  std::vector<float> reals((bytes.size() - begin) / 4);
  std::memcpy(reals.data(), bytes.data() + begin, reals.size() * 4);
  return reals;
}

static void write_file(const std::string& path, const void* data, size_t bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(data), std::streamsize(bytes));
  if (!file) throw std::runtime_error("cannot write '" + path + "'");
}

static size_t pages(size_t bytes) { return (bytes + 4095) / 4096 * 4096; }

static void write_wide(Port& port, uint32_t offset, uint64_t value) {
  port.write(offset, uint32_t(value));
  port.write(offset + 4, uint32_t(value >> 32));
}

static std::vector<uint8_t> run(Port& port, const std::vector<uint8_t>& images) {
  const int64_t elements = kInput.source_rows * kInput.source_columns * kInput.source_channels;
  const size_t image_bytes = size_t(elements) * size_t(element_bytes(kInput));
  const size_t count = images.size() / image_bytes;
  if (count == 0 || images.size() % image_bytes != 0) {
    throw std::runtime_error("an image has " + std::to_string(image_bytes) + " bytes");
  }
  for (int i = 0; i < 16; ++i) {
    if (port.read(kIdentityAt + 4 * uint32_t(i)) == kIdentity[i]) continue;
    throw std::runtime_error("another design answers; load this one first");
  }
  const size_t in = size_t(kInput.bytes), out = size_t(kOutput.bytes);
  const size_t output = pages(count * in), weights = output + pages(count * out), share = pages(kWeightBytes);
  uint8_t* const memory = port.memory(weights + kChannels * share);
  for (size_t i = 0; i < count; ++i) arrange(kInput, images, int64_t(i) * elements, memory + i * in);
  if (kWeightBytes > 0) {
    const std::vector<uint8_t> bytes = read_file("host/weights.bin");
    if (bytes.size() != kChannels * kWeightBytes)
      throw std::runtime_error("host/weights.bin has another size");
    for (size_t c = 0; c < kChannels; ++c) {
      std::memcpy(memory + weights + c * share, bytes.data() + c * kWeightBytes, kWeightBytes);
    }
  }
  // A streaming design takes all images as one.
  const size_t each = kStreaming ? count : 1;
  write_wide(port, kInputLo, port.address());
  write_wide(port, kOutputLo, port.address() + output);
  for (size_t c = 0; c < kChannels; ++c) {
    write_wide(port, kWeights0Lo + 8 * uint32_t(c), port.address() + weights + c * share);
  }
  port.write(kImages, uint32_t(count / each));
  port.write(kInputBytes, uint32_t(in * each));
  port.write(kInputStride, uint32_t(in));
  port.write(kOutputBytes, uint32_t(out * each));
  port.write(kOutputStride, uint32_t(out));
  port.write(kWeightBytesAt, uint32_t(kWeightBytes));
  port.write(kControl, 1);
  port.wait();
  if (port.read(kStatus) & 2) throw std::runtime_error("a memory port answered with an error");
  const uint64_t cycles = port.read(kCyclesLo) | uint64_t(port.read(kCyclesLo + 4)) << 32;
  std::printf("%zu images, %llu cycles\n", count, static_cast<unsigned long long>(cycles));
  std::vector<uint8_t> results;
  for (size_t i = 0; i < count; ++i) append_result(kOutput, memory + output + i * out, results);
  return results;
}

int main(int count, char** arguments) {
  try {
    std::string registers, memory;
    std::vector<std::string> files;
    bool integers = false;
    for (int i = 1; i < count; ++i) {
      const std::string argument = arguments[i];
      if ((argument == "--registers" || argument == "--memory") && i + 1 < count) {
        (argument == "--registers" ? registers : memory) = arguments[++i];
      } else if (argument == "--integers") {
        integers = true;
      } else {
        files.push_back(argument);
      }
    }
    if (files.size() != 2) throw std::runtime_error("name a file of images and one for the results");
#if __has_include("Vtilewright_pipeline.h")  // what Verilator makes of the design
    SimulatedPort port;
#else
    MappedPort port(registers, memory);
#endif
    if (!integers && kMissing[0] != 0) {
      throw std::runtime_error(std::string("the model takes more than this program computes: ") + kMissing +
                               "; give the network's numbers, with --integers");
    }
    const std::vector<uint8_t> results =
        run(port, integers ? read_file(files[0]) : numbers_of(read_reals(files[0])));
    if (integers) {
      write_file(files[1], results.data(), results.size());
    } else {
      const std::vector<float> reals = reals_of(results);
      write_file(files[1], reals.data(), 4 * reals.size());
      print_classes(reals);
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
