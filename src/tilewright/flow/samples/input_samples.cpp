// Sources are first given to inputs, by name, then read; every step collects what is wrong, so that one run
// tells all of it.
#include "tilewright/flow/samples/input_samples.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>

#include "tilewright/base/file.h"
#include "tilewright/base/json.h"
#include "tilewright/base/words/nearest_word.h"
#include "tilewright/flow/samples/npz.h"
#include "tilewright/flow/samples/sample_format.h"
#include "tilewright/tensor/idx.h"
#include "tilewright/tensor/npy.h"

namespace tilewright {
namespace {

NamedArrays arrays_of(std::span<const std::byte> bytes) {
  switch (sample_format(bytes)) {
    case SampleFormat::kNpy:
      return {{"", parse_npy(bytes)}};
    case SampleFormat::kIdx:
      return {{"", parse_idx(bytes)}};
    case SampleFormat::kNpz:
      return parse_npz(bytes);
    default:
      throw Error(ErrorKind::kInvalidInput,
                  bytes.empty() ? "the file is empty" : "it holds no samples in a known form",
                  "give .npy, .npz, idx, PNG, JPEG or WAV; numpy.save writes an array");
  }
}

std::vector<std::string> input_names(const Graph& graph) {
  std::vector<std::string> names;
  for (const ValueId v : graph.inputs) names.push_back(graph.value(v).name);
  return names;
}

}  // namespace

bool holds_media(const SampleRequest& request) {
  return std::any_of(request.sources.begin(), request.sources.end(), [](const SampleSource& source) {
    if (source.array) return false;
    std::error_code failed;
    if (std::filesystem::is_directory(source.path, failed)) return true;
    return std::filesystem::is_regular_file(source.path, failed) && is_media(sample_format(source.path));
  });
}

// Fills an InputSamples and collects the problems.
class InputReader {
 public:
  InputReader(const SampleRequest& request, const Graph& graph, const std::string& option, int threads)
      : request_(request), graph_(graph), option_(option), names_(input_names(graph)), threads_(threads) {}

  InputSamples read() {
    if (names_.empty())
      throw Error(ErrorKind::kUnsupported, "the model has no inputs", "samples cannot be given to it");
    check_given(request_, option_);
    collect("", [&] { steps_ = read_preprocess(request_.preprocess); });
    steps_known_ = problems_.ok();
    for (const SampleSource& source : request_.sources) collect_source(source);
    check_missing();
    InputSamples result;
    for (const ValueId v : graph_.inputs) {
      const Value& value = graph_.value(v);
      if (!sources_.count(value.name)) continue;
      collect(names_.size() > 1 ? fmt::format("input '{}'", value.name) : "",
              [&] { read_input(value, result); });
    }
    check_preprocess_used();
    count_all(result);
    problems_.raise_if_any();
    return result;
  }

 private:
  // Of one input: an array, or a path of pictures or sounds.
  struct InputSource {
    std::string name, where;  // of the file, for messages: its path, and what it is with its path
    std::optional<Tensor> array;
    std::filesystem::path media;
  };

  // Problems of the file as a whole get its name.
  template <typename Body>
  static auto with_place(const InputSource& source, const Body& body) {
    try {
      return body();
    } catch (const Error& error) {
      std::vector<Diagnostic> all = error.diagnostics();
      for (Diagnostic& d : all) {
        if (d.where.empty()) d.where = source.where;
      }
      throw Error(std::move(all));
    }
  }

  template <typename Body>
  void collect(const std::string& where, const Body& body) {
    try {
      body();
    } catch (const Error& error) {
      for (Diagnostic d : error.diagnostics()) {
        if (d.where.empty()) {
          d.where = where;
        } else if (!where.empty() && d.where.find("file '") == std::string::npos) {
          d.where = where + ", " + d.where;
        }
        problems_.add(std::move(d));
      }
    }
  }

  [[noreturn]] static void fail(const std::string& message, const std::string& hint) {
    throw Error(ErrorKind::kInvalidInput, message, hint);
  }

  std::string all_names() const { return fmt::format("{}", fmt::join(names_, ", ")); }

  void give(const std::string& input, InputSource source) {
    if (std::find(names_.begin(), names_.end(), input) == names_.end()) {
      fail(fmt::format("the model has no input '{}'", input),
           did_you_mean(input, names_) + "its inputs: " + all_names());
    }
    const auto [at, is_new] = sources_.emplace(input, source);
    if (!is_new)
      fail(fmt::format("input '{}' is already given by {}", input, at->second.name), "leave one out");
  }

  // The input of a source that names none.
  const std::string& only_input() const {
    if (names_.size() == 1) return names_[0];
    fail(
        fmt::format("the model has {} inputs ({}), and it names none of them", names_.size(), all_names()),
        fmt::format("name it, as in {} {}=FILE, or give an .npz with a member for each", option_, names_[0]));
  }

  void assign(const SampleSource& source) {
    const std::string name = source.array ? "the array" : source.path.string(), where = name_of(source);
    const auto input = [&] { return source.input.empty() ? only_input() : source.input; };
    if (source.array) return give(input(), {name, where, source.array, {}});
    std::error_code failed;
    if (std::filesystem::is_directory(source.path, failed))
      return give(input(), {name, where, {}, source.path});
    const std::vector<std::byte> bytes = read_file(source.path);
    if (is_media(sample_format(bytes))) return give(input(), {name, where, {}, source.path});
    NamedArrays arrays = arrays_of(bytes);
    if (arrays.size() == 1 && (names_.size() == 1 || !source.input.empty() || arrays[0].first.empty()))
      return give(input(), {name, where, arrays[0].second, {}});
    if (!source.input.empty())
      fail(fmt::format("it holds {} arrays, and one is wanted for input '{}'", arrays.size(), source.input),
           fmt::format("leave '{}=' out: the names of its members are those of inputs", source.input));
    for (auto& [member, array] : arrays)
      collect(name_of(source), [&] { give(member, {name, where, std::move(array), {}}); });
  }

