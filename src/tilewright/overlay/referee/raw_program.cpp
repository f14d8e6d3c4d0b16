// Reading collects the problems of the YAML and of every file that it names before it throws. Files are told
// apart by their real paths, so a dump cannot overwrite an input under another name. Running copies the
// images into zeroed memory in their order and cuts the dumps out afterwards.
#include "tilewright/overlay/referee/raw_program.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "tilewright/base/file.h"
#include "tilewright/base/yaml.h"
#include "tilewright/overlay/execute/program_place.h"
#include "tilewright/overlay/execute/zeroed_memory.h"

namespace tilewright::overlay {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMaxMemoryBytes = int64_t{1} << 36;

bool lies_within(uint64_t address, uint64_t bytes, uint64_t memory_bytes) {
  return address <= memory_bytes && bytes <= memory_bytes - address;
}

void merge(const Error& error, const std::string& where, Diagnostics& diagnostics) {
  for (Diagnostic problem : error.diagnostics()) {
    problem.where = problem.where.empty() ? where : where + ": " + problem.where;
    diagnostics.add(std::move(problem));
  }
}

// The elements of an optional sequence of maps.
std::vector<YAML::Node> sequence(YamlMap& map, const std::string& key) {
  const YAML::Node node = map.child(key);
  if (!node.IsDefined()) return {};
  if (!node.IsSequence()) {
    map.error(key, "must be a sequence of maps", "write each as '- {file: ..., address: ...}'");
    return {};
  }
  return {node.begin(), node.end()};
}

// The files that a program names, each where it may be.
class NamedFiles {
 public:
  NamedFiles(const fs::path& program, Confinement confinement)
      : folder_(program.parent_path()), confinement_(confinement) {
    taken_[real(program)] = "the program itself";
  }

  // One that is read; `use` says for what.
  fs::path input(const fs::path& name, const std::string& use) {
    const fs::path path = confined_path(folder_, name, confinement_);
    taken_[real(path)] = use;
    return path;
  }
  // One that is written. All inputs are known by then.
  void output(const fs::path& name, const std::string& use) {
    const fs::path path = confined_path(folder_, name, confinement_);
    const auto [taken, fresh] = taken_.emplace(real(path), use);
    if (!fresh) {
      throw Error(ErrorKind::kInvalidInput, "'" + name.string() + "' would overwrite " + taken->second,
                  "give the dump a name of its own");
    }
    std::error_code ignored;
    if (confinement_ == Confinement::kInside && fs::exists(path, ignored) &&
        !fs::is_regular_file(path, ignored)) {
      throw Error(ErrorKind::kInvalidInput, "'" + name.string() + "' exists and is not a regular file",
                  "give the dump another name");
    }
  }

 private:
  static fs::path real(const fs::path& path) {
    std::error_code ignored;
    return fs::weakly_canonical(path, ignored);
  }

  const fs::path folder_;
  const Confinement confinement_;
  std::map<fs::path, std::string> taken_;
};

// `most`: bytes that a whole file may have.
RawImage read_image(const YAML::Node& node, const std::string& where, uint64_t most, NamedFiles& files,
                    Diagnostics& diagnostics) {
  YamlMap map(node, where, diagnostics);
  RawImage image;
  image.file = map.text("file");
  image.address = uint64_t(map.integer("address", 0, kMaxMemoryBytes));
  const int64_t bytes = map.integer("bytes", 0, kMaxMemoryBytes, -1);
  map.finish();
  if (image.file.empty()) return image;
  try {
    const fs::path path = files.input(image.file, where);
    image.bytes = bytes >= 0 ? read_file_start(path, size_t(bytes)) : read_file(path, size_t(most));
  } catch (const Error& error) {
    merge(error, where, diagnostics);
    return image;
  }
  if (bytes > int64_t(image.bytes.size())) {
    map.error("bytes", "the file has only " + std::to_string(image.bytes.size()) + " of " +
                           std::to_string(bytes) + " bytes");
  }
  return image;
}

RawDump read_dump(const YAML::Node& node, const std::string& where, NamedFiles& files,
                  Diagnostics& diagnostics) {
  YamlMap map(node, where, diagnostics);
  RawDump dump;
  dump.file = map.text("file");
  dump.address = uint64_t(map.integer("address", 0, kMaxMemoryBytes));
  dump.bytes = uint64_t(map.integer("bytes", 0, kMaxMemoryBytes));
  map.finish();
  if (dump.file.empty()) return dump;
  try {
    files.output(dump.file, where);
  } catch (const Error& error) {
    merge(error, where, diagnostics);
  }
  return dump;
}

std::string quoted(const fs::path& path) {
  std::string text = "\"";
  for (const char c : path.generic_string()) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"";
}

}  // namespace

void RawProgram::verify(Diagnostics& diagnostics) const {
  const auto check = [&](const std::string& where, uint64_t address, uint64_t bytes) {
    if (lies_within(address, bytes, memory_bytes)) return;
    diagnostics.error(ErrorKind::kInvalidInput, where, "address",
                      std::to_string(bytes) + " bytes at " + std::to_string(address) +
                          " do not fit in a memory of " + std::to_string(memory_bytes) + " bytes",
                      "raise memory_bytes or move the section");
  };
  for (size_t i = 0; i < load.size(); ++i) {
    check("load[" + std::to_string(i) + "] '" + load[i].file.string() + "'", load[i].address,
          load[i].bytes.size());
  }
  verify_place(hardware, memory_bytes, instruction_address, instruction_count, diagnostics);
  for (size_t i = 0; i < dump.size(); ++i) {
    check("dump[" + std::to_string(i) + "] '" + dump[i].file.string() + "'", dump[i].address, dump[i].bytes);
  }
}

