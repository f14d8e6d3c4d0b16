#include "zoo/network_builder.h"
#include "zoo/zoo.h"

namespace tilewright::zoo {

Graph transformer_block(const std::string& name, const BlockShape& shape) {
  NetworkBuilder net(name);
  const auto mlp = [&](ValueId x) { return net.linear(net.gelu(net.linear(x, shape.hidden)), shape.width); };
  const ValueId x = net.input("tokens", {1, shape.tokens, shape.width});
  constexpr double kGain = 3;
  if (shape.norms_first) {
    const ValueId seen = net.add(x, net.self_attention(net.layer_norm(x), shape.heads));
    return net.finish(net.add(seen, mlp(net.layer_norm(seen))), kGain);
  }
  const ValueId seen = net.layer_norm(net.add(x, net.self_attention(x, shape.heads)));
  return net.finish(net.layer_norm(net.add(seen, mlp(seen))), kGain);
}

}  // namespace tilewright::zoo
