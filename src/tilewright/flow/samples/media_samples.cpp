// Pictures are kept in bytes, as files have them, and become floats where an input is cut: a quarter of the
// memory.
#include "tilewright/flow/samples/media_samples.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <optional>

#include "tilewright/base/file.h"
#include "tilewright/base/parallel.h"
#include "tilewright/flow/samples/jpeg_file.h"
#include "tilewright/flow/samples/png_file.h"
#include "tilewright/flow/samples/sample_format.h"
#include "tilewright/flow/samples/wav_file.h"

namespace tilewright {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostFileProblems = 20;  // that are reported one by one

struct MediaFiles {
  std::vector<fs::path> paths;
  bool sounds = false;
  int64_t left_out = 0;
};

bool has_media_ending(const fs::path& path) {
  std::string ending = path.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(), [](char c) { return char(std::tolower(c)); });
  return ending == ".png" || ending == ".jpg" || ending == ".jpeg" || ending == ".wav";
}

MediaFiles media_files(const fs::path& path, int64_t count) {
  MediaFiles files;
  std::error_code failed;
  if (fs::is_directory(path, failed)) {
    fs::directory_iterator entries(path, failed);
    if (failed) throw Error(ErrorKind::kInvalidInput, "the folder cannot be read: " + failed.message());
    for (const auto& entry : entries) {
      const bool missing = entry.is_symlink(failed) && !entry.exists(failed);  // told when it is read
      const bool taken = has_media_ending(entry.path()) && (missing || entry.is_regular_file(failed));
      taken ? files.paths.push_back(entry.path()) : void(++files.left_out);
    }
    std::sort(files.paths.begin(), files.paths.end());
  } else {
    files.paths = {path};
  }
  const auto present = int64_t(files.paths.size());
  if (present == 0 || count > present) {
    throw Error(ErrorKind::kInvalidInput,
                present == 0 ? "the folder holds no picture or sound"
                             : fmt::format("{} samples are requested, {} are there", count, present),
                present == 0
                    ? "files that end in .png, .jpg, .jpeg or .wav are taken; those in folders of it "
                      "are not"
                    : "ask for as many as are there, or leave the count out");
  }
  if (count > 0) files.paths.resize(size_t(count));
  files.sounds = sample_format(files.paths[0]) == SampleFormat::kWav;
  return files;
}

// Where an input has its channels, rows and columns.
struct PictureAxes {
  PictureLayout layout = PictureLayout::kChannelsLast;
  Colour colour = Colour::kGrey;
  int64_t height = 0, width = 0;  // 0: the input does not tell
};

PictureAxes picture_axes(const Shape& shape, const Preprocess& steps) {
  PictureAxes axes;
  const int rank = shape.rank();
  if (rank != 3 && rank != 4) {  // flat
    axes.layout = steps.layout.value_or(PictureLayout::kChannelsLast);
    axes.colour = steps.colour.value_or(Colour::kGrey);
    return axes;
  }
  const auto is_channels = [&](int axis) { return shape[axis] == 1 || shape[axis] == 3; };
  const bool first = is_channels(rank - 3), last = is_channels(rank - 1);
  if (!steps.layout && first == last) {
    throw Error(
        ErrorKind::kInvalidInput,
        fmt::format("the input of {} does not tell where the channels of a picture are: {} has 1 or 3",
                    to_string(shape),
                    first ? "the first axis and also the last one" : "neither the first nor the last axis"),
        first ? "state it: --preprocess layout=nchw, or nhwc" : "give arrays (.npy)");
  }
  axes.layout = steps.layout.value_or(first ? PictureLayout::kChannelsFirst : PictureLayout::kChannelsLast);
  const bool leads = axes.layout == PictureLayout::kChannelsFirst;
  const int64_t channels = shape[leads ? rank - 3 : rank - 1];
  axes.colour = steps.colour.value_or(channels == 1 ? Colour::kGrey : Colour::kRgb);
  if (channels != channels_of(axes.colour)) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("the input of {} has {} channels, the pictures have {}", to_string(shape),
                            channels, channels_of(axes.colour)),
                "change colour= or layout= of --preprocess");
  }
  axes.height = shape[leads ? rank - 2 : rank - 3];
  axes.width = shape[leads ? rank - 1 : rank - 2];
  return axes;
}

