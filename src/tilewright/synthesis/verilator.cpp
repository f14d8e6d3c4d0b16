// Verilator writes many C++ files per model. They are compiled as two units, as its own Makefile does with
// one job: the parts marked slow (set-up, settling) with -O1, everything else with -O3. Its run-time library
// depends on neither design nor harness and is cached beside the models. A library appears by renaming a
// finished file, so a reader never sees half of one; a lock lets one builder work while others wait for it.
#include "tilewright/synthesis/verilator.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/temporary_folder.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::synthesis {
namespace {

namespace fs = std::filesystem;

// FNV-1a, twice with different bases: 128 bits, for telling builds apart, not for security.
class Hash {
 public:
  void add(const std::string& text) {
    for (const char c : text + '\0') {
      for (uint64_t& half : halves_) half = (half ^ uint8_t(c)) * 0x100000001B3u;
    }
  }
  std::string hex() const { return fmt::format("{:016x}{:016x}", halves_[0], halves_[1]); }

 private:
  uint64_t halves_[2] = {0xCBF29CE484222325u, 0x9AE16A3B2F90404Fu};
};

// Held by the one process or thread that builds a file; others wait for it instead of building it too. Where
// locks do not work, all build, which is slower and as right.
class BuildLock {
 public:
  explicit BuildLock(const fs::path& file)
      : descriptor_(::open((file.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (descriptor_ >= 0) static_cast<void>(::flock(descriptor_, LOCK_EX));
  }
  ~BuildLock() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  BuildLock(const BuildLock&) = delete;
  BuildLock& operator=(const BuildLock&) = delete;

 private:
  const int descriptor_;
};

const std::vector<std::string>& compile_flags() {
  // No unique symbols: they would be shared by all models of a process.
  static const std::vector<std::string> flags{
      "-std=gnu++17",         "-fPIC", "-fvisibility=hidden", "-fno-gnu-unique", "-faligned-new",
      "-fcf-protection=none", "-w"};
  return flags;
}

std::vector<std::string> verilator_arguments(const VerilatedDesign& design) {
  std::vector<std::string> arguments{"--cc",       "--prefix",   "V" + design.top, "--top-module", design.top,
                                     "-O3",        "--x-assign", "fast",           "--x-initial",  "fast",
                                     "-Wno-fatal", "--Mdir",     "model",          "--assert"};
  if (design.watched == Watched::kWaves) {
    arguments.insert(arguments.end(), {"--trace-fst", "--trace-structs"});
  } else if (design.watched == Watched::kActivity) {
    // Signals of any width; memories count by their ports.
    arguments.insert(arguments.end(), {"--trace", "--trace-max-width", "1048576", "--trace-max-array", "1"});
  }
  return arguments;
}

std::string versions() {
  const std::string verilator = tool_version("verilator");
  if (verilator.empty()) run_tool({"verilator", {"--version"}, {}, 20});  // says which package is missing
  return verilator + "\n" + tool_version("g++");
}

fs::path verilator_includes() {
  const ToolResult result = run_tool_checked({"verilator", {"--getenv", "VERILATOR_ROOT"}, {}, 20});
  return fs::path(result.output.substr(0, result.output.find('\n'))) / "include";
}

void compile(const fs::path& folder, const std::string& source, const std::string& object,
             const std::string& optimisation, const std::vector<std::string>& more, const StopRequest& stop) {
  ToolCommand command{"g++", compile_flags(), folder, 3600, stop};
  command.arguments.insert(command.arguments.end(), {optimisation, "-c", source, "-o", object});
  command.arguments.insert(command.arguments.end(), more.begin(), more.end());
  run_tool_checked(command);
}

void publish(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) {
    throw Error(ErrorKind::kInvalidInput, "cannot write '" + to.string() + "': " + error.message(),
                "name a cache folder that is writable");
  }
}

std::string traced(Watched watched) { return fmt::format("-DVM_TRACE={:d}", watched != Watched::kNothing); }

// Verilator's run-time library, without the three functions that harnesses define.
fs::path runtime_library(const fs::path& cache, const std::string& version, const fs::path& includes,
                         Watched watched, const StopRequest& stop) {
  Hash hash;
  hash.add(version);
  hash.add(std::to_string(int(watched)));
  for (const std::string& flag : compile_flags()) hash.add(flag);
  const fs::path library = cache / ("verilated-" + hash.hex() + ".o");
  if (fs::exists(library)) return library;
  const BuildLock lock(library);
  if (fs::exists(library)) return library;
  const TemporaryFolder folder(cache, "building");  // beside the file that is renamed out of it
  std::string unit = "#include \"verilated.cpp\"\n#include \"verilated_threads.cpp\"\n";
  if (watched == Watched::kWaves) unit += "#include \"verilated_fst_c.cpp\"\n";
  if (watched == Watched::kActivity) unit += "#include \"verilated_vcd_c.cpp\"\n";
  write_text_file(folder.path() / "runtime.cpp", unit);
  compile(folder.path(), "runtime.cpp", "runtime.o", "-O2",
          {"-I" + includes.string(), "-I" + (includes / "vltstd").string(), "-DVL_USER_STOP",
           "-DVL_USER_FINISH", "-DVL_USER_FATAL", "-DVM_COVERAGE=0", "-DVM_SC=0", traced(watched)},
          stop);
  publish(folder.path() / "runtime.o", library);
  return library;
}

// One source file that includes those generated ones whose name has, or has not, the mark of slow parts.
void write_unit(const fs::path& model, const fs::path& unit, bool slow) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(model)) {
    const std::string name = entry.path().filename().string();
    const bool marked = name.find("__Slow") != std::string::npos ||
                        name.find("__Syms") != std::string::npos || name.find("__Trace") != std::string::npos;
    if (entry.path().extension() == ".cpp" && marked == slow) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += "#include \"" + name + "\"\n";
  write_text_file(unit, text);
}

void build(const VerilatedDesign& design, const fs::path& cache, const std::string& version,
           const fs::path& library, const StopRequest& stop) {
  const fs::path includes = verilator_includes();
  const TemporaryFolder folder(cache, "building");  // beside the file that is renamed out of it
  ToolCommand verilator{"verilator", verilator_arguments(design), folder.path(), 3600, stop};
  for (const fs::path& source : design.sources) {
    verilator.arguments.push_back(fs::absolute(source).string());
  }
  run_tool_checked(verilator);
  const fs::path runtime = runtime_library(cache, version, includes, design.watched, stop);
  for (const fs::path& header : design.headers) {
    fs::copy_file(header, folder.path() / header.filename(), fs::copy_options::overwrite_existing);
  }
  const fs::path model = folder.path() / "model";
  write_unit(model, folder.path() / "fast.cpp", false);
  write_unit(model, folder.path() / "slow.cpp", true);
  std::vector<std::string> options{"-I.",
                                   "-Imodel",
                                   "-I" + includes.string(),
                                   "-I" + (includes / "vltstd").string(),
                                   "-DVM_COVERAGE=0",
                                   "-DVM_SC=0",
                                   traced(design.watched),
                                   fmt::format("-DVM_TRACE_FST={:d}", design.watched == Watched::kWaves),
                                   fmt::format("-DVM_TRACE_VCD={:d}", design.watched == Watched::kActivity)};
  compile(folder.path(), "fast.cpp", "fast.o", "-O3", options, stop);
  compile(folder.path(), "slow.cpp", "slow.o", "-O1", options, stop);
  compile(folder.path(), fs::absolute(design.harness).string(), "harness.o", "-O3", options, stop);
  ToolCommand link{"g++",
                   {"-shared", "-Wl,-Bsymbolic", "-o", "library.so", "fast.o", "slow.o", "harness.o"},
                   folder.path(),
                   600,
                   stop};
  link.arguments.push_back(fs::absolute(runtime).string());
  link.arguments.push_back("-pthread");
  if (design.watched == Watched::kWaves) link.arguments.push_back("-lz");
  run_tool_checked(link);
  publish(folder.path() / "library.so", library);
}

}  // namespace