  // What could not be read may have been for any input, unless it names one.
  void collect_source(const SampleSource& source) {
    bool done = false;
    collect(name_of(source), [&] {
      assign(source);
      done = true;
    });
    if (done) return;
    source.input.empty() ? void(unclear_ = true) : void(failed_.insert(source.input));
  }

  void check_missing() {
    for (const std::string& name : names_) {
      if (unclear_ || sources_.count(name) || failed_.count(name)) continue;
      problems_.error(ErrorKind::kInvalidInput, "", "",
                      fmt::format("input '{}' of the model is not given", name),
                      fmt::format("add {} {}=FILE", option_, name));
    }
  }

  void read_input(const Value& value, InputSamples& result) {
    const InputSource& source = sources_.at(value.name);
    if (source.media.empty()) {
      Samples samples = with_place(
          source, [&] { return Samples(*source.array, request_.count, request_.scale, source.name); });
      result.inputs_.push_back(checked({value.name, value.type, value.shape, std::move(samples), {}}));
      return;
    }
    has_media_ = true;
    if (!steps_known_) return;
    MediaSamples media = with_place(source, [&] {
      return read_media(source.media, request_.count, request_.scale, steps_, value.shape, threads_);
    });
    result.inputs_.push_back(
        checked({value.name, value.type, value.shape, std::move(media.samples), std::move(media.account)}));
  }

  // Integers have to fit, which nobody knows before they are cut.
  static InputSamples::Input checked(InputSamples::Input input) {
    const int64_t count = input.samples.count_for(input.shape);
    for (int64_t i = 0; !is_float(input.type) && i < count; ++i)
      input.samples.cut(i, input.type, input.shape);
    return input;
  }

  void check_preprocess_used() {
    if (has_media_ || request_.preprocess.empty() || !problems_.ok()) return;
    problems_.error(ErrorKind::kInvalidInput, "", "",
                    "--preprocess has no effect: no input is a picture or a sound",
                    fmt::format("leave it out; arrays are multiplied with {}-scale", option_));
  }

  void count_all(InputSamples& result) {
    std::vector<std::string> counts;
    bool differ = false;
    for (const InputSamples::Input& input : result.inputs_) {
      const int64_t count = input.samples.count_for(input.shape);
      counts.push_back(fmt::format("{} for '{}'", count, input.name));
      if (counts.size() == 1) result.count_ = count;
      if (count != result.count_) differ = true;
    }
    if (differ) {
      problems_.error(
          ErrorKind::kInvalidInput, "", "",
          fmt::format("the inputs have different numbers of samples: {}", fmt::join(counts, ", ")),
          "give equally many for each");
    }
  }

  const SampleRequest& request_;
  const Graph& graph_;
  const std::string& option_;
  std::vector<std::string> names_;
  int threads_;
  Preprocess steps_;
  std::map<std::string, InputSource> sources_;
  Diagnostics problems_;
  std::set<std::string> failed_;  // inputs that a source names which cannot be taken
  bool unclear_ = false, steps_known_ = true, has_media_ = false;
};

InputSamples InputSamples::read(const SampleRequest& request, const Graph& graph, const std::string& option,
                                int threads) {
  return InputReader(request, graph, option, threads).read();
}

std::vector<Tensor> InputSamples::cut(int64_t index) const {
  std::vector<Tensor> tensors;
  for (const Input& input : inputs_) tensors.push_back(input.samples.cut(index, input.type, input.shape));
  return tensors;
}

std::vector<Tensor> InputSamples::stack() const {
  std::vector<Tensor> tensors;
  for (const Input& input : inputs_) tensors.push_back(input.samples.stack(input.type, input.shape));
  return tensors;
}

std::string InputSamples::text() const {
  std::string text;
  for (const Input& input : inputs_) {
    if (!input.account.kind.empty())
      text += fmt::format("input '{}': {}\n", input.name, to_string(input.account));
  }
  return text;
}

std::string InputSamples::json() const {
  nlohmann::json json = nlohmann::json::object();
  for (const Input& input : inputs_) {
    const MediaAccount& account = input.account;
    if (account.kind.empty()) continue;
    json[input.name] = {{"kind", account.kind},
                        {"path", account.path.string()},
                        {"files", account.files},
                        {"left_out", account.left_out},
                        {"steps", account.steps}};
  }
  return json_text(json);
}

Tensor read_array(const SampleSource& source) {
  if (source.array) return *source.array;
  return with_context(fmt::format("file '{}'", source.path.string()), [&] {
    NamedArrays arrays = arrays_of(read_file(source.path));
    if (arrays.size() != 1)
      throw Error(ErrorKind::kInvalidInput,
                  fmt::format("it holds {} arrays, and one is wanted", arrays.size()),
                  "save the one that is meant with numpy.save");
    return std::move(arrays[0].second);
  });
}

Samples read_samples(const SampleSource& source, int64_t count, double scale) {
  const std::string name = source.array ? "the array" : source.path.string();
  Tensor array = read_array(source);
  return with_context(name_of(source), [&] { return Samples(std::move(array), count, scale, name); });
}

void check_given(const SampleRequest& request, const std::string& option) {
  if (!request.empty()) return;
  throw Error(ErrorKind::kInvalidInput, option == "--calibration" ? "no calibration inputs" : "no input data",
              fmt::format("give an array with {}", option));
}

}  // namespace tilewright
