// Reading of device files, and the comparison of a design with a device, resource by resource.
#include "tilewright/hardware/device.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "tilewright/base/file.h"
#include "tilewright/base/yaml.h"
#include "tilewright/hardware/preset_files.h"

namespace tilewright {
namespace {

using synthesis::DeviceFamily;

constexpr DeviceFamily kFamilies[] = {DeviceFamily::kXc7, DeviceFamily::kXcup, DeviceFamily::kEcp5,
                                      DeviceFamily::kIce40};
constexpr int64_t kMost = 100'000'000;

std::vector<std::string> read_words(YamlMap& map, const std::string& key) {
  std::vector<std::string> words;
  const YAML::Node list = map.child(key);
  if (!list.IsDefined()) return words;
  if (!list.IsSequence()) {
    map.error(key, "a list of words is expected", "[--hx8k, --package, ct256]");
    return words;
  }
  for (const YAML::Node& word : list) {
    if (word.IsScalar()) {
      words.push_back(word.Scalar());
    } else {
      map.error(key, "a word of the list is not a string");
    }
  }
  return words;
}

std::optional<DeviceMemory> read_memory(YamlMap& map, const std::string& source_name,
                                        Diagnostics& diagnostics) {
  const YAML::Node node = map.child("dram");
  if (!node.IsDefined()) return {};
  YamlMap fields(node, source_name, diagnostics);
  DeviceMemory memory;
  memory.channels = fields.integer("channels", 1, 64, memory.channels);
  memory.port_bytes = fields.integer("port_bytes", 4, 128);
  memory.latency_cycles = fields.integer("latency_cycles", 1, 1'000'000);
  memory.efficiency_percent = fields.integer("efficiency_percent", 1, 100, memory.efficiency_percent);
  fields.finish();
  return memory;
}

DeviceFamily read_family(YamlMap& map) {
  const std::string text = map.text("family");
  std::string known;
  for (const DeviceFamily family : kFamilies) {
    if (text == synthesis::family_name(family)) return family;
    known += (known.empty() ? "" : ", ") + std::string(synthesis::family_name(family));
  }
  if (map.has("family")) map.error("family", "'" + text + "' is not a known family", "one of " + known);
  return DeviceFamily::kXc7;
}

// The options of nextpnr that choose a part: of a chip, and those that a word follows. There are others that
// run scripts, and so does a word that follows no option.
constexpr const char* kChips[] = {"--lp384",  "--lp1k",     "--lp4k",     "--lp8k",    "--hx1k",   "--hx4k",
                                  "--hx8k",   "--up3k",     "--up5k",     "--u1k",     "--u2k",    "--u4k",
                                  "--12k",    "--25k",      "--45k",      "--85k",     "--um-25k", "--um-45k",
                                  "--um-85k", "--um5g-25k", "--um5g-45k", "--um5g-85k"};
constexpr const char* kPartOptions[] = {"--package", "--speed"};

// Fit for a path, a script and a command line.
bool is_plain(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_';
  });
}

// The first of the arguments that does not choose a part; null: all do.
const std::string* foreign_argument(const std::vector<std::string>& arguments) {
  const auto lists = [](const auto& all, const std::string& text) {
    return std::find(std::begin(all), std::end(all), text) != std::end(all);
  };
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (lists(kChips, arguments[i])) continue;
    const bool has_word =
        i + 1 < arguments.size() && is_plain(arguments[i + 1]) && arguments[i + 1][0] != '-';
    if (!lists(kPartOptions, arguments[i]) || !has_word) return &arguments[i];
    ++i;
  }
  return nullptr;
}

const char* smaller(const char* resource) {
  const std::string name = resource;
  if (name == "LUT" || name == "FF") return "fewer alu_lanes or smaller blocks";
  if (name == "DSP") return "multipliers in look-up tables (--no-dsp), smaller blocks or a smaller batch";
  return "smaller buffers or read_queue_beats";
}

}  // namespace

MemoryModel DeviceMemory::model() const {
  MemoryModel model;
  model.latency = uint32_t(latency_cycles);
  model.efficiency_percent = uint32_t(efficiency_percent);
  return model;
}

