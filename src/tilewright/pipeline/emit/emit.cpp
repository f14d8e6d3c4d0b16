// Everything that changes from design to design is a netlist, a memory image or a table of constants; the
// rest are files of rtl/ as they are.
#include "tilewright/pipeline/emit/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/netlist/verifier.h"
#include "tilewright/netlist/verilog.h"
#include "tilewright/pipeline/component/component.h"
#include "tilewright/pipeline/component/config_package.h"
#include "tilewright/pipeline/emit/board_files.h"
#include "tilewright/pipeline/emit/design_wrappers.h"
#include "tilewright/pipeline/emit/host_program.h"
#include "tilewright/pipeline/image/registers.h"
#include "tilewright/pipeline/network/borders.h"
#include "tilewright/pipeline/simulate/driver.h"
#include "tilewright/pipeline/verilog/design_sources.h"
#include "tilewright/synthesis/vivado.h"

namespace tilewright::pipeline {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTop = "tilewright_pipeline";
constexpr const char* kAxiTop = "tilewright_axi";
constexpr int64_t kSlack = 100'000, kUnknownCycles = 10'000'000;  // of the testbench's patience
constexpr int kScriptBits = 44;                                   // tw_bench_host.sv: offset 12, value 32

// Notes what a driver writes, and keeps its memory.
class RecordingPort final : public DesignPort {
 public:
  explicit RecordingPort(const MemoryImage& identity) : identity_(identity) {}
  uint32_t read32(uint16_t offset) override {
    if (offset == register_offset("ID")) return kPipelineId;
    const int word = (offset - register_offset("IDENTITY")) / 4;
    return word >= 0 && word < DesignIdentity::kWords ? uint32_t(identity_.get(word, 0, 32)) : 0;
  }
  void write32(uint16_t offset, uint32_t value) override {
    if (!done_) writes_.push_back({offset, value});
  }
  bool wait_for_interrupt() override { return done_ = true; }
  std::vector<std::byte>& memory(size_t bytes) override {
    memory_.resize(std::max(memory_.size(), bytes));
    return memory_;
  }

  const std::vector<std::byte>& memory() const { return memory_; }
  // The writes as for the first of the `images` alone.
  MemoryImage script(uint32_t images, bool streaming) const {
    MemoryImage image(kScriptBits);
    for (const auto& [offset, value] : writes_) {
      const bool many =
          streaming ? offset == register_offset("INPUT_BYTES") || offset == register_offset("OUTPUT_BYTES")
                    : offset == register_offset("IMAGES");
      const int64_t word = image.add_word();
      image.set(word, 0, 32, many ? value / images : value);
      image.set(word, 32, kScriptBits - 32, offset);
    }
    return image;
  }
  // The value that a register was written, with the next one as its upper half.
  uint64_t written(const char* low) const {
    uint64_t value = 0;
    for (const auto& [offset, word] : writes_) {
      if (offset == register_offset(low)) value |= word;
      if (offset == register_offset(low) + 4) value |= uint64_t{word} << 32;
    }
    return value;
  }

