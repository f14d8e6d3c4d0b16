// A raw program for the public default overlay, and what an engine leaves in its memory.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace tilewright {

struct EngineRun {
  std::vector<std::byte> memory;  // all of it, afterwards
  std::string json;               // what exec printed
};

// The demo network compiled for vta-default (at `memory_width_bits`), as raw images; program.yaml dumps all
// memory.
std::filesystem::path raw_program_folder(int memory_width_bits);
// `tilewright exec` on it.
EngineRun run_on(const std::filesystem::path& folder, const std::string& engine,
                 const std::string& more = {});

}  // namespace tilewright
