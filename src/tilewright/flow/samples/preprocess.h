// What is done to pictures and sounds before a model takes them, as users state it. Nothing else is done.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/flow/samples/picture.h"

namespace tilewright {

// Of pictures; width 0: `height` is the size of the shorter side (resize), or of both (crop).
struct PictureSize {
  int64_t height = 0, width = 0;
};

// How a picture lies in an input: channels before or after rows and columns.
enum class PictureLayout { kChannelsFirst, kChannelsLast };

struct Preprocess {
  std::string source;  // where it is stated, for messages; empty: nowhere
  // Of pictures, in this order.
  std::optional<Colour> colour;  // none: grey or RGB, by the model's channels
  std::optional<PictureSize> resize, crop;
  std::optional<PictureLayout> layout;  // none: by the model's shape
  // Of sounds.
  std::optional<int64_t> rate;     // Hz, which files must have
  std::optional<int64_t> channel;  // the one that is taken; -1: their mean; none: files have one
  std::optional<int64_t> length;   // values: the first ones, then zeros; none: as long as the file
  // Of both: value * multiplier / divisor - mean, / deviation, in float32.
  double multiplier = 1, divisor = 1;
  std::vector<double> mean, deviation;

  bool has_picture_steps() const { return colour || resize || crop || layout; }
  bool has_sound_steps() const { return rate || channel || length; }
};

// `text`: "resize=256,crop=224x224,scale=1/255,mean=0.5:0.5:0.5", a YAML map in braces, or the name of
// a YAML file of the same fields; empty: nothing is done. Errors (invalid input): every field that is unknown
// or has a wrong value.
Preprocess read_preprocess(const std::string& text);
// The YAML form, `source` for messages.
Preprocess parse_preprocess(const std::string& yaml, const std::string& source);

}  // namespace tilewright