RawProgram read_raw_program(const fs::path& path, Confinement confinement) {
  NamedFiles files(path, confinement);
  const std::string name = path.filename().string();
  Diagnostics diagnostics;
  RawProgram program;
  YamlMap map(read_yaml_file(path), name, diagnostics);
  const std::string hardware_file = map.text("hardware");
  if (!hardware_file.empty()) {
    try {
      program.hardware = read_overlay_hardware(files.input(hardware_file, name + ": hardware"));
    } catch (const Error& error) {
      merge(error, name + ": hardware", diagnostics);
    }
  }
  const size_t problems_before = diagnostics.errors().size();
  program.memory_bytes = uint64_t(map.integer("memory_bytes", 1, kMaxMemoryBytes));
  const bool memory_known = diagnostics.errors().size() == problems_before;
  for (const YAML::Node& node : sequence(map, "load")) {
    const std::string where = name + ": load[" + std::to_string(program.load.size()) + "]";
    const uint64_t most = memory_known ? program.memory_bytes : uint64_t(kMaxMemoryBytes);
    program.load.push_back(read_image(node, where, most, files, diagnostics));
  }
  YamlMap instructions(map.child("instructions"), name + ": instructions", diagnostics);
  program.instruction_address = uint64_t(instructions.integer("address", 0, kMaxMemoryBytes));
  program.instruction_count = uint64_t(instructions.integer("count", 1, UINT32_MAX));
  instructions.finish();
  for (const YAML::Node& node : sequence(map, "dump")) {
    const std::string where = name + ": dump[" + std::to_string(program.dump.size()) + "]";
    program.dump.push_back(read_dump(node, where, files, diagnostics));
  }
  map.finish();
  if (memory_known) program.verify(diagnostics);
  diagnostics.raise_if_any("raw program '" + path.string() + "'");
  return program;
}

namespace {

// `run` executes the program in memory.
template <typename Run>
RawResult execute_with(const RawProgram& program, Run run) {
  Diagnostics diagnostics;
  program.verify(diagnostics);
  diagnostics.raise_if_any("raw program");
  ZeroedMemory memory(program.memory_bytes);
  const std::span<std::byte> dram = memory.span();
  for (const RawImage& image : program.load) {
    if (!image.bytes.empty())
      std::memcpy(dram.data() + image.address, image.bytes.data(), image.bytes.size());
  }
  RawResult result;
  run(dram, result);
  for (const RawDump& dump : program.dump) {
    const auto section = dram.subspan(dump.address, dump.bytes);
    result.dump.emplace_back(section.begin(), section.end());
  }
  return result;
}

}  // namespace

RawResult execute(const RawProgram& program, SimulatorKernel kernel) {
  return execute_with(program, [&](std::span<std::byte> dram, RawResult& result) {
    FunctionalSimulator simulator(program.hardware, kernel);
    result.counters = simulator.run(dram, program.instruction_address, program.instruction_count);
  });
}

RawResult execute(const RawProgram& program, ProgramEngine& engine, CycleObserver* observer,
                  Deadline* deadline) {
  return execute_with(program, [&](std::span<std::byte> dram, RawResult& result) {
    const TimedRun run =
        engine.run(dram, program.instruction_address, program.instruction_count, observer, deadline);
    result.counters = run.work;
    result.cycles = run.cycles;
  });
}

void write_dumps(const fs::path& folder, const RawProgram& program, const RawResult& result) {
  TILEWRIGHT_CHECK(result.dump.size() == program.dump.size(), "a result of another program");
  for (size_t i = 0; i < result.dump.size(); ++i) {
    const fs::path path = folder / program.dump[i].file;
    std::error_code ignored;  // what matters is whether the file can be written
    fs::create_directories(path.parent_path(), ignored);
    write_file(path, result.dump[i]);
  }
}

void write_raw_program(const fs::path& folder, const RawProgram& program) {
  std::set<std::string> names{"program.yaml", "hardware.yaml"};
  for (const RawImage& image : program.load) {
    TILEWRIGHT_CHECK(image.file.is_relative() && names.insert(image.file.generic_string()).second,
                     "raw program: file name '" + image.file.string() + "' is absolute or used twice");
  }
  create_folder(folder);
  std::string yaml = "hardware: hardware.yaml\nmemory_bytes: " + std::to_string(program.memory_bytes) + "\n";
  if (!program.load.empty()) yaml += "load:\n";
  for (const RawImage& image : program.load) {
    write_file(folder / image.file, image.bytes);
    yaml += "  - {file: " + quoted(image.file) + ", address: " + std::to_string(image.address) + "}\n";
  }
  yaml += "instructions: {address: " + std::to_string(program.instruction_address) +
          ", count: " + std::to_string(program.instruction_count) + "}\n";
  if (!program.dump.empty()) yaml += "dump:\n";
  for (const RawDump& dump : program.dump) {
    yaml += "  - {file: " + quoted(dump.file) + ", address: " + std::to_string(dump.address) +
            ", bytes: " + std::to_string(dump.bytes) + "}\n";
  }
  write_text_file(folder / "hardware.yaml", print_overlay_hardware(program.hardware));
  write_text_file(folder / "program.yaml", yaml);
}

}  // namespace tilewright::overlay
