// ONNX Runtime in a Node.js process beside a figure's program, for comparisons; onnxruntime_worker.js is its
// other half.
#pragma once

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tilewright/base/file.h"
#include "tilewright/frontend/onnx/onnx_writer.h"
#include "tilewright/graph/graph.h"

namespace tilewright::figures {

class OnnxRuntimeWorker {
 public:
  // `folder` holds node_modules/onnxruntime-node. Errors (invalid input): it does not, or node does not
  // start.
  explicit OnnxRuntimeWorker(const std::filesystem::path& folder) {
    if (folder.empty() || !std::filesystem::exists(folder / "node_modules/onnxruntime-node")) {
      throw Error(ErrorKind::kInvalidInput,
                  "ONNX Runtime is not there: run `npm install onnxruntime-node` in some folder and name "
                  "that folder in "
                  "ONNXRUNTIME_NODE (npm is a package of Debian)");
    }
    scratch_ = std::filesystem::temp_directory_path() / fmt::format("onnxruntime_worker_{}", ::getpid());
    std::filesystem::create_directories(scratch_);
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      throw Error(ErrorKind::kInternal, "no socket pair");
    }
    process_ = ::fork();
    if (process_ == 0) {
      ::dup2(ends[1], 0);
      ::dup2(ends[1], 1);
      const std::string script = TILEWRIGHT_SOURCE_DIR "/bench/figures/model/onnxruntime_worker.js";
      ::execlp("node", "node", script.c_str(), std::filesystem::absolute(folder).c_str(), nullptr);
      ::_exit(127);
    }
    ::close(ends[1]);
    socket_ = ends[0];
  }
  ~OnnxRuntimeWorker() {
    ::close(socket_);
    ::waitpid(process_, nullptr, 0);
    std::error_code ignored;
    std::filesystem::remove_all(scratch_, ignored);
  }
  OnnxRuntimeWorker(const OnnxRuntimeWorker&) = delete;
  OnnxRuntimeWorker& operator=(const OnnxRuntimeWorker&) = delete;

  // Makes `graph` the network that runs, and returns its outputs. Errors (invalid input): what ONNX Runtime
  // says.
  std::vector<Tensor> load(const Graph& graph, const std::vector<Tensor>& inputs) {
    nlohmann::json request{{"load", scratch_ / "model.onnx"}, {"inputs", nlohmann::json::array()}};
    write_onnx(scratch_ / "model.onnx", graph);
    for (size_t i = 0; i < inputs.size(); ++i) {
      const std::filesystem::path file = scratch_ / fmt::format("in{}", i);
      write_file(file, inputs[i].bytes());
      request["inputs"].push_back({{"name", graph.value(graph.inputs[i]).name},
                                   {"type", name_of(inputs[i].type())},
                                   {"dims", inputs[i].shape().dims()},
                                   {"file", file}});
    }
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      request["outputs"].push_back(scratch_ / fmt::format("out{}", i));
    }
    ask(request);
    std::vector<Tensor> outputs;
    for (size_t i = 0; i < graph.outputs.size(); ++i) {
      const Value& value = graph.value(graph.outputs[i]);
      const std::vector<std::byte> bytes = read_file(scratch_ / fmt::format("out{}", i));
      Tensor& output = outputs.emplace_back(value.type, value.shape);
      if (bytes.size() != output.size_bytes()) {
        throw Error(ErrorKind::kInvalidInput, "ONNX Runtime's output '" + value.name + "' has another size");
      }
      std::ranges::copy(bytes, output.mutable_bytes().begin());
    }
    return outputs;
  }

  // Processor seconds of all threads of the process for `count` runs.
  double run(int count) { return ask({{"run", count}})["seconds"].get<double>(); }

 private:
  static const char* name_of(ElementType type) {
    if (type == ElementType::kF32) return "float32";
    if (type == ElementType::kF16) return "float16";
    if (type == ElementType::kI64) return "int64";
    throw Error(ErrorKind::kUnsupported, std::string("no input of type ") + name(type));
  }

  nlohmann::json ask(const nlohmann::json& request) {
    const std::string line = request.dump() + "\n";
    if (::send(socket_, line.data(), line.size(), MSG_NOSIGNAL) != ssize_t(line.size())) {
      throw Error(ErrorKind::kInvalidInput, "node does not run");
    }
    for (;;) {
      const size_t end = received_.find('\n');
      if (end != std::string::npos) {
        const nlohmann::json answer = nlohmann::json::parse(received_.substr(0, end));
        received_.erase(0, end + 1);
        if (answer.contains("error")) {
          throw Error(ErrorKind::kInvalidInput, "ONNX Runtime: " + answer["error"].get<std::string>());
        }
        return answer;
      }
      char bytes[4096];
      const ssize_t got = ::recv(socket_, bytes, sizeof bytes, 0);
      if (got <= 0) throw Error(ErrorKind::kInvalidInput, "node ended early (is it installed?)");
      received_.append(bytes, size_t(got));
    }
  }

  std::filesystem::path scratch_;
  int socket_ = -1;
  pid_t process_ = -1;
  std::string received_;
};

}  // namespace tilewright::figures
