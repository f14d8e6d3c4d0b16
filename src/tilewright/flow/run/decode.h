// Text from a bundle that keeps the keys and values of its tokens (`compile --decode`): one run for each
// token, the next one chosen from the logits of the last.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tilewright/base/random.h"
#include "tilewright/flow/model/answer.h"
#include "tilewright/flow/run/engine.h"
#include "tilewright/flow/target/target.h"

namespace tilewright {

class PreparedBundle;

// Whether the network of a bundle takes a token and its position, as form_token_step makes it.
bool decodes(const Bundle& bundle);

// The state of one text: its tokens so far are in the caches.
class Decoder {
 public:
  // Errors (invalid input): the bundle does not decode.
  Decoder(const Bundle& bundle, std::shared_ptr<const Engine> engine,
          const overlay::ProgramEngineOptions& overlay_engine = {});

  // One run: f32 logits of the token after `token`. Errors (invalid input): `token` is outside the
  // vocabulary, or the caches are full.
  std::vector<float> step(int64_t token);

  int64_t position() const { return position_; }      // of the next token
  int64_t capacity() const { return capacity_; }      // tokens of a text
  int64_t vocabulary() const { return vocabulary_; }  // tokens are below it
  // All caches, in the order of the bundle's states.
  std::vector<Tensor> caches() const;
  const Session& session() const { return session_; }

 private:
  const Graph& graph_;
  StateValues states_;  // what the host holds; empty tensors of those in accelerator memory
  Session session_;
  int64_t position_ = 0, capacity_ = 0, vocabulary_ = 0;
};

struct DecodeRequest {
  std::filesystem::path bundle;  // of the file
  std::string hardware;          // another overlay than the file's bundle was compiled for; empty: that one
  // The text before: bytes, or numbers of tokens. One of both.
  std::optional<std::string> prompt;
  std::vector<int64_t> prompt_tokens;
  int64_t tokens = 0;      // to add
  double temperature = 0;  // 0: always the likeliest token
  int64_t top = 0;         // only the likeliest ones are drawn from; 0: all
  uint64_t seed = 1;       // of what is drawn
  EngineRequest engine;
  bool verify = false;  // every step's logits, and at the end the caches, against the integer reference
  std::function<void(int64_t done, int64_t count)> progress = {};
  SharedFolders folders;
};

struct DecodeReport {
  std::vector<int64_t> prompt, added;  // tokens
  std::string text;                    // of what was added; vocabularies of at most 256 tokens are bytes
  Answer answer;
  int64_t mismatches = 0;  // steps whose logits differ from the reference, and caches that do
  std::optional<Error> disagreement;
};

// Errors (invalid input): no prompt, or one outside the vocabulary; a text longer than the caches, said
// before the first step.
DecodeReport decode(const DecodeRequest& request);
// The same with a bundle that is there.
DecodeReport decode(const PreparedBundle& prepared, const DecodeRequest& request);

// The next token: the likeliest, the first of equals, or one drawn by its share at `temperature` > 0 of the
// `top` likeliest (0: of all).
int64_t choose_token(const std::vector<float>& logits, double temperature, int64_t top, Random& random);

}  // namespace tilewright
