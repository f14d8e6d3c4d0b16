// A worker process for tests: `tilewright worker` with handlers that misbehave in every way a test needs.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/synthesis/tool.h"
#include "tilewright/tune/fleet/worker.h"

namespace tilewright {
namespace {

// {"value": N}: the square of N, after {"sleep_s": S}.
std::string square(const std::string& request) {
  const nlohmann::json value = nlohmann::json::parse(request);
  ::usleep(useconds_t(value.value("sleep_s", 0.0) * 1e6));
  return std::to_string(value.at("value").get<int64_t>() * value.at("value").get<int64_t>());
}

std::string refuse(const std::string& request) {
  throw Error(ErrorKind::kInvalidInput, "refused: " + request);
}

std::string hang(const std::string&) {
  while (true) ::pause();
}

std::string crash(const std::string&) { std::abort(); }

// Dies until the file named by the request is there, which it makes.
std::string crash_once(const std::string& request) {
  if (::access(request.c_str(), F_OK) == 0) return "\"second\"";
  if (std::FILE* file = std::fopen(request.c_str(), "w")) std::fclose(file);
  std::abort();
}

std::string shell(const std::string& request) {
  synthesis::ToolCommand command{"sh", {"-c", request}};
  command.timeout_s = 600;
  return nlohmann::json(synthesis::run_tool(command).output).dump();
}

// {"values": [...], "hang": N}: ten times each value as its cost, forever if N is among them.
std::string costs(const std::string& request) {
  const nlohmann::json value = nlohmann::json::parse(request);
  nlohmann::json list = nlohmann::json::array();
  for (const nlohmann::json& v : value.at("values")) {
    if (v == value.value("hang", -1)) hang(request);
    if (v == 0) {
      list.push_back("zero is refused");
    } else {
      list.push_back(v.get<int64_t>() * 10);
    }
  }
  return nlohmann::json{{"costs", list}}.dump();
}

// {"folder": F, "width": N}: the cells that Yosys makes of a multiplier and accumulator of N bits.
std::string synthesize(const std::string& request) {
  const nlohmann::json value = nlohmann::json::parse(request);
  const std::string width = std::to_string(value.at("width").get<int>());
  const std::string source = value.at("folder").get<std::string>() + "/mac" + width + ".v";
  write_text_file(source, "module mac(input clk, input [" + width + ":1] a, b, output reg [" + width +
                              ":1] y);\n  always @(posedge clk) y <= y + a * b;\nendmodule\n");
  const std::string output =
      synthesis::run_tool_checked(
          {"yosys", {"-p", "read_verilog " + source + "; synth_ice40 -top mac; stat"}, {}, 600})
          .output;
  const size_t line = output.rfind("Number of cells:");
  return output.substr(line, output.find('\n', line) - line);
}

std::string large(const std::string& request) { return std::string(std::stoul(request), 'x'); }

int serve(int argc, char** argv) {
  tune::WorkerOptions options;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--folder") == 0) options.folder = argv[i + 1];
    if (std::strcmp(argv[i], "--job") == 0) options.job_ids.push_back(argv[i + 1]);
    if (std::strcmp(argv[i], "--attempt") == 0) options.attempt = std::atoi(argv[i + 1]);
  }
  return tune::serve_jobs(options,
                          {{"square", square},
                           {"refuse", refuse},
                           {"hang", hang},
                           {"crash", crash},
                           {"crash-once", crash_once},
                           {"shell", shell},
                           {"costs", costs},
                           {"synthesize", synthesize},
                           {"large", large}},
                          {std::cin, std::cout, std::cerr});
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) { return tilewright::serve(argc, argv); }
