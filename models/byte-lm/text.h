// A text in chapters, apart for training and for measuring.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace byte_lm {

struct Chapters {
  std::vector<uint8_t> training, held_out;
  std::vector<uint8_t> calibration;  // a part of `training`
};

// A file of titles and chapters in turn, with an empty line behind each. Chapters 20, 60, 100, ... (from 0)
// are held out; 0, 160, 320, ... are for calibration, too. Errors (invalid input): fewer than 21 chapters, a
// title without a chapter.
Chapters read_chapters(const std::string& file);

}  // namespace byte_lm