void Device::verify(Diagnostics& diagnostics) const {
  const auto error = [&](const char* field, std::string message, std::string hint) {
    diagnostics.error(ErrorKind::kInvalidInput, "device '" + name + "'", field, std::move(message),
                      std::move(hint));
  };
  for (const auto& [field, text] : {std::pair{"name", &name}, std::pair{"part", &part},
                                    std::pair{"package", &package}, std::pair{"speed_grade", &speed_grade}}) {
    if (!is_plain(*text)) {
      error(field, "'" + *text + "' is not a name of letters, digits, '-' and '_'",
            "as the vendor orders it");
    }
  }
  if (has.lut <= 0) error("lut", "a device has look-up tables", "take the count of the data sheet");
  if (has.ff <= 0) error("ff", "a device has flip-flops", "take the count of the data sheet");
  const bool xilinx = family == DeviceFamily::kXc7 || family == DeviceFamily::kXcup;
  if (xilinx && !nextpnr_arguments.empty()) {
    error("nextpnr", "family " + std::string(synthesis::family_name(family)) + " has no nextpnr here",
          "leave it out");
  }
  if (const std::string* foreign = foreign_argument(nextpnr_arguments)) {
    error("nextpnr", "'" + *foreign + "' does not name a part of a family",
          "e.g. [--hx8k, --package, ct256]");
  }
  if (memory && !std::has_single_bit(uint64_t(memory->port_bytes))) {
    error("dram", fmt::format("port_bytes {} is not a power of two", memory->port_bytes), "4, 8, .. 128");
  }
  if (family == DeviceFamily::kIce40 && nextpnr_arguments.empty()) {
    error("nextpnr", "is missing", "e.g. [--hx8k, --package, ct256]");
  }
}

Device parse_device(const std::string& text, const std::string& source_name) {
  Diagnostics diagnostics;
  YamlMap map(parse_yaml(text, source_name), source_name, diagnostics);
  const std::string kind = map.text("kind", "device");
  if (kind != "device") map.error("kind", "'" + kind + "' is not 'device'");
  Device device;
  device.name = map.text("name", std::filesystem::path(source_name).stem().string());
  device.family = read_family(map);
  device.part = map.text("part");
  device.package = map.text("package");
  device.speed_grade = map.text("speed_grade", "-");
  device.has.lut = map.integer("lut", 0, kMost);
  device.has.ff = map.integer("ff", 0, kMost);
  device.has.dsp = map.integer("dsp", 0, kMost, 0);
  device.has.bram = map.integer("bram", 0, kMost, 0);
  device.has.uram = map.integer("uram", 0, kMost, 0);
  device.nextpnr_arguments = read_words(map, "nextpnr");
  device.memory = read_memory(map, source_name, diagnostics);
  device.clock_mhz = map.number("clock_mhz", 0, 10'000, 0);
  map.finish();
  diagnostics.raise_if_any();
  device.verify(diagnostics);
  diagnostics.raise_if_any(source_name);
  return device;
}

std::string print_device(const Device& device) {
  const synthesis::Resources& has = device.has;
  std::string text = fmt::format("kind: device\nname: {}\nfamily: {}\npart: {}\npackage: {}\n", device.name,
                                 synthesis::family_name(device.family), device.part, device.package);
  text += fmt::format("speed_grade: \"{}\"\nlut: {}\nff: {}\ndsp: {}\nbram: {}\nuram: {}\n",
                      device.speed_grade, has.lut, has.ff, has.dsp, has.bram, has.uram);
  if (!device.nextpnr_arguments.empty()) {
    text += fmt::format("nextpnr: [\"{}\"]\n", fmt::join(device.nextpnr_arguments, "\", \""));
  }
  if (device.memory) {
    const DeviceMemory& m = *device.memory;
    text +=
        fmt::format("dram: {{channels: {}, port_bytes: {}, latency_cycles: {}, efficiency_percent: {}}}\n",
                    m.channels, m.port_bytes, m.latency_cycles, m.efficiency_percent);
  }
  if (device.clock_mhz != 0) text += fmt::format("clock_mhz: {}\n", device.clock_mhz);
  return text;
}

Device read_device(const std::filesystem::path& path) {
  return parse_device(read_text_file(path, size_t{1} << 20), path.string());
}

Device find_device(const std::string& name_or_path, const std::filesystem::path& device_folder) {
  const std::vector<std::string> known = preset_names(device_folder, "device");
  if (std::binary_search(known.begin(), known.end(), name_or_path)) {
    return read_device(device_folder / (name_or_path + ".yaml"));
  }
  std::error_code failed;
  if (std::filesystem::is_regular_file(name_or_path, failed)) return read_device(name_or_path);
  throw no_such_preset(name_or_path, "device", device_folder);
}

std::vector<ResourceFit> fit(const Device& device, const synthesis::Resources& need) {
  const synthesis::Resources& has = device.has;
  return {{"LUT", need.lut, has.lut},
          {"FF", need.ff, has.ff},
          {"DSP", need.dsp, has.dsp},
          {"BRAM", need.bram, has.bram},
          {"URAM", need.uram, has.uram}};
}

void report_misfits(const Device& device, const synthesis::Resources& need, Diagnostics& diagnostics) {
  for (const ResourceFit& item : fit(device, need)) {
    if (item.fits()) continue;
    diagnostics.error(ErrorKind::kInfeasible, "device '" + device.name + "'", item.resource,
                      fmt::format("the design needs {}, the device has {}", item.need, item.have),
                      fmt::format("{} need less; or take a larger device", smaller(item.resource)));
  }
}

}  // namespace tilewright
