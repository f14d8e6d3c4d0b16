// The rules an overlay description obeys. A description that breaks an encoding rule is told which buffer to
// shrink by how much: the choice of the fewest halvings in all, then of the fewest and deepest buffers.
#include "tilewright/hardware/overlay_hardware.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "tilewright/base/integer_math.h"
#include "tilewright/base/plain_text.h"
#include "tilewright/hardware/encoding_fit.h"

namespace tilewright {
namespace {

class Verifier {
 public:
  Verifier(const OverlayHardware& hardware, Diagnostics& diagnostics)
      : hardware_(hardware), diagnostics_(diagnostics) {}

  void run() {
    geometry();
    memory();
    if (!geometry_ok_) return;
    element_sizes();
    if (!geometry_ok_) return;
    buffers();
    if (!geometry_ok_) return;
    encoding();
    addresses();
  }

 private:
  struct Buffer {
    const char* field;
    int64_t bytes, element_bytes;
    const char* memory;
    int IndexWidths::*width;
  };

  std::array<Buffer, 4> buffer_list() const {
    const OverlayHardware& h = hardware_;
    return {{{"accumulator_buffer_bytes", h.accumulator_buffer_bytes, h.accumulator_bytes(), "ACC",
              &IndexWidths::accumulator},
             {"input_buffer_bytes", h.input_buffer_bytes, h.input_bytes(), "INP", &IndexWidths::input},
             {"weight_buffer_bytes", h.weight_buffer_bytes, h.weight_bytes(), "WGT", &IndexWidths::weight},
             {"uop_buffer_bytes", h.uop_buffer_bytes, h.uop_bytes(), "UOP", &IndexWidths::uop}}};
  }

  void error(const char* field, std::string message, std::string hint) {
    diagnostics_.error(ErrorKind::kInvalidInput, "overlay '" + hardware_.name + "'", field,
                       std::move(message), std::move(hint));
  }

  void power(const char* field, int64_t value, int64_t low, int64_t high) {
    if (is_power_of_two(value) && value >= low && value <= high) return;
    geometry_ok_ = false;
    const int64_t nearest =
        value <= low ? low : std::min<int64_t>(high, int64_t(std::bit_floor(uint64_t(value))));
    error(field, fmt::format("{} is not a power of two in {}..{}", value, low, high),
          fmt::format("{} would fit", nearest));
  }

  void geometry() {
    power("batch", hardware_.batch, 1, 64);
    power("block_in", hardware_.block_in, 1, 256);
    power("block_out", hardware_.block_out, 1, 256);
    power("input_bits", hardware_.input_bits, 1, 8);
    power("weight_bits", hardware_.weight_bits, 1, 8);
    power("accumulator_bits", hardware_.accumulator_bits, 8, 32);
    power("output_bits", hardware_.output_bits, 1, 8);
    one_bit("input_bits", hardware_.input_bits);
    one_bit("weight_bits", hardware_.weight_bits);
  }

  // Whether a bit is 0 and 1 or -1 and +1 stands in a field that the plain GEMM does not have.
  void one_bit(const char* field, int bits) {
    if (bits != 1 || hardware_.isa == IsaVersion::kWide) return;
    error(field, "isa 'vta' has no arithmetic on single bits", "use isa 'wide', or 2 bits");
  }

  void memory() {
    if (hardware_.name.empty()) error("name", "is empty", "give the overlay a name");
    if (!valid_utf8(hardware_.name)) error("name", "is not UTF-8", "write it in UTF-8");
    constexpr int64_t kLeastDram = 1 << 12, kMostDram = int64_t{1} << 40;
    if (hardware_.dram_bytes < kLeastDram || hardware_.dram_bytes > kMostDram) {
      error("dram_bytes", fmt::format("{} is not in {}..{}", hardware_.dram_bytes, kLeastDram, kMostDram),
            fmt::format("{} would fit", std::clamp(hardware_.dram_bytes, kLeastDram, kMostDram)));
    }
    const bool geometry_ok = geometry_ok_;
    power("memory_width_bits", hardware_.memory_width_bits, 8, 1024);
    engines();
    geometry_ok_ = geometry_ok;
    if (!(hardware_.clock_mhz > 0 && hardware_.clock_mhz <= 10000)) {
      error("clock_mhz", fmt::format("{} is not above 0 and at most 10000", hardware_.clock_mhz),
            "100 would fit");
    }
  }

  void engines() {
    const int64_t lanes = int64_t{hardware_.batch} * hardware_.block_out;
    if (hardware_.alu_lanes != 0 && geometry_ok_) power("alu_lanes", hardware_.alu_lanes, 1, lanes);
    if (hardware_.gemm_beside_alu && hardware_.isa != IsaVersion::kWide) {
      error("gemm_beside_alu", "isa 'vta' has no bit that allows it", "use isa 'wide', or false");
    }
    if (hardware_.gemm_beside_alu && geometry_ok_ && hardware_.accumulator_depth() < 4) {
      error("gemm_beside_alu", "ACC has no two halves of at least two elements",
            "enlarge accumulator_buffer_bytes");
    }
    if (hardware_.lookup_table && hardware_.isa != IsaVersion::kWide) {
      error("lookup_table", "isa 'vta' has no instruction that uses it", "use isa 'wide', or false");
    } else if (hardware_.lookup_table && hardware_.output_bits != 8) {
      error("lookup_table", fmt::format("its entries have 8 bits, outputs have {}", hardware_.output_bits),
            "use output_bits 8, or false");
    }
    if (hardware_.row_functions) row_functions();
    power("command_queue_depth", hardware_.command_queue_depth, 1, 1024);
    power("read_queue_beats", hardware_.read_queue_beats, 2, 1024);
    power("memory_partition", hardware_.memory_partition.factor, 1, 32);
    power("max_burst_beats", hardware_.max_burst_beats, 1,
          std::clamp<int64_t>(hardware_.read_queue_beats, 1, 256));
  }