 private:
  const MemoryImage& identity_;
  std::vector<std::byte> memory_;
  std::vector<std::pair<uint16_t, uint32_t>> writes_;
  bool done_ = false;
};

// Bytes as words of a memory port.
MemoryImage words_of(const std::vector<std::byte>& bytes, int64_t port_bytes) {
  MemoryImage image(int(port_bytes * 8));
  const size_t words = (bytes.size() + size_t(port_bytes) - 1) / size_t(port_bytes);
  image.bytes().resize(words * size_t(port_bytes));
  std::memcpy(image.bytes().data(), bytes.data(), bytes.size());
  return image;
}

// A result as it has to stand in memory, and which bits of that count: the elements `counted`. Words have
// room for more channels than a tensor may have, and a tensor of several outputs for more than these.
void add_expected(const DramLayout& layout, const std::vector<int64_t>& counted,
                  const std::vector<int32_t>& result, size_t first, std::vector<std::byte>& expected,
                  std::vector<std::byte>& mask) {
  const int bits = layout.element_bits;
  const int64_t channels = layout.shape.channels;
  for (const int64_t i : counted) {
    const int64_t element = i / channels * layout.word_elements + i % channels;
    const int64_t value = layout.bipolar ? (result[size_t(i)] > 0 ? 1 : 0) : result[size_t(i)];
    for (int bit = 0; bit < bits; ++bit) {
      const int64_t at = element * bits + bit;
      const std::byte one = std::byte(1u << (at % 8));
      mask[first + size_t(at / 8)] |= one;
      if (((value >> bit) & 1) != 0) expected[first + size_t(at / 8)] |= one;
    }
  }
}

std::vector<std::vector<int32_t>> random_images(const Network& network, const EmitOptions& options) {
  const NetworkTensor& input = network.tensors[size_t(network.input)];
  Random random(options.seed);
  std::vector<std::vector<int32_t>> images;
  for (int64_t i = 0; i < options.testbench_images; ++i) {
    std::vector<int32_t> image(size_t(input.shape.elements()));
    for (int32_t& value : image) {
      if (input.bipolar) {
        value = random.chance(0.5) ? 1 : -1;
      } else {
        const int bits = input.bits > 8 ? network.fraction + 1 : input.bits;
        value = int32_t(random.between(-(int64_t{1} << (bits - 1)), (int64_t{1} << (bits - 1)) - 1));
      }
    }
    images.push_back(std::move(image));
  }
  return images;
}

class Emitter {
 public:
  Emitter(const Design& design, const Network& network, const Device* device, const fs::path& folder,
          const EmitOptions& options)
      : design_(design), network_(network), device_(device), folder_(folder), options_(options) {}

  void run() {
    for (const char* name : {"rtl", "memory", "host"}) create_folder(folder_ / name);
    write_rtl();
    if (options_.testbench_images > 0 && network_.macs() <= options_.testbench_macs) write_testbench();
    write_host_programs();
    if (!design_.weights.empty()) {
      write_file(folder_ / "host" / "weights.bin", std::as_bytes(std::span(design_.weights)));
    }
    if (device_ != nullptr && vivado_part()) write_vivado();
    write_text_file(folder_ / "tilewright.core", fusesoc_core(design_, board_files()));
    write_text_file(folder_ / "registers.rdl", design_registers(design_));
    copy("README.md", "README.md");
  }

 private:
  fs::path delivery() const { return options_.rtl_folder / "delivery"; }
  void copy(const std::string& source, const std::string& target) {
    write_text_file(folder_ / target, read_text_file(delivery() / source));
  }

  std::string wrapper_verilog(const netlist::Netlist& wrapper) const {
    const WrapperLibrary library(design_);
    netlist::require_verified(wrapper, library, "the netlist of '" + wrapper.top + "'");
    return netlist::to_verilog(wrapper, library);
  }

  void write_rtl() {
    for (const auto& [name, image] : design_.images)
      write_text_file(folder_ / "memory" / name, image.to_hex());
    const netlist::Netlist placed = with_folder_parameter(design_.netlist, design_.images);
    std::vector<std::string> texts;
    const auto add = [&](const std::string& file, const std::string& text) {
      write_text_file(folder_ / "rtl" / file, text);
      sources_.push_back(file);
    };
    const std::vector<fs::path> files = component_files(placed);
    for (const fs::path& file : files) texts.push_back(component_file_text(file, options_.rtl_folder));
    for (size_t i = 0; i < files.size(); ++i) {
      add(files[i].filename().string(),
          files[i] == kConfigPackageFile ? config_package_for(texts) : texts[i]);
    }
    const std::string shape = design_.streaming ? "a stage for each" : "on engines that they share";
    add(std::string(kTop) + ".sv",
        fmt::format("// The network {} in hardware: {} layers, {}. Made by Tilewright.\n",
                    netlist::comment_text(design_.name), network_.layers.size(), shape) +
            netlist::to_verilog(placed, component_library()));
    add(std::string(kAxiTop) + ".sv",
        "// The design with the names and signals that tools for block designs expect of AXI ports.\n" +
            wrapper_verilog(axi_wrapper(design_)));
  }