// The shorter side gets `size.height`, the longer one its share, rounded down, unless both are stated.
PictureSize resized_size(const PictureSize& size, int64_t height, int64_t width) {
  if (size.width > 0) return size;
  const auto longer = [&](int64_t side, int64_t shorter) { return size.height * side / shorter; };
  return height <= width ? PictureSize{size.height, longer(width, height)}
                         : PictureSize{longer(height, width), size.height};
}

PictureSize square(const PictureSize& size) {
  return {size.height, size.width > 0 ? size.width : size.height};
}

Tensor prepared_picture(const fs::path& path, const PictureAxes& axes, const Preprocess& steps) {
  const std::vector<std::byte> bytes = read_file(path);
  const SampleFormat format = sample_format(bytes);
  if (!is_picture(format))
    throw Error(ErrorKind::kInvalidInput, "it is no PNG or JPEG picture as the others are", "take it out");
  Tensor picture =
      to_colour(format == SampleFormat::kPng ? parse_png(bytes) : parse_jpeg(bytes), axes.colour);
  if (steps.resize) {
    const PictureSize size = resized_size(*steps.resize, picture.shape()[0], picture.shape()[1]);
    if (size.height * size.width > kMostPixels)
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("it would be resized to {} x {}", size.height, size.width));
    picture = resize_picture(picture, size.height, size.width);
  }
  const int64_t height = picture.shape()[0], width = picture.shape()[1];
  if (steps.crop) {
    const PictureSize size = square(*steps.crop);
    if (size.height > height || size.width > width) {
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("a part of {} x {} is wanted of a picture of {} x {} (height x width)",
                              size.height, size.width, height, width),
                  "resize it first, with --preprocess resize=SIZE");
    }
    return crop_picture(picture, size.height, size.width);
  }
  return picture;
}

// [channels, height, width]
Tensor channels_first(const Tensor& picture) {
  const int64_t channels = picture.shape()[2];
  if (channels == 1) return picture.reshaped(Shape{1, picture.shape()[0], picture.shape()[1]});
  Tensor result(picture.type(), Shape{channels, picture.shape()[0], picture.shape()[1]});
  const size_t width = size_t(bit_width(picture.type())) / 8, pixels = size_t(picture.size() / channels);
  const std::byte* from = picture.bytes().data();
  std::byte* const to = result.mutable_bytes().data();
  for (size_t pixel = 0; pixel < pixels; ++pixel) {
    for (size_t c = 0; c < size_t(channels); ++c, from += width)
      std::memcpy(to + (c * pixels + pixel) * width, from, width);
  }
  return result;
}

Tensor prepared_sound(const fs::path& path, const Preprocess& steps) {
  const Sound sound = parse_wav(read_file(path));
  const int64_t present = sound.values.shape()[0], channels = sound.values.shape()[1];
  Diagnostics problems;
  const auto refuse = [&](const std::string& message, const std::string& hint) {
    problems.error(ErrorKind::kInvalidInput, "", "", message, hint);
  };
  if (steps.rate && *steps.rate != sound.rate)
    refuse(fmt::format("it has {} values a second, not {}", sound.rate, *steps.rate),
           "resample it with another tool: Tilewright does not");
  if (!steps.channel && channels > 1)
    refuse(fmt::format("it has {} channels", channels),
           "state --preprocess channel=mean, or the number of one");
  if (steps.channel && *steps.channel >= channels)
    refuse(fmt::format("it has no channel {}", *steps.channel),
           fmt::format("the last one is {}", channels - 1));
  problems.raise_if_any();
  Tensor result(ElementType::kF32, Shape{steps.length.value_or(present)});
  const std::span<const float> from = sound.values.data<float>();
  const std::span<float> to = result.mutable_data<float>();
  for (int64_t i = 0; i < std::min(present, result.size()); ++i) {
    double value = 0;
    for (int64_t c = 0; c < channels; ++c) {
      if (!steps.channel || *steps.channel < 0 || *steps.channel == c)
        value += from[size_t(i * channels + c)];
    }
    to[size_t(i)] = float(steps.channel && *steps.channel < 0 ? value / double(channels) : value);
  }
  return result;
}

