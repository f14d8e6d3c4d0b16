// The sources lie in a folder named after a hash of everything in them: equal designs write equal files, so
// several processes may do so at once, and $readmemh finds its files from any working folder. The library
// tells where the model keeps its ports, so that reading one costs no call.
#include "tilewright/pipeline/verilog/rtl_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "netlist_pins.h"
#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/netlist/verilog.h"
#include "tilewright/pipeline/component/component.h"
#include "tilewright/pipeline/verilog/design_sources.h"
#include "tilewright/synthesis/verilated_model.h"
#include "tilewright/synthesis/verilator.h"

namespace tilewright::pipeline {
namespace {

namespace fs = std::filesystem;

// A port's name in the model's class: Verilator keeps two underscores in a row for itself.
std::string member_name(const std::string& name) {
  std::string result;
  for (size_t i = 0; i < name.size(); ++i) {
    result += name[i];
    if (name[i] == '_' && i + 1 < name.size() && name[i + 1] == '_') {
      result += "__05F";
      ++i;
    }
  }
  return result;
}

std::string ports_header(const std::string& top, const std::vector<std::string>& names,
                         const std::vector<int>& bits) {
  std::string text = fmt::format("// The ports of {0}.\n#include \"V{0}.h\"\n\nusing Top = V{0};\n", top);
  text += "static std::vector<NetlistPort> list_ports(Top& top) {\n  return {\n";
  for (size_t i = 0; i < names.size(); ++i) {
    text += fmt::format("      {{\"{}\", &top.{}, {}}},\n", names[i], member_name(names[i]), bits[i]);
  }
  return text + "  };\n}\n";
}

fs::path source_folder(const netlist::Netlist& design, const MemoryImages& images,
                       const RtlModelOptions& options) {
  std::string identity = netlist::to_verilog(design, component_library());
  identity += fs::absolute(options.rtl_folder).string();
  size_t hash = std::hash<std::string>{}(identity);
  for (const auto& [name, image] : images) {
    const std::vector<uint8_t>& bytes = image.bytes();
    hash = hash * 0x9E3779B97F4A7C15u + std::hash<std::string>{}(name);
    hash = hash * 0x9E3779B97F4A7C15u + std::hash<std::string>{}(std::string(bytes.begin(), bytes.end()));
  }
  return options.cache_folder / fmt::format("netlist-{:016x}", hash);
}

fs::path build_library(const netlist::Netlist& design, const MemoryImages& images,
                       const std::vector<std::string>& ports, const std::vector<int>& bits,
                       const RtlModelOptions& options) {
  if (options.cache_folder.empty() || options.rtl_folder.empty()) {
    throw Error(ErrorKind::kInvalidInput, "no folder is named for the RTL or for compiled models",
                "set rtl_folder and cache_folder");
  }
  const fs::path folder = source_folder(design, images, options);
  synthesis::VerilatedDesign verilated;
  verilated.top = netlist::printed_module(design, design.top, component_library());
  verilated.sources = write_sources(design, images, folder, options.rtl_folder);
  const fs::path header = folder / "netlist_ports.h";
  write_text_file(header, ports_header(verilated.top, ports, bits));
  verilated.harness = options.rtl_folder / "harness" / "netlist_harness.cpp";
  verilated.headers = synthesis::harness_headers(options.rtl_folder);
  verilated.headers.push_back(options.rtl_folder / "harness" / "netlist_pins.h");
  verilated.headers.push_back(header);
  if (!options.wave_file.empty()) verilated.watched = synthesis::Watched::kWaves;
  if (options.activity) verilated.watched = synthesis::Watched::kActivity;
  return synthesis::build_verilated(verilated, options.cache_folder, options.stop);
}

}  // namespace

struct RtlModel::Library : synthesis::VerilatedModel<NetlistInterface, NetlistModel> {
  Library(const fs::path& path, const fs::path& waves) : VerilatedModel(path, "netlist_interface", waves) {
    restart();
  }
};

RtlModel::RtlModel(const netlist::Netlist& design, const MemoryImages& images,
                   const RtlModelOptions& options) {
  const netlist::Module* const top = design.module(design.top);
  TILEWRIGHT_CHECK(top != nullptr, "a design without its top");
  std::vector<int> bits;
  for (const netlist::Port& port : top->ports) {
    names_.push_back(port.name);
    bits.push_back(port.width);
  }
  printed_ = netlist::printed_ports(*top);
  names_.push_back("rst");
  printed_.push_back("rst");
  bits.push_back(1);
  library_ =
      std::make_unique<Library>(build_library(design, images, printed_, bits, options), options.wave_file);
  find_ports();
}

RtlModel::~RtlModel() = default;

void RtlModel::find_ports() {
  int count = 0;
  const NetlistPort* const ports = library_->interface->ports(library_->model, count);
  ports_.clear();
  for (int i = 0; i < count; ++i) ports_.push_back({ports[i].value, ports[i].bits});
}

int RtlModel::port(const std::string& name) const {
  const auto it = std::find(names_.begin(), names_.end(), name);
  if (it == names_.end()) throw Error(ErrorKind::kInternal, fmt::format("the top has no port '{}'", name));
  return int(it - names_.begin());
}

void RtlModel::set(int port, uint64_t value) {
  const Port& p = ports_[size_t(port)];
  if (p.bits <= 8) {
    *static_cast<uint8_t*>(p.value) = uint8_t(value);
  } else if (p.bits <= 16) {
    *static_cast<uint16_t*>(p.value) = uint16_t(value);
  } else {
    uint32_t* const words = static_cast<uint32_t*>(p.value);
    words[0] = uint32_t(value);
    const int count = (p.bits + 31) / 32;
    if (count > 1) words[1] = uint32_t(value >> 32);
    for (int i = 2; i < count; ++i) words[i] = 0;
  }
}

std::vector<uint32_t> RtlModel::get_words(int port) const {
  std::vector<uint32_t> words(size_t(bits(port) + 31) / 32);
  get_words(port, words.data());
  return words;
}

void RtlModel::get_words(int port, uint32_t* words) const {
  const Port& p = ports_[size_t(port)];
  if (p.bits <= 16) {
    words[0] = uint32_t(get(port));
  } else {
    std::memcpy(words, p.value, size_t((p.bits + 31) / 32) * 4);
  }
}

void RtlModel::set_words(int port, const uint32_t* words) {
  const Port& p = ports_[size_t(port)];
  if (p.bits <= 16) {
    set(port, words[0]);
  } else {
    std::memcpy(p.value, words, size_t((p.bits + 31) / 32) * 4);
  }
}

void RtlModel::settle() { library_->interface->settle(library_->model); }

void RtlModel::edge() { library_->interface->edge(library_->model); }

void RtlModel::reset() {
  const int rst = int(names_.size()) - 1;
  set(rst, 1);
  for (int i = 0; i < 4; ++i) {
    settle();
    edge();
  }
  set(rst, 0);
}

void RtlModel::restart() {
  library_->restart();
  find_ports();
}

std::span<const ScopeActivity> RtlModel::activity() {
  int count = 0;
  const ScopeActivity* const scopes = library_->interface->activity(library_->model, count);
  return {scopes, size_t(count)};
}

std::string RtlModel::complaint() const { return library_->interface->complaint(library_->model); }

}  // namespace tilewright::pipeline
