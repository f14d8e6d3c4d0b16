// nextpnr writes its report even when the clock is missed, if told that this is allowed; whether the clock
// is met is the caller's decision.
#include "tilewright/synthesis/nextpnr.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/json.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::synthesis {
namespace {

CriticalPath read_path(const nlohmann::json& json) {
  CriticalPath path;
  path.from = json.at("from").get<std::string>();
  path.to = json.at("to").get<std::string>();
  const auto steps = json.at("path").get<std::vector<nlohmann::json>>();
  for (const nlohmann::json& step : steps) {
    const double delay = step.at("delay").get<double>();
    (step.at("type").get<std::string>() == "routing" ? path.routing_ns : path.logic_ns) += delay;
  }
  if (!steps.empty()) {
    path.first_cell = steps.front().at("to").at("cell").get<std::string>();
    path.last_cell = steps.back().at("to").at("cell").get<std::string>();
  }
  return path;
}

const char* program_of(const NextpnrJob& job) {
  return job.family == DeviceFamily::kIce40 ? "nextpnr-ice40" : "nextpnr-ecp5";
}

// Arguments for what differs from nextpnr's own choice.
std::vector<std::string> strategy_arguments(const ImplementationOptions& options) {
  const ImplementationOptions usual;
  std::vector<std::string> arguments;
  const auto add = [&](bool given, const char* name, const std::string& value) {
    if (given) arguments.insert(arguments.end(), {name, value});
  };
  add(options.placer == Placer::kAnnealing, "--placer", "sa");
  add(options.heap_alpha != usual.heap_alpha, "--placer-heap-alpha", fmt::format("{}", options.heap_alpha));
  add(options.heap_beta != usual.heap_beta, "--placer-heap-beta", fmt::format("{}", options.heap_beta));
  add(options.heap_criticality_exponent != usual.heap_criticality_exponent, "--placer-heap-critexp",
      std::to_string(options.heap_criticality_exponent));
  add(options.heap_timing_weight != usual.heap_timing_weight, "--placer-heap-timingweight",
      std::to_string(options.heap_timing_weight));
  add(options.router == Router::kRouter2, "--router", "router2");
  if (options.timing_ripup) arguments.push_back("--tmg-ripup");
  return arguments;
}

}  // namespace

double NextpnrResult::slowest_mhz() const {
  double slowest = 0;
  for (const auto& clock : fmax_mhz) slowest = slowest == 0 ? clock.second : std::min(slowest, clock.second);
  return slowest;
}

void parse_nextpnr_report(const std::string& text, const std::string& source_name, NextpnrResult& result) {
  const nlohmann::json json = parse_json(text, source_name);
  const auto fail = [&](const std::string& what) {
    throw Error(ErrorKind::kInvalidInput, fmt::format("{}: not a nextpnr report: {}", source_name, what),
                "nextpnr 0.4 is known to work; see its log next to the file");
  };
  constexpr int64_t kMost = int64_t{1} << 40;
  try {
    for (const auto& clock : json.at("fmax").items()) {
      result.fmax_mhz[clock.key()] = clock.value().at("achieved").get<double>();
    }
    for (const auto& cell : json.at("utilization").items()) {
      const std::optional<int64_t> used = json_integer(cell.value().at("used"), 0, kMost),
                                   available = json_integer(cell.value().at("available"), 0, kMost);
      if (!used || !available) fail("'" + cell.key() + "' has no counts of cells");
      result.utilisation[cell.key()] = {*used, *available};
    }
    for (const nlohmann::json& path : json.at("critical_paths")) result.critical.push_back(read_path(path));
  } catch (const nlohmann::json::exception& error) {
    fail(error.what());
  }
}

std::map<std::string, int64_t> parse_device_utilisation(const std::string& output) {
  std::map<std::string, int64_t> cells;
  std::istringstream lines(output);
  bool table = false;
  for (std::string line; std::getline(lines, line);) {
    char type[64];
    long long used = 0, available = 0;
    if (line.find("Device utilisation:") != std::string::npos) {
      table = true;
    } else if (table &&
               std::sscanf(line.c_str(), "Info: %63[^:]: %lld/ %lld", type, &used, &available) == 3) {
      cells[type] = used;
    } else if (table) {
      break;
    }
  }
  if (cells.empty()) {
    throw Error(ErrorKind::kInvalidInput, "nextpnr's output has no table of cells",
                "nextpnr 0.4 is known to work");
  }
  return cells;
}

std::map<std::string, int64_t> pack_nextpnr(const NextpnrJob& job) {
  create_folder(job.folder);
  ToolCommand command{program_of(job), job.device_arguments, std::filesystem::absolute(job.folder),
                      job.timeout_s};
  for (const std::string& argument :
       {std::string("--json"), std::filesystem::absolute(job.netlist).string(), std::string("--pack-only"),
        std::string(job.family == DeviceFamily::kIce40 ? "--pcf-allow-unconstrained"
                                                       : "--lpf-allow-unconstrained")}) {
    command.arguments.push_back(argument);
  }
  return parse_device_utilisation(run_tool_checked(command).output);
}

NextpnrResult run_nextpnr(const NextpnrJob& job) {
  create_folder(job.folder);
  const std::filesystem::path folder = std::filesystem::absolute(job.folder);
  const bool ice40 = job.family == DeviceFamily::kIce40;
  NextpnrResult result;
  result.routed = folder / (ice40 ? "routed.asc" : "routed.config");
  result.report = folder / "nextpnr.json";
  result.log = folder / "nextpnr.log";
  std::error_code ignored;
  std::filesystem::remove(result.routed, ignored);
  std::filesystem::remove(result.report, ignored);
  ToolCommand command{program_of(job), job.device_arguments, folder, job.timeout_s};
  const auto add = [&](const std::string& name, const std::string& value) {
    command.arguments.insert(command.arguments.end(), {name, value});
  };
  add("--json", std::filesystem::absolute(job.netlist).string());
  add(ice40 ? "--asc" : "--textcfg", result.routed.string());
  add("--report", result.report.string());
  add("--freq", fmt::format("{}", job.clock_mhz));
  add("--seed", std::to_string(job.seed));
  if (!job.pins.empty()) add(ice40 ? "--pcf" : "--lpf", std::filesystem::absolute(job.pins).string());
  command.arguments.push_back(ice40 ? "--pcf-allow-unconstrained" : "--lpf-allow-unconstrained");
  command.arguments.push_back("--timing-allow-fail");
  const std::vector<std::string> strategy = strategy_arguments(job.options);
  command.arguments.insert(command.arguments.end(), strategy.begin(), strategy.end());
  command.stop = job.stop;
  const ToolResult run = run_tool(command);
  write_text_file(result.log, run.output);
  result.seconds = run.seconds;
  if (run.exit_code != 0) {
    throw Error(ErrorKind::kInfeasible,
                fmt::format("'{}' found no way to place and route the design:\n{}", command.program,
                            last_lines(run.output, 6)),
                "a smaller configuration or another seed may fit");
  }
  parse_nextpnr_report(read_text_file(result.report), result.report.string(), result);
  return result;
}

int64_t pack_ice40(const std::filesystem::path& routed, const std::filesystem::path& bitstream) {
  const std::filesystem::path partial = bitstream.string() + ".part";
  try {
    run_tool_checked({"icepack", {routed.string(), partial.string()}, {}, 120});
    const std::vector<std::byte> bytes = read_file(partial);
    std::filesystem::rename(partial, bitstream);
    return int64_t(bytes.size());
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove(partial, ignored);
    throw;
  }
}

}  // namespace tilewright::synthesis
