// Drives a Verilated board (rtl/boards/overlay_board.sv, or its netlist after synthesis) by its pins alone:
// the clock and a serial line, whose other end is here. C interface for a program that loads this as a shared
// library.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>

#include "Voverlay_board.h"
#include "verilated_harness.h"

namespace {

// Takes bits off the line in the middle of each, as any serial port does.
class Receiver {
 public:
  explicit Receiver(int cycles_per_bit) : cycles_per_bit_(cycles_per_bit) {}
  void sample(bool line, std::deque<uint8_t>& bytes) {
    if (bit_ < 0) {
      if (line) return;
      bit_ = 0;
      wait_ = cycles_per_bit_ / 2;
      return;
    }
    if (--wait_ > 0) return;
    wait_ = cycles_per_bit_;
    if (bit_ == 0 && line) {  // a glitch is no start bit
      bit_ = -1;
      return;
    }
    if (bit_ >= 1 && bit_ <= 8) byte_ = uint8_t(byte_ >> 1 | (line ? 0x80 : 0));
    if (bit_ == 9) {
      if (line) bytes.push_back(byte_);
      bit_ = -1;
      return;
    }
    ++bit_;
  }

 private:
  const int cycles_per_bit_;
  int bit_ = -1, wait_ = 0;  // 0 start, 1..8 data, 9 stop
  uint8_t byte_ = 0;
};

}  // namespace

struct BoardModel {
  explicit BoardModel(int cycles) : cycles_per_bit(cycles), receiver(cycles) {}

  void cycle(bool line) {
    current_complaint = &complaint;
    top.serial_rx = line;
    top.clk = 0;
    top.eval();
    receiver.sample(top.serial_tx, received);
    top.clk = 1;
    top.eval();
    ++cycles_run;
  }
  void send(uint8_t byte) {
    const unsigned frame = 1u << 9 | unsigned(byte) << 1;
    for (int bit = 0; bit < 10; ++bit) {
      for (int k = 0; k < cycles_per_bit; ++k) cycle(frame >> bit & 1);
    }
  }

  VerilatedContext context;
  Voverlay_board top{&context};
  const int cycles_per_bit;
  Receiver receiver;
  std::deque<uint8_t> received;
  uint64_t cycles_run = 0;
  std::string complaint;
};

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT BoardModel* board_create(int cycles_per_bit) {
  auto* model = new BoardModel(cycles_per_bit);
  for (int k = 0; k < 1000; ++k) model->cycle(true);  // power-on reset
  return model;
}
EXPORT void board_destroy(BoardModel* model) { delete model; }
EXPORT void board_send(BoardModel* model, const uint8_t* bytes, size_t count) {
  for (size_t k = 0; k < count; ++k) model->send(bytes[k]);
}
// Gives the bytes received, at most `count`, after at most `cycles` more cycles.
EXPORT size_t board_receive(BoardModel* model, uint8_t* bytes, size_t count, uint64_t cycles) {
  for (uint64_t k = 0; k < cycles && model->received.size() < count; ++k) model->cycle(true);
  size_t got = 0;
  for (; got < count && !model->received.empty(); ++got) {
    bytes[got] = model->received.front();
    model->received.pop_front();
  }
  return got;
}
EXPORT uint64_t board_cycles(const BoardModel* model) { return model->cycles_run; }
// The first assertion or message that would have ended the simulation; empty if none.
EXPORT const char* board_complaint(const BoardModel* model) { return model->complaint.c_str(); }
