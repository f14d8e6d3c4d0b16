// Pictures and sounds as the samples of one input of a model: of a file, or of all files of a folder.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tilewright/flow/samples/preprocess.h"
#include "tilewright/flow/samples/samples.h"

namespace tilewright {

// What was read and what was done to it.
struct MediaAccount {
  std::string kind;  // "pictures" or "sounds"; empty: none were read
  std::filesystem::path path;
  int64_t files = 0, left_out = 0;  // of a folder: other entries
  std::vector<std::string> steps;   // in their order, in words; docs/guides/samples.md defines them
};
std::string to_string(const MediaAccount& account);  // one line, without its end

struct MediaSamples {
  Samples samples;
  MediaAccount account;
};

// The pictures or sounds for an input of `shape`, in the order of their names in bytes, the first `count` of
// them (0: all), times `scale` besides what `preprocess` says. Errors: those of every file that cannot be
// read, and (invalid input) that does not come out as the input wants it; pictures and sounds together, or
// neither; steps for the other kind; an input whose layout does not tell where the channels are.
MediaSamples read_media(const std::filesystem::path& path, int64_t count, double scale,
                        const Preprocess& preprocess, const Shape& shape, int threads);

}  // namespace tilewright