  void write_testbench() {
    const fs::path folder = folder_ / "testbench";
    create_folder(folder);
    const std::vector<std::vector<int32_t>> images = random_images(network_, options_);
    RecordingPort port(design_.images.at("identity.hex"));
    run_design(design_, port, images);
    const size_t output = port.written("OUTPUT_LO"), stride = size_t(design_.output.bytes);
    std::vector<std::byte> expected(stride * images.size()), mask(stride * images.size());
    std::vector<int64_t> counted;
    for (const int tensor : network_.output_tensors()) {
      const std::vector<int64_t> places = border_places(network_, tensor);
      counted.insert(counted.end(), places.begin(), places.end());
    }
    for (size_t i = 0; i < images.size(); ++i) {
      add_expected(design_.output, counted, evaluate(network_, images[i])[size_t(network_.output)],
                   i * stride, expected, mask);
    }
    const MemoryImage memory = words_of(port.memory(), design_.port_bytes);
    const MemoryImage results = words_of(expected, design_.port_bytes);
    const MemoryImage script = port.script(uint32_t(images.size()), design_.streaming);
    const BenchFiles files{"testbench/memory.hex",
                           "testbench/script.hex",
                           "testbench/expected.hex",
                           "testbench/mask.hex",
                           memory.words(),
                           script.words(),
                           int64_t(output) / design_.port_bytes,
                           results.words(),
                           int64_t(images.size()),
                           options_.cycles > 0 ? 4 * options_.cycles + kSlack : kUnknownCycles};
    write_text_file(folder_ / files.memory, memory.to_hex());
    write_text_file(folder_ / files.script, script.to_hex());
    write_text_file(folder_ / files.expected, results.to_hex());
    write_text_file(folder_ / files.mask, words_of(mask, design_.port_bytes).to_hex());
    write_text_file(folder / "bench.sv", wrapper_verilog(bench(design_, files)));
    testbench_ = {"testbench/bench.sv", files.memory, files.script, files.expected, files.mask};
    for (const std::string name : {"tw_bench_host.sv", "tw_bench_memory.sv", "testbench.sv"}) {
      copy(name, testbench_.emplace_back("testbench/" + name));
    }
  }

  void write_host_programs() {
    const ModelValues values = model_values(network_);
    write_text_file(folder_ / "host/host.cpp",
                    host_program(design_, network_, values, read_text_file(delivery() / "host.cpp")));
    write_text_file(folder_ / "host/driver.py", python_driver(design_, network_, values, design_vlnv(design_),
                                                              read_text_file(delivery() / "driver.py")));
    copy("simulated.py", "host/simulated.py");
  }

  BoardFiles board_files() const {
    BoardFiles files{kAxiTop, device_ != nullptr && vivado_part() ? device_->part : "", {}, {}, testbench_};
    for (const std::string& file : sources_) files.sources.push_back("rtl/" + file);
    for (const auto& [name, image] : design_.images) files.memory.push_back("memory/" + name);
    return files;
  }

  bool vivado_part() const {
    return device_->family == synthesis::DeviceFamily::kXc7 ||
           device_->family == synthesis::DeviceFamily::kXcup;
  }

  void write_vivado() {
    synthesis::VivadoJob job{device_->part, kAxiTop, {}, design_.clock_mhz, kFolderParameter};
    const BoardFiles files = board_files();
    job.sources = files.sources;
    synthesis::write_vivado_project(folder_, job);
    for (const std::string script : {"package_ip.tcl", "block_design.tcl"}) {
      write_text_file(folder_ / script, with_constants(read_text_file(delivery() / script), "# @design@\n",
                                                       tcl_constants(design_, files), script));
    }
  }

  const Design& design_;
  const Network& network_;
  const Device* const device_;
  const fs::path& folder_;
  const EmitOptions& options_;
  std::vector<std::string> sources_;    // of rtl/
  std::vector<std::string> testbench_;  // by their paths
};

}  // namespace

void emit(const Design& design, const Network& network, const Device* device, const fs::path& folder,
          const EmitOptions& options) {
  Emitter(design, network, device, folder, options).run();
}

}  // namespace tilewright::pipeline
