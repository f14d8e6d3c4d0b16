// The library keeps the loop over cycles; here are only its loading and the translation of its answers.
#include "tilewright/overlay/rtl/rtl_model.h"

#include <fmt/format.h>

#include <algorithm>

#include "overlay_pins.h"
#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/overlay/rtl/rtl_config.h"
#include "tilewright/synthesis/verilated_model.h"
#include "tilewright/synthesis/verilator.h"

namespace tilewright::overlay {
namespace {

namespace fs = std::filesystem;

// The sources are written to a folder of their own first: equal hardware writes equal files, so several
// processes may do so at once.
fs::path build_library(const OverlayHardware& hardware, const RtlOptions& options) {
  if (options.cache_folder.empty() || options.rtl_folder.empty()) {
    throw Error(ErrorKind::kInvalidInput, "no folder is named for the RTL or for compiled models",
                "set rtl_folder and cache_folder");
  }
  const std::string identity = rtl_config(hardware) + fs::absolute(options.rtl_folder).string();
  const fs::path folder =
      options.cache_folder / fmt::format("sources-{:016x}", std::hash<std::string>{}(identity));
  synthesis::VerilatedDesign design;
  design.top = "tilewright_overlay";
  design.sources = write_rtl(hardware, folder, options.rtl_folder);
  design.harness = options.rtl_folder / "harness" / "overlay_harness.cpp";
  for (const char* header : {"axi_pins.h", "overlay_pins.h"}) {
    design.headers.push_back(options.rtl_folder / "harness" / header);
  }
  for (const fs::path& header : synthesis::harness_headers(options.rtl_folder)) {
    design.headers.push_back(header);
  }
  if (!options.wave_file.empty()) design.watched = synthesis::Watched::kWaves;
  if (options.activity) design.watched = synthesis::Watched::kActivity;
  return synthesis::build_verilated(design, options.cache_folder, options.stop);
}

void tick_memory(void* memory, AxiPins& pins) { static_cast<AxiMemory*>(memory)->tick(pins); }

}  // namespace

struct OverlayRtlModel::Library : synthesis::VerilatedModel<OverlayInterface, OverlayModel> {
  Library(const fs::path& path, const fs::path& waves, AxiMemory& axi_memory)
      : VerilatedModel(path, "overlay_interface", waves), memory(axi_memory) {
    start();
  }
  void start() { restart(tick_memory, static_cast<void*>(&memory)); }

  AxiMemory& memory;
};

OverlayRtlModel::OverlayRtlModel(const OverlayHardware& hardware, const MemoryModel& memory,
                                 const RtlOptions& options)
    : memory_(memory, hardware.memory_width_bits / 8, hardware.max_burst_beats),
      library_(std::make_unique<Library>(build_library(hardware, options), options.wave_file, memory_)) {}

OverlayRtlModel::~OverlayRtlModel() = default;

void OverlayRtlModel::raise_complaint() {
  const std::string assertion = library_->interface->complaint(library_->model);
  if (!assertion.empty()) throw Error(ErrorKind::kInternal, "the RTL stopped at " + assertion);
  if (!memory_.violation().empty()) {
    throw Error(ErrorKind::kInternal, "the RTL broke a rule of AXI in " + memory_.violation());
  }
}

uint32_t OverlayRtlModel::read32(uint16_t offset) {
  uint32_t value = 0;
  const bool good = library_->interface->read(library_->model, offset, value);
  raise_complaint();
  if (!good) throw Error(ErrorKind::kInternal, fmt::format("register {:#x} cannot be read", offset));
  return value;
}

void OverlayRtlModel::write32(uint16_t offset, uint32_t value) {
  const bool good = library_->interface->write(library_->model, offset, value);
  raise_complaint();
  if (!good) throw Error(ErrorKind::kInternal, fmt::format("register {:#x} cannot be written", offset));
}

std::span<const ScopeActivity> OverlayRtlModel::activity() {
  int count = 0;
  const ScopeActivity* const scopes = library_->interface->activity(library_->model, count);
  return {scopes, size_t(count)};
}

bool OverlayRtlModel::wait_for_interrupt() {
  constexpr uint64_t kSlice = 4096;  // cycles between two looks at the time; a few milliseconds
  const uint64_t slice = time_.limited() ? kSlice : wait_cycles_;
  if (log_ != nullptr) log_->begin(activity(), memory_.moved_bits());
  for (uint64_t left = wait_cycles_; left > 0;) {
    time_.check();
    uint64_t cycles = std::min(slice, left);
    if (log_ != nullptr) {
      const uint64_t now = library_->interface->cycle(library_->model);
      while (log_->cycles_left(now) == 0) log_->note(activity(), memory_.moved_bits());
      cycles = std::min(cycles, log_->cycles_left(now));
    }
    const bool ended = library_->interface->run(library_->model, cycles) < cycles;
    raise_complaint();
    if (ended) break;
    left -= cycles;
  }
  if (log_ != nullptr) log_->end(activity(), memory_.moved_bits());
  return library_->interface->interrupt(library_->model);
}

void OverlayRtlModel::step(uint64_t cycles) {
  library_->interface->step(library_->model, cycles);
  raise_complaint();
}

void OverlayRtlModel::restart(const MemoryModel& memory) {
  memory_.set_model(memory);
  memory_.begin({});
  library_->start();
}

void OverlayRtlModel::reset() {
  memory_.begin({});
  library_->interface->reset(library_->model);
}

}  // namespace tilewright::overlay