// All of one shape and type, along a new first axis.
Tensor stack_media(const std::vector<fs::path>& paths, int threads, const Shape& wanted,
                   const std::string& hint, const std::function<Tensor(const fs::path&)>& prepare) {
  std::vector<Diagnostics> problems(paths.size());
  std::vector<Tensor> parts(paths.size());
  parallel_for(threads, int64_t(paths.size()), [&](int64_t begin, int64_t end) {
    for (auto i = size_t(begin); i < size_t(end); ++i) {
      const std::string where = fmt::format("file '{}'", paths[i].string());
      try {
        parts[i] = prepare(paths[i]);
        if (wanted.rank() > 0 && parts[i].shape() != wanted)
          problems[i].error(ErrorKind::kInvalidInput, where, "",
                            fmt::format("it comes out as {}, the model wants {}", to_string(parts[i].shape()),
                                        to_string(wanted)),
                            hint);
      } catch (const Error& error) {
        for (Diagnostic d : error.diagnostics()) {
          d.where = where;
          problems[i].add(std::move(d));
        }
      }
    }
  });
  Diagnostics all;
  size_t more = 0;
  const auto add = [&](const Diagnostics& found) {
    for (const Diagnostic& d : found.errors())
      all.errors().size() < kMostFileProblems ? all.add(d) : void(++more);
  };
  for (const Diagnostics& found : problems) add(found);
  if (more > 0) all.error(ErrorKind::kInvalidInput, "", "", fmt::format("and {} more like these", more));
  all.raise_if_any();
  Shape shape = parts[0].shape();
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].shape() == shape && parts[i].type() == parts[0].type()) continue;
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("file '{}' comes out as {}, '{}' as {}", paths[i].string(),
                            to_string(parts[i].type(), parts[i].shape()), paths[0].filename().string(),
                            to_string(parts[0].type(), shape)),
                parts[i].shape() == shape ? "keep pictures of 8 and of 16 bits apart" : hint);
  }
  std::vector<int64_t> dims{int64_t(parts.size())};
  dims.insert(dims.end(), shape.begin(), shape.end());
  Tensor result(parts[0].type(), Shape(std::move(dims)));
  for (size_t i = 0; i < parts.size(); ++i) {
    std::memcpy(result.mutable_bytes().data() + i * parts[i].size_bytes(), parts[i].bytes().data(),
                parts[i].size_bytes());
    parts[i] = Tensor();
  }
  return result;
}

std::string size_text(const PictureSize& size) { return fmt::format("{}x{}", size.height, size.width); }

void add_value_steps(const Preprocess& steps, double scale, std::vector<std::string>& words) {
  if (scale != 1) words.push_back(fmt::format("times {}", scale));
  if (steps.multiplier != 1) words.push_back(fmt::format("times {}", steps.multiplier));
  if (steps.divisor != 1) words.push_back(fmt::format("divided by {}", steps.divisor));
  if (!steps.mean.empty()) words.push_back(fmt::format("minus {}", fmt::join(steps.mean, ":")));
  if (!steps.deviation.empty())
    words.push_back(fmt::format("divided by {}", fmt::join(steps.deviation, ":")));
}

std::vector<std::string> picture_words(const PictureAxes& axes, const Preprocess& steps, double scale) {
  const char* const colours[] = {"grey", "RGB", "BGR"};
  std::vector<std::string> words{colours[int(axes.colour)]};
  if (steps.resize) {
    words.push_back(steps.resize->width > 0
                        ? fmt::format("resized to {} (bilinear)", size_text(*steps.resize))
                        : fmt::format("shorter side resized to {} (bilinear)", steps.resize->height));
  }
  if (steps.crop) words.push_back(fmt::format("the middle {}", size_text(square(*steps.crop))));
  add_value_steps(steps, scale, words);
  words.emplace_back(axes.layout == PictureLayout::kChannelsFirst ? "NCHW" : "NHWC");
  return words;
}

std::vector<std::string> sound_words(const Preprocess& steps, double scale) {
  std::vector<std::string> words;
  if (steps.rate) words.push_back(fmt::format("{} Hz", *steps.rate));
  if (steps.channel && *steps.channel < 0) words.emplace_back("mean of the channels");
  if (steps.channel && *steps.channel >= 0) words.push_back(fmt::format("channel {}", *steps.channel));
  if (steps.length) words.push_back(fmt::format("{} values, cut or with zeros added", *steps.length));
  words.emplace_back("PCM in [-1, 1)");
  add_value_steps(steps, scale, words);
  return words;
}

