// The layers of transformers on tokens: values of rank 2, a row of channels for each token.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "tilewright/overlay/schedule/layer.h"

namespace tilewright::overlay {

// QMatMul, QSoftmax and QLayerNorm.
bool is_token_operator(const Node& node);

// The layer of such a node; nullopt after calling `refuse` with the reason why there is none. `views`: of
// inputs that lie in memory in another way than their shape says.
std::optional<OverlayLayer> find_token_layer(const Graph& graph, const Node& node,
                                             const OverlayHardware& hardware, const SourceViews& views,
                                             const std::function<void(const std::string&)>& refuse);

}  // namespace tilewright::overlay
