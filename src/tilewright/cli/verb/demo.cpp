// `demo`: shows the text of every step as it comes, then what was made.
#include "tilewright/flow/demo/demo.h"

#include <cstdlib>
#include <filesystem>
#include <ostream>
#include <sstream>

#include "tilewright/cli/options/command_limits.h"
#include "tilewright/cli/options/model_input.h"
#include "tilewright/cli/options/verbs.h"

namespace tilewright::cli {
namespace {

namespace fs = std::filesystem;

// What a user types to start this very program: its bare name where a shell finds it by that, else its path.
std::string typed_command() {
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path found = fs::path(folder) / self.filename();
    if (!fs::exists(found, failed)) continue;
    if (fs::equivalent(found, self, failed)) return self.filename();
    break;  // another one goes first
  }
  const fs::path near = fs::proximate(self, failed);
  const bool below = !near.empty() && *near.begin() != "..";
  return below ? (near.has_parent_path() ? near : "." / near).string() : self.string();
}

}  // namespace

void demo(const DemoOptions& options, std::ostream& out) {
  Deadline deadline;
  const Interruptible interruptible(deadline);
  DemoRequest request{.command = typed_command(),
                      .output = options.output,
                      .images = options.images,
                      .threads = options.threads,
                      .folders = shared_folders(),
                      .deadline = &deadline};
  if (!options.data.empty()) request.data = options.data;
  if (!options.json) request.show = [&out](const std::string& text) { out << text << std::flush; };
  const Answer answer = run_demo(request);
  out << (options.json ? answer.json : answer.text);
}

}  // namespace tilewright::cli
