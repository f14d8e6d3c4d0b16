// A worker process for tests: `tilewright worker` with handlers that misbehave in every way a test needs.
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/synthesis/tool.h"
#include "tilewright/tune/worker.h"

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

std::string large(const std::string& request) { return std::string(std::stoul(request), 'x'); }

int serve(int argc, char** argv) {
  tune::WorkerOptions options;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--folder") == 0) options.folder = argv[i + 1];
    if (std::strcmp(argv[i], "--job") == 0) options.job_ids.push_back(argv[i + 1]);
    if (std::strcmp(argv[i], "--attempt") == 0) options.attempt = std::atoi(argv[i + 1]);
  }
  return tune::serve_jobs(options, {{"square", square},
                                    {"refuse", refuse},
                                    {"hang", hang},
                                    {"crash", crash},
                                    {"crash-once", crash_once},
                                    {"shell", shell},
                                    {"large", large}});
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) { return tilewright::serve(argc, argv); }
