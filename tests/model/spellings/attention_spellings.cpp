// Operators in the order that files of these exporters have them.
#include <cmath>

#include "model/spellings/spellings.h"
#include "support/transform/layer_builder_testing.h"

namespace tilewright {
namespace {

constexpr int64_t kSentences = 2, kWords = 5, kHeads = 4, kWidth = 8, kWhole = kHeads * kWidth;
const float kRoot = std::sqrt(float(kWidth));

class WrittenAttention {
 public:
  WrittenAttention() : x(b.input({kSentences, kWords, kWhole})) {}

  ValueId op(const char* name, std::vector<ValueId> inputs) { return b.node(name, std::move(inputs)); }
  ValueId number(float value) { return b.constant(Tensor::scalar(value)); }
  ValueId projection() {
    return b.add(op("MatMul", {x, b.uniform({kWhole, kWhole})}), b.uniform({kWhole}, -1, 1, "bias"));
  }
  ValueId heads(ValueId of, const std::vector<int64_t>& perm = {0, 2, 1, 3}) {
    return b.transpose(b.reshape(of, {kSentences, kWords, kHeads, kWidth}), perm);
  }
  ValueId softmax(ValueId of) { return b.node("Softmax", {of}, {{"axis", int64_t{-1}}}); }
  Graph end(ValueId p) {
    const ValueId y = b.transpose(op("MatMul", {p, heads(projection())}), {0, 2, 1, 3});
    return b.finish({b.reshape(y, {kSentences, kWords, kWhole})});
  }

  LayerBuilder b;
  const ValueId x;
};

Graph attention_bert(bool) {
  WrittenAttention w;
  const ValueId q = w.heads(w.projection()), k = w.heads(w.projection(), {0, 2, 3, 1});
  const ValueId scores = w.op("Div", {w.op("MatMul", {q, k}), w.number(kRoot)});
  const ValueId keep = w.b.input({kSentences, 1, 1, kWords}, "attention_mask");
  const ValueId mask = w.op("Mul", {w.op("Sub", {w.number(1), keep}), w.number(-3.4e38f)});
  return w.end(w.softmax(w.op("Add", {scores, mask})));
}

Graph attention_pytorch(bool) {
  WrittenAttention w;
  const ValueId root = w.op("Sqrt", {w.op("Div", {w.number(1), w.op("Sqrt", {w.number(kWidth)})})});
  const ValueId q = w.op("Mul", {w.heads(w.projection()), root});
  const ValueId turned = w.b.transpose(w.heads(w.projection()), {0, 1, 3, 2});
  return w.end(w.softmax(w.op("MatMul", {q, w.op("Mul", {turned, root})})));
}

Graph attention_gpt2(bool) {
  WrittenAttention w;
  const ValueId q = w.heads(w.projection()), k = w.heads(w.projection(), {0, 2, 3, 1});
  const ValueId scores = w.op("Div", {w.op("MatMul", {q, k}), w.number(kRoot)});
  Tensor causal(ElementType::kBool, Shape{1, 1, kWords, kWords});
  for (int64_t i = 0; i < causal.size(); ++i) causal.set_integer(i, i % kWords <= i / kWords);
  return w.end(w.softmax(w.op("Where", {w.b.constant(causal), scores, w.number(-3.4e38f)})));
}

Graph attention_vision(bool) {
  WrittenAttention w;
  const ValueId q = w.op("Mul", {w.projection(), w.number(1 / kRoot)});
  const std::vector<int64_t> merged{kSentences * kHeads, kWords, kWidth};
  const ValueId a = w.b.reshape(w.heads(q), merged), k = w.b.reshape(w.heads(w.projection()), merged);
  const ValueId p = w.softmax(w.op("MatMul", {a, w.b.transpose(k, {0, 2, 1})}));
  return w.end(w.b.reshape(p, {kSentences, kHeads, kWords, kWords}));
}

// Scores go through a tanh before they are softened.
Graph attention_with_cap(bool) {
  WrittenAttention w;
  const ValueId q = w.heads(w.projection()), k = w.heads(w.projection(), {0, 2, 3, 1});
  const ValueId scores = w.op("Div", {w.op("MatMul", {q, k}), w.number(kRoot * 50)});
  return w.end(w.softmax(w.op("Mul", {w.op("Tanh", {scores}), w.number(50)})));
}

}  // namespace

const std::vector<Spelling>& attention_spellings() {
  static const std::vector<Spelling> kAll = {
      {"HuggingFace BERT", attention_bert},        {"PyTorch dynamo", attention_pytorch},
      {"HuggingFace GPT-2", attention_gpt2},       {"PyTorch MultiheadAttention", attention_vision},
      {"HuggingFace Gemma 2", attention_with_cap},
  };
  return kAll;
}

}  // namespace tilewright