std::vector<fs::path> harness_headers(const fs::path& rtl_folder) {
  const fs::path folder = rtl_folder / "harness";
  return {folder / "verilated_harness.h", folder / "activity_pins.h", folder / "activity_counter.h"};
}

fs::path build_verilated(const VerilatedDesign& design, const fs::path& cache_folder,
                         const StopRequest& stop) {
  const std::string version = versions();
  Hash hash;
  hash.add(version);
  for (const std::string& flag : compile_flags()) hash.add(flag);
  for (const std::string& argument : verilator_arguments(design)) hash.add(argument);
  for (const auto* files : {&design.sources, &design.headers}) {
    for (const fs::path& file : *files) hash.add(file.filename().string()), hash.add(read_text_file(file));
  }
  hash.add(read_text_file(design.harness));
  const fs::path cache = fs::absolute(cache_folder);
  create_folder(cache);
  const fs::path library = cache / (design.top + "-" + hash.hex() + ".so");
  if (fs::exists(library)) return library;
  const BuildLock lock(library);
  if (!fs::exists(library)) build(design, cache, version, library, stop);
  return library;
}

std::string lint(const std::string& top, const std::vector<fs::path>& sources) {
  ToolCommand command{"verilator", {"--lint-only", "-Wall", "--top-module", top}, {}, 600};
  for (const fs::path& source : sources) command.arguments.push_back(source.string());
  const ToolResult result = run_tool(command);
  if (result.exit_code == 0 && result.output.find("%Warning") == std::string::npos) return "";
  return result.output;
}

}  // namespace tilewright::synthesis
