// nextpnr writes its report even when the clock is missed, if told that this is allowed; whether the clock
// is met is the caller's decision.
#include "tilewright/synthesis/nextpnr.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/synthesis/tool.h"

namespace tilewright::synthesis {
namespace {

CriticalPath read_path(const nlohmann::json& json) {
  CriticalPath path;
  path.from = json.at("from").get<std::string>();
  path.to = json.at("to").get<std::string>();
  const nlohmann::json& steps = json.at("path");
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

}  // namespace

double NextpnrResult::slowest_mhz() const {
  double slowest = 0;
  for (const auto& clock : fmax_mhz) slowest = slowest == 0 ? clock.second : std::min(slowest, clock.second);
  return slowest;
}

void parse_nextpnr_report(const std::string& text, NextpnrResult& result) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    for (const auto& clock : json.at("fmax").items()) {
      result.fmax_mhz[clock.key()] = clock.value().at("achieved").get<double>();
    }
    for (const auto& cell : json.at("utilization").items()) {
      result.utilisation[cell.key()] = {cell.value().at("used").get<int64_t>(),
                                        cell.value().at("available").get<int64_t>()};
    }
    for (const nlohmann::json& path : json.at("critical_paths")) result.critical.push_back(read_path(path));
  } catch (const nlohmann::json::exception& error) {
    throw Error(ErrorKind::kInternal, fmt::format("nextpnr's report has an unknown form: {}", error.what()),
                "nextpnr 0.4 is known to work");
  }
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
  ToolCommand command{ice40 ? "nextpnr-ice40" : "nextpnr-ecp5", job.device_arguments, folder, job.timeout_s};
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
  const ToolResult run = run_tool(command);
  write_text_file(result.log, run.output);
  result.seconds = run.seconds;
  if (run.exit_code != 0) {
    throw Error(ErrorKind::kInfeasible,
                fmt::format("'{}' found no way to place and route the design:\n{}", command.program,
                            last_lines(run.output, 6)),
                "a smaller configuration or another seed may fit");
  }
  parse_nextpnr_report(read_text_file(result.report), result);
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
