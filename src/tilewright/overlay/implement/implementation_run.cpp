// The cap is held against the packed design, which nextpnr has within a second, so that a design beyond it
// costs one synthesis and no placement.
#include "tilewright/overlay/implement/implementation_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "tilewright/base/file.h"
#include "tilewright/base/hash.h"
#include "tilewright/base/integer_math.h"
#include "tilewright/base/json.h"
#include "tilewright/overlay/implement/implementation_performance.h"
#include "tilewright/overlay/rtl/rtl_config.h"
#include "tilewright/synthesis/nextpnr.h"
#include "tilewright/synthesis/tool.h"
#include "tilewright/synthesis/yosys.h"

namespace tilewright::overlay {
namespace {

namespace fs = std::filesystem;
using synthesis::ImplementationOptions;

constexpr const char* kFixture = "compute_fixture";

fs::path fixture_source(const ImplementationSetup& setup) {
  return setup.rtl_folder / "implementation" / "compute_fixture.sv";
}

bool places_by_nextpnr(const Device& device) { return device.family == synthesis::DeviceFamily::kIce40; }

ImplementationOptions without_placement(ImplementationOptions options) {
  const ImplementationOptions usual;
  options.place_mhz = usual.place_mhz;
  options.placer = usual.placer;
  options.heap_alpha = usual.heap_alpha;
  options.heap_beta = usual.heap_beta;
  options.heap_criticality_exponent = usual.heap_criticality_exponent;
  options.heap_timing_weight = usual.heap_timing_weight;
  options.router = usual.router;
  options.timing_ripup = usual.timing_ripup;
  options.seed = usual.seed;
  return options;
}

void check(const OverlayHardware& hardware, const std::vector<ImplementationOptions>& options,
           const Device& device) {
  Diagnostics diagnostics;
  verify_rtl(hardware, diagnostics);
  for (const ImplementationOptions& o : options) {
    o.verify(device.family, diagnostics);
    if (without_placement(o) == without_placement(options.front())) continue;
    diagnostics.error(ErrorKind::kInvalidInput, "implementation", "options", "differ in synthesis",
                      "implement them one by one");
  }
  diagnostics.raise_if_any();
}

// What a tool's error says about a row. Errors about the machine (no tool) and our own are no failures.
void note_failure(const Error& error, ImplementationFailure otherwise, ImplementationRow& row) {
  if (error.kind() == ErrorKind::kUnsupported || error.kind() == ErrorKind::kInternal) throw error;
  const std::string text = error.what();
  row.failure = dynamic_cast<const synthesis::ToolTimeout*>(&error) != nullptr
                    ? ImplementationFailure::kTimeLimit
                    : otherwise;
  row.failure_text = text.substr(0, text.find('\n'));
}

void count(const synthesis::YosysResult& yosys, ImplementationTargets& targets) {
  const synthesis::Resources& r = yosys.count.resources;
  targets.lut = r.lut;
  targets.ff = r.ff;
  targets.carry = r.carry;
  targets.dsp = r.dsp;
  targets.bram = r.bram;
}

void place_row(const synthesis::YosysResult& yosys, const Device& device, const ImplementationSetup& setup,
               ImplementationRow& row) {
  synthesis::NextpnrJob job{device.family, device.nextpnr_arguments, yosys.netlist, {}, setup.work_folder};
  job.clock_mhz = row.options.place_mhz;
  job.seed = row.options.seed;
  job.timeout_s = setup.timeout_s;
  job.options = row.options;
  try {
    const synthesis::NextpnrResult placed = synthesis::run_nextpnr(job);
    row.targets.fmax_mhz = placed.slowest_mhz();
    row.targets.place_s = placed.seconds;
  } catch (const InterruptedError&) {
    throw;
  } catch (const Error& error) {
    note_failure(error, ImplementationFailure::kNotRouted, row);
  }
}

// The packed size of all rows; false, with the failure in each, when it is beyond the cap or the device.
bool pack(const synthesis::YosysResult& yosys, const Device& device, const ImplementationSetup& setup,
          std::vector<ImplementationRow>& rows) {
  synthesis::NextpnrJob job{device.family, device.nextpnr_arguments, yosys.netlist, {}, setup.work_folder};
  job.timeout_s = setup.timeout_s;
  const std::map<std::string, int64_t> cells = synthesis::pack_nextpnr(job);
  const auto used = cells.find("ICESTORM_LC"), blocks = cells.find("ICESTORM_RAM");
  if (used == cells.end() || blocks == cells.end()) {
    throw Error(ErrorKind::kInternal, "nextpnr's table of cells has no logic cells");
  }
  const int64_t own = used->second - fixture_registers(rows.front().hardware);
  std::string failure;
  if (own > setup.cell_cap) {
    failure = fmt::format("{} logic cells are more than the cap of {}", own, setup.cell_cap);
  } else if (blocks->second > device.has.bram) {
    failure = fmt::format("{} block memories, the device has {}", blocks->second, device.has.bram);
  }
  for (ImplementationRow& row : rows) {
    row.targets.cells = own;
    if (failure.empty()) continue;
    row.failure = ImplementationFailure::kTooLarge;
    row.failure_text = failure;
  }
  return failure.empty();
}

}  // namespace

std::string implementation_tools(const Device& device, const ImplementationSetup& setup) {
  std::set<fs::path> sources{fixture_source(setup)};
  for (const auto& entry : fs::directory_iterator(setup.rtl_folder / "overlay")) {
    if (entry.path().extension() == ".sv") sources.insert(entry.path());
  }
  std::string text;
  for (const fs::path& source : sources) text += source.filename().string() + '\n' + read_text_file(source);
  const std::string rtl = fmt::format("rtl {:016x}", fnv1a(text));
  const std::string yosys = synthesis::tool_version("yosys");
  return places_by_nextpnr(device) ? yosys + "; " + synthesis::tool_version("nextpnr-ice40") + "; " + rtl
                                   : yosys + "; " + rtl;
}

int64_t fixture_registers(const OverlayHardware& h) {
  const int64_t address = address_bits(h), port = h.memory_width_bits, command = 8 * h.instruction_bytes();
  const int64_t number = std::min<int64_t>(32, address - floor_log2(h.instruction_bytes()) + 1);
  const int64_t loaded = std::max(floor_log2(h.input_depth()), floor_log2(h.weight_depth()));
  const int64_t others = 9 + 2 * port + loaded + 12 + 8 + floor_log2(h.accumulator_depth());
  const int64_t chain = std::max(number + command, others);
  const int64_t signature = 19 + address + 9 + 8 * h.output_bytes() + 3 * number;
  return chain + signature + 2;
}

std::vector<ImplementationRow> implement(const OverlayHardware& hardware,
                                         const std::vector<ImplementationOptions>& options,
                                         const Device& device, const ImplementationSetup& setup) {
  check(hardware, options, device);
  std::vector<ImplementationRow> rows;
  const std::string tools = implementation_tools(device, setup);
  for (const ImplementationOptions& o : options) {
    rows.push_back({hardware, o, device.name, tools, {}, ImplementationFailure::kNone, ""});
  }
  if (rows.empty()) return rows;
  const fs::path rtl = setup.work_folder / "rtl";
  std::vector<fs::path> sources = write_rtl(hardware, rtl, setup.rtl_folder);
  sources.push_back(rtl / fixture_source(setup).filename());
  write_text_file(sources.back(), read_text_file(fixture_source(setup)));

  synthesis::YosysJob job;
  job.family = device.family;
  job.use_dsp = device.has.dsp > 0;
  job.top = kFixture;
  job.sources = sources;
  job.folder = setup.work_folder;
  job.with_pads = job.write_netlist = places_by_nextpnr(device);
  job.timeout_s = setup.timeout_s;
  job.options = options.front();
  try {
    const synthesis::YosysResult yosys = synthesis::run_yosys(job);
    for (ImplementationRow& row : rows) {
      count(yosys, row.targets);
      row.targets.synthesis_s = yosys.seconds / double(rows.size());
    }
    if (!places_by_nextpnr(device) || !pack(yosys, device, setup, rows)) return rows;
    for (ImplementationRow& row : rows) place_row(yosys, device, setup, row);
  } catch (const InterruptedError&) {
    throw;
  } catch (const Error& error) {
    for (ImplementationRow& row : rows) note_failure(error, ImplementationFailure::kRefused, row);
  }
  return rows;
}

ImplementationRow reproduce(const ImplementationRow& row, const Device& device,
                            const ImplementationSetup& setup) {
  const std::string tools = implementation_tools(device, setup);
  if (tools != row.tools) {
    throw Error(
        ErrorKind::kInvalidInput,
        fmt::format("row {} was made by '{}', here are '{}'", implementation_key(row), row.tools, tools),
        "other tools give other results; collect the row again");
  }
  std::vector<ImplementationRow> again = implement(row.hardware, {row.options}, device, setup);
  add_performance(again);
  return again.front();
}

std::string implement_json(const std::string& request) {
  const nlohmann::json json = parse_json(request, "request");
  Diagnostics diagnostics;
  JsonMap map(json, "request", diagnostics);
  const std::string hardware = map.text("hardware"), device = map.text("device"),
                    tools = map.text("tools", "");
  ImplementationSetup setup;
  setup.rtl_folder = map.text("rtl_folder");
  setup.work_folder = map.text("work_folder");
  const nlohmann::json* options = map.child("options");
  if (options == nullptr) map.error("options", "is missing");
  map.finish();
  diagnostics.raise_if_any();
  ImplementationRow row;
  row.hardware = parse_overlay_hardware(hardware, "request: hardware");
  row.options = synthesis::parse_implementation(options->dump(), "request: options");
  const Device part = parse_device(device, "request: device");
  row.device = part.name;
  row.tools = tools.empty() ? implementation_tools(part, setup) : tools;
  return print_implementation_row(reproduce(row, part, setup));
}

}  // namespace tilewright::overlay
