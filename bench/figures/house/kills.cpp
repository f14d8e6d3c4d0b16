// Commands that are killed with SIGKILL at random moments while they replace what an earlier run has written:
// what stands there afterwards is the old or the new result, whole, with what was added to it.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/base/file.h"
#include "tilewright/base/random.h"
#include "tilewright/tensor/npy.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Words = std::vector<std::string>;
using Files = std::map<std::string, std::string>;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

pid_t start(const Words& arguments) {
  std::vector<char*> words{const_cast<char*>(TILEWRIGHT_COMMAND)};
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, TILEWRIGHT_COMMAND, &files, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (failed != 0) throw Error(ErrorKind::kInternal, "cannot start " TILEWRIGHT_COMMAND);
  return child;
}

// Runs to the end; the seconds it took.
double finish(const Words& arguments) {
  const Clock::time_point begin = Clock::now();
  int status = 0;
  ::waitpid(start(arguments), &status, 0);
  if (status != 0) throw Error(ErrorKind::kInternal, fmt::format("'{}' failed", fmt::join(arguments, " ")));
  return seconds_since(begin);
}

// Whether the command was still there when it was killed.
bool kill_after(const Words& arguments, double seconds) {
  const pid_t child = start(arguments);
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFSIGNALED(status);
}

// Of a file under its own name, of a folder all files.
Files content(const fs::path& path) {
  if (!fs::is_directory(path)) return {{"", read_text_file(path)}};
  Files files;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (entry.is_regular_file())
      files[entry.path().lexically_relative(path).string()] = read_text_file(entry.path());
  }
  return files;
}

// Two commands that write different things to one place.
struct Pair {
  std::string name;
  fs::path output;
  Words first, second;
  bool adds = false;  // it only adds files: what was there stays, and what is there is of the whole
};

struct Count {
  int kills = 0, lost = 0;
};

Count kill_pair(const Pair& pair, int kills, Random& random) {
  Count count;
  const auto fresh = [&](const Words& words) {
    fs::remove_all(pair.output);
    const double seconds = finish(words);
    return std::pair(content(pair.output), seconds);
  };
  auto [old_files, unused] = fresh(pair.first);
  auto [new_files, seconds] = fresh(pair.second);
  if (pair.adds) fs::remove_all(pair.output);
  const bool folder = !pair.adds && fs::is_directory(pair.output);
  if (folder) {
    write_text_file(pair.output / "notes.md", "mine");
    old_files["notes.md"] = new_files["notes.md"] = "mine";
  }
  bool has_new = !pair.adds;
  Files before;
  while (count.kills < kills) {
    // The last part of a run is where it writes.
    const double moment = random.chance(0.5) ? random.uniform() : 0.8 + 0.25 * random.uniform();
    if (!kill_after(has_new ? pair.first : pair.second, moment * seconds)) {
      if (!pair.adds) has_new = !has_new;
      continue;
    }
    ++count.kills;
    const Files found = fs::exists(pair.output) ? content(pair.output) : Files();
    bool whole = found == old_files || found == new_files;
    if (pair.adds) {
      whole = true;
      for (const auto& [name, text] : found) {
        const auto expected = new_files.find(name);
        whole = whole && (expected == new_files.end() || expected->second == text);
      }
      for (const auto& [name, text] : before)
        whole = whole && found.count(name) != 0 && found.at(name) == text;
      before = found;
    } else {
      has_new = found == new_files;
    }
    if (!whole) {
      ++count.lost;
      fmt::print("{}: neither old nor new after kill {}\n", pair.name, count.kills);
    }
  }
  if (pair.adds) {  // and goes on to the whole
    finish(pair.second);
    for (const auto& [name, text] : new_files) {
      const Files found = content(pair.output);
      if (found.count(name) == 0 || found.at(name) != text) ++count.lost;
    }
  }
  fmt::print("{:<10} {:>3} kills, {} lost ({:.2f} s a run)\n", pair.name, count.kills, count.lost, seconds);
  std::fflush(stdout);
  return count;
}

int run(int kills, uint64_t seed) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("tilewright_kills_{}", ::getpid());
  fs::remove_all(folder);
  create_folder(folder);
  const auto at = [&](const char* name) { return (folder / name).string(); };
  const std::string model = TILEWRIGHT_SOURCE_DIR "/models/lenet-fashion/lenet_fashion.onnx";
  const std::string data = TILEWRIGHT_SOURCE_DIR "/models/tune/implementation_ice40.jsonl.gz";
  Tensor images(ElementType::kF32, {8, 1, 28, 28});
  Random random(seed);
  for (float& pixel : images.mutable_data<float>()) pixel = float(random.uniform());
  write_npy(at("x.npy"), images);
  const Words quantize{"quantize", model, "--calibration", at("x.npy"), "-o"};
  const auto with = [](Words words, const Words& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  finish(with(quantize, {at("q.onnx")}));
  const Words generate{"generate", model,           "--device", "xc7z020",   "--number-type",
                       "q10.22",   "--no-simulate", "-o",       at("design")};
  const Words compile{"compile", at("q.onnx"), "--no-records", "-o", at("m.twb"), "--hardware"};
  const Words importance{"study", "importance", data, "--target", "lut", "--html", at("page.html"), "--seed"};
  const Words map{"map", model,     "--hardware", "eyeriss-256", "--dataflow",
                  "rs",  "--cache", at("cache"),  "--batch"};
  const std::vector<Pair> pairs = {
      {"generate", folder / "design", generate, with(generate, {"--clock", "50"})},
      {"compile", folder / "m.twb", with(compile, {"overlay-16x16"}), with(compile, {"overlay-8x8"})},
      {"quantize", folder / "w.onnx", with(quantize, {at("w.onnx")}),
       with(quantize, {at("w.onnx"), "--per-tensor"})},
      {"map", folder / "cache", with(map, {"1"}), with(map, {"4"}), true},
      {"study", folder / "page.html", with(importance, {"1"}), with(importance, {"2"})},
  };
  Count sum;
  for (const Pair& pair : pairs) {
    const Count count = kill_pair(pair, kills, random);
    sum.kills += count.kills;
    sum.lost += count.lost;
  }
  fs::remove_all(folder);
  fmt::print("{{\"figure\": \"kills\", \"kills\": {}, \"lost\": {}}}\n", sum.kills, sum.lost);
  return sum.kills == int(pairs.size()) * kills && sum.lost == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tilewright

int main(int argc, char** argv) {
  int cases = 50;
  uint64_t seed = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--quick") == 0) cases = 5;
    if (std::strcmp(argv[i], "--cases") == 0 && i + 1 < argc) cases = std::stoi(argv[++i]);
    if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc) seed = std::stoull(argv[++i]);
  }
  try {
    fmt::print("{} kills, seed {}\n", (cases + 4) / 5 * 5, seed);
    return tilewright::run((cases + 4) / 5, seed);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kills: %s\n", error.what());
    return 1;
  }
}