  void row_functions() {
    const OverlayHardware& h = hardware_;
    const auto needs = [&](bool met, const char* what) {
      if (!met) error("row_functions", std::string("they need ") + what, "change that field, or use false");
    };
    needs(h.lookup_table, "lookup_table");
    needs(h.batch == 1, "batch 1");
    needs(h.block_in == h.block_out, "block_in equal to block_out");
    needs(h.input_bits == 8 && h.weight_bits == 8, "input_bits 8 and weight_bits 8");
    needs(h.accumulator_bits == 32, "accumulator_bits 32");
  }

  void whole_bytes(const char* memory, const char* field, int64_t bits) {
    if (bits % 8 == 0) return;
    geometry_ok_ = false;
    error(field,
          fmt::format("one {} element has {} bits, which is not a whole number of bytes", memory, bits),
          fmt::format("make the element {} times larger", 8 / bits));
  }

  void element_sizes() {
    const OverlayHardware& h = hardware_;
    whole_bytes("INP", "input_bits", int64_t{h.batch} * h.block_in * h.input_bits);
    whole_bytes("WGT", "weight_bits", int64_t{h.block_out} * h.block_in * h.weight_bits);
    whole_bytes("OUT", "output_bits", int64_t{h.batch} * h.block_out * h.output_bits);
  }

  void buffers() {
    constexpr int64_t kMostBytes = int64_t{1} << 30;
    for (const Buffer& buffer : buffer_list()) {
      // Two elements at least: an index field has one bit or more, and double buffering needs both.
      power(buffer.field, buffer.bytes, 2 * buffer.element_bytes, kMostBytes);
    }
  }

  void encoding() {
    const IndexWidths given = index_widths(hardware_);
    const std::vector<std::string> narrow = formats_too_narrow(hardware_.isa, given);
    if (narrow.empty()) return;
    const std::vector<IndexWidths> choices = least_reductions(hardware_.isa, given);
    const std::array<Buffer, 4> list = buffer_list();
    const auto reduced = [&](const IndexWidths& choice, const Buffer& buffer) {
      return choice.*buffer.width != given.*buffer.width;
    };
    // The alternatives that shrink one buffer, when one is enough.
    std::string others;
    const int buffers = reduced_buffers(given, choices.front());
    if (buffers > 1) others = ", with the other buffers reported here";
    for (size_t k = 1; k < choices.size() && buffers == 1; ++k) {
      for (const Buffer& buffer : list) {
        if (reduced_buffers(given, choices[k]) != 1 || !reduced(choices[k], buffer)) continue;
        others += fmt::format("{}{} {}", others.empty() ? "; or " : ", or ", buffer.field,
                              buffer.element_bytes << choices[k].*buffer.width);
      }
    }
    for (const Buffer& buffer : list) {
      if (!reduced(choices.front(), buffer)) continue;
      too_large(buffer, given, choices.front().*buffer.width, narrow, others);
    }
  }

  void too_large(const Buffer& buffer, const IndexWidths& given, int width,
                 const std::vector<std::string>& narrow, const std::string& others) {
    std::string formats;
    for (const std::string& format : narrow) formats += (formats.empty() ? "the " : ", the ") + format;
    const std::string wide = hardware_.isa == IsaVersion::kVta ? "; isa 'wide' has room for more" : "";
    error(buffer.field,
          fmt::format("{} bytes are {} {} elements, whose {}-bit index does not fit {}", buffer.bytes,
                      buffer.bytes / buffer.element_bytes, buffer.memory, given.*buffer.width, formats),
          fmt::format("at most {} bytes fit{}{}", buffer.element_bytes << width, others, wide));
  }

  // dram_base has 32 bits and counts elements.
  void addresses() {
    int64_t smallest = hardware_.output_bytes();
    for (const Buffer& buffer : buffer_list()) smallest = std::min(smallest, buffer.element_bytes);
    if (hardware_.lookup_table) smallest = 1;
    const int64_t reach = smallest << 32;
    if (hardware_.dram_bytes <= reach) return;
    error("dram_bytes",
          fmt::format("{} bytes are more than the 32-bit dram_base reaches in elements of {} bytes",
                      hardware_.dram_bytes, smallest),
          fmt::format("at most {} bytes fit", reach));
  }

  const OverlayHardware& hardware_;
  Diagnostics& diagnostics_;
  bool geometry_ok_ = true;
};

}  // namespace

void OverlayHardware::verify(Diagnostics& diagnostics) const { Verifier(*this, diagnostics).run(); }

}  // namespace tilewright