Normalization normalization_of(const Preprocess& steps, double scale, int64_t channels) {
  if (scale != 1 && (steps.multiplier != 1 || steps.divisor != 1)) {
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("the values are scaled twice: by {}, and in {}", scale, steps.source),
                "state it in one place");
  }
  for (const std::vector<double>* values : {&steps.mean, &steps.deviation}) {
    if (int64_t(values->size()) <= 1 || int64_t(values->size()) == channels) continue;
    throw Error(ErrorKind::kInvalidInput,
                fmt::format("{} states mean or std of {} channels, the samples have {}", steps.source,
                            values->size(), channels),
                "give one number, or one for each channel");
  }
  return {.multiplier = scale * steps.multiplier,
          .divisor = steps.divisor,
          .mean = steps.mean,
          .deviation = steps.deviation,
          .channels = channels,
          .of_integers = true};
}

void refuse_steps(bool given, const Preprocess& steps, const char* fields, const char* kind) {
  if (!given) return;
  throw Error(ErrorKind::kInvalidInput, fmt::format("{}: {} do not apply to {}", steps.source, fields, kind),
              "leave them out");
}

MediaSamples read_pictures(const MediaFiles& files, const std::string& name, double scale,
                           const Preprocess& steps, const Shape& shape, int threads) {
  refuse_steps(steps.has_sound_steps(), steps, "rate, channel and length", "pictures");
  const PictureAxes axes = picture_axes(shape, steps);
  const bool leads = axes.layout == PictureLayout::kChannelsFirst;
  const int64_t channels = channels_of(axes.colour), pixels = axes.height * axes.width;
  Normalization values = normalization_of(steps, scale, channels);
  Shape wanted;
  if (pixels > 0)
    wanted = leads ? Shape{channels, axes.height, axes.width} : Shape{axes.height, axes.width, channels};
  const std::string hint = pixels > 0 ? fmt::format("add --preprocess resize={}x{}", axes.height, axes.width)
                                      : "add --preprocess resize=HEIGHTxWIDTH";
  Tensor array = stack_media(files.paths, threads, wanted, hint, [&](const fs::path& path) {
    const Tensor picture = prepared_picture(path, axes, steps);
    return leads ? channels_first(picture) : picture;
  });
  if (leads) values.channel_size = array.shape()[2] * array.shape()[3];
  return {Samples(std::move(array), 0, std::move(values), name),
          {.kind = "pictures", .steps = picture_words(axes, steps, scale)}};
}

int64_t batch_of(const Shape& shape) { return shape.rank() > 1 ? shape[0] : 1; }

MediaSamples read_sounds(const MediaFiles& files, const std::string& name, double scale,
                         const Preprocess& steps, const Shape& shape, int threads) {
  refuse_steps(steps.has_picture_steps(), steps, "colour, resize, crop and layout", "sounds");
  const Normalization values = normalization_of(steps, scale, 1);
  Tensor array = stack_media(files.paths, threads, Shape{}, "add --preprocess length=N",
                             [&](const fs::path& path) { return prepared_sound(path, steps); });
  MediaSamples sounds = {Samples(std::move(array), 0, values, name),
                         {.kind = "sounds", .steps = sound_words(steps, scale)}};
  sounds.samples.hint_shape(fmt::format("add --preprocess length={}",
                                        shape.element_count() / std::max<int64_t>(batch_of(shape), 1)));
  return sounds;
}

}  // namespace

std::string to_string(const MediaAccount& account) {
  std::string kind = account.kind;
  if (account.files == 1) kind.pop_back();  // its s
  std::string text = fmt::format("{} {} of '{}': {}", account.files, kind, account.path.string(),
                                 fmt::join(account.steps, ", "));
  if (account.left_out > 0) text += fmt::format("; {} more in the folder left out", account.left_out);
  return text;
}

MediaSamples read_media(const fs::path& path, int64_t count, double scale, const Preprocess& preprocess,
                        const Shape& shape, int threads) {
  const MediaFiles files = media_files(path, count);
  MediaSamples media = files.sounds ? read_sounds(files, path.string(), scale, preprocess, shape, threads)
                                    : read_pictures(files, path.string(), scale, preprocess, shape, threads);
  media.account.path = path;
  media.account.files = int64_t(files.paths.size());
  media.account.left_out = files.left_out;
  return media;
}

}  // namespace tilewright
