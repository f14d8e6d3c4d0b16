// The short form becomes a document of the long one, so that both have the same fields, checks and messages.
#include "tilewright/flow/samples/preprocess.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>

#include "tilewright/base/file.h"
#include "tilewright/base/words/nearest_word.h"
#include "tilewright/base/yaml.h"

namespace tilewright {
namespace {

constexpr int64_t kMostPictureSize = 32768, kMostSoundValues = int64_t{1} << 28;
const char* const kPreprocessFields[] = {"colour",  "resize", "crop",  "layout", "rate",
                                         "channel", "length", "scale", "mean",   "std"};

std::vector<std::string> split_words(const std::string& text, const char* separators) {
  std::vector<std::string> words;
  for (size_t at = 0; at <= text.size();) {
    const size_t end = std::min(text.find_first_of(separators, at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

template <typename T>
std::optional<T> whole_word(const std::string& word) {
  T value{};
  const char* const end = word.data() + word.size();
  const auto [stop, problem] = std::from_chars(word.data(), end, value);
  if (problem != std::errc() || stop != end) return {};
  return value;
}

// The fields of one document; each reader returns nothing for a field that is absent or, after a diagnostic,
// wrong.
class PreprocessFields {
 public:
  PreprocessFields(const YAML::Node& node, const std::string& source, Diagnostics& problems)
      : map_(node, source, problems) {}

  std::optional<std::vector<double>> numbers(const std::string& key, bool divides) {
    const std::optional<std::vector<std::string>> found = words(key, ":");
    if (!found) return {};
    std::vector<double> values;
    for (const std::string& word : *found) {
      const std::optional<double> value = whole_word<double>(word);
      if (!value || !std::isfinite(float(*value)) || (divides && float(*value) == 0)) {
        return refuse(key, fmt::format("{}", fmt::join(*found, ":")),
                      divides ? "a number other than 0 for every channel, or one for all"
                              : "a number for every channel, or one for all");
      }
      values.push_back(*value);
    }
    if (values.size() != 1 && values.size() != 3)
      return refuse(key, fmt::format("{}", fmt::join(*found, ":")), "1 number or 3");
    return values;
  }

  std::optional<PictureSize> size(const std::string& key, const std::string& meaning) {
    const std::optional<std::vector<std::string>> found = words(key, "x");
    if (!found) return {};
    std::vector<int64_t> sizes;
    for (const std::string& word : *found) {
      const std::optional<int64_t> value = whole_word<int64_t>(word);
      if (!value || *value < 1 || *value > kMostPictureSize || found->size() > 2)
        return refuse(key, fmt::format("{}", fmt::join(*found, "x")),
                      fmt::format("{} or HEIGHTxWIDTH, each from 1 to {}", meaning, kMostPictureSize));
      sizes.push_back(*value);
    }
    return PictureSize{sizes[0], sizes.size() == 2 ? sizes[1] : 0};
  }

  std::optional<int64_t> whole(const std::string& key, int64_t least, int64_t most,
                               const std::string& meaning) {
    const std::optional<std::vector<std::string>> found = words(key);
    if (!found) return {};
    const std::optional<int64_t> value = found->size() == 1 ? whole_word<int64_t>((*found)[0]) : std::nullopt;
    if (!value || *value < least || *value > most)
      return refuse(key, fmt::format("{}", fmt::join(*found, ":")), meaning);
    return value;
  }

  template <typename T>
  std::optional<T> choice(const std::string& key, const std::vector<std::pair<std::string, T>>& choices) {
    const std::optional<std::vector<std::string>> found = words(key);
    if (!found) return {};
    std::vector<std::string> known;
    for (const auto& [word, value] : choices) {
      if (found->size() == 1 && (*found)[0] == word) return value;
      known.push_back(word);
    }
    map_.error(key, fmt::format("there is no '{}'", fmt::join(*found, ":")),
               words_hint((*found)[0], known, "choose one of"));
    return {};
  }

  // "A" or "A/B".
  void scale(Preprocess& result) {
    const std::optional<std::vector<std::string>> found = words("scale");
    if (!found) return;
    const std::vector<std::string> parts = split_words((*found)[0], "/");
    std::vector<double> values;
    for (const std::string& part : parts) {
      const std::optional<double> value = whole_word<double>(part);
      if (value && std::isfinite(float(*value)) && float(*value) != 0) values.push_back(*value);
    }
    if (found->size() != 1 || values.size() != parts.size() || parts.size() > 2) {
      refuse("scale", fmt::format("{}", fmt::join(*found, ":")), "a number other than 0, or two as in 1/255");
      return;
    }
    result.multiplier = values[0];
    if (values.size() == 2) result.divisor = values[1];
  }

  std::optional<int64_t> channel() {
    if (map_.has("channel") && map_.child("channel").IsScalar() && map_.child("channel").Scalar() == "mean")
      return -1;
    return whole("channel", 0, 1023, "mean, or the number of one, from 0 on");
  }

  void finish() { map_.finish(); }

 private:
  std::nullopt_t refuse(const std::string& key, const std::string& value, const std::string& wanted) {
    map_.error(key, fmt::format("'{}' is not {}", value, wanted));
    return std::nullopt;
  }

  // Of a scalar as in the short form, with its parts apart, or of a sequence.
  std::optional<std::vector<std::string>> words(const std::string& key, const char* separators = "") {
    const YAML::Node node = map_.child(key);
    if (!node.IsDefined()) return {};
    if (node.IsScalar()) return split_words(node.Scalar(), separators);
    std::vector<std::string> found;
    for (const auto& entry : node) {
      if (node.IsSequence() && entry.IsScalar()) found.push_back(entry.Scalar());
    }
    if (node.IsSequence() && !found.empty() && found.size() == node.size()) return found;
    map_.error(key, "is neither a value nor a list of values");
    return {};
  }

  YamlMap map_;
};

Preprocess read_fields(const YAML::Node& document, const std::string& source) {
  Diagnostics problems;
  PreprocessFields fields(document, source, problems);
  Preprocess result;
  result.source = source;
  result.colour = fields.choice<Colour>(
      "colour", {{"rgb", Colour::kRgb}, {"bgr", Colour::kBgr}, {"grey", Colour::kGrey}});
  result.resize = fields.size("resize", "the shorter side");
  result.crop = fields.size("crop", "the side of a square");
  result.layout = fields.choice<PictureLayout>(
      "layout", {{"nchw", PictureLayout::kChannelsFirst}, {"nhwc", PictureLayout::kChannelsLast}});
  result.rate = fields.whole("rate", 1, 1 << 30, "a number of Hz");
  result.channel = fields.channel();
  result.length = fields.whole("length", 1, kMostSoundValues,
                               fmt::format("a number of values from 1 to {}", kMostSoundValues));
  fields.scale(result);
  result.mean = fields.numbers("mean", false).value_or(std::vector<double>());
  result.deviation = fields.numbers("std", true).value_or(std::vector<double>());
  fields.finish();
  problems.raise_if_any();
  return result;
}

constexpr const char* kPreprocessOption = "--preprocess";

// "resize=256,crop=224" as a YAML map.
YAML::Node document_of(const std::string& text) {
  YAML::Node document(YAML::NodeType::Map);
  Diagnostics problems;
  for (const std::string& field : split_words(text, ",")) {
    const size_t equals = field.find('=');
    const std::string key = field.substr(0, equals);
    if (equals == std::string::npos || equals == 0) {
      problems.error(ErrorKind::kInvalidInput, kPreprocessOption, "",
                     fmt::format("'{}' is no FIELD=VALUE", field),
                     fmt::format("fields: {}; or give a YAML file", fmt::join(kPreprocessFields, ", ")));
    } else if (document[key]) {
      problems.error(ErrorKind::kInvalidInput, kPreprocessOption, key, "it is given twice", "leave one out");
    } else {
      document[key] = field.substr(equals + 1);
    }
  }
  problems.raise_if_any();
  return document;
}

bool names_file(const std::string& text) {
  std::error_code failed;
  return text.ends_with(".yaml") || text.ends_with(".yml") || text.ends_with(".json") ||
         (text.find('=') == std::string::npos && std::filesystem::exists(text, failed));
}

}  // namespace

Preprocess parse_preprocess(const std::string& yaml, const std::string& source) {
  return read_fields(parse_yaml(yaml, source), source);
}

Preprocess read_preprocess(const std::string& text) {
  if (text.empty()) return {};
  if (text.starts_with("{")) return parse_preprocess(text, kPreprocessOption);
  if (names_file(text)) return parse_preprocess(read_text_file(text, size_t{1} << 20), text);
  return read_fields(document_of(text), kPreprocessOption);
}

}  // namespace tilewright
