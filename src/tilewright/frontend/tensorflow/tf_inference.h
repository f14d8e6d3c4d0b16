// The part of a TensorFlow graph that computes a network's outputs, without what only training needs.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tilewright/base/error.h"
#include "tilewright/frontend/tensorflow/tensorflow_reader.h"
#include "tilewright/frontend/tensorflow/tf_model.h"

namespace tilewright {

struct TfNetwork {
  std::vector<TfNode> nodes;  // in topological order; every reference is to an earlier node
  struct Output {
    std::string name;
    TfRef ref;
  };
  std::vector<Output> outputs;
};

// The outputs: those in the options, else the signature's, else every node that is not read and does not
// belong to training, saving or summaries. Among inferred outputs, an ArgMax is left to the reader of the
// scores. Errors go to `diagnostics`: outputs or feeds that are not in the file, no output, a cycle.
TfNetwork select_inference(TfModel model, const TensorflowOptions& options, TfStages& stages,
                           Diagnostics& diagnostics);

// Removes from `network`: forwarding operators (Identity and its relatives), dropout, branches of Switch and
// Merge whose predicate is known, placeholders that only training feeds. Variables become constants.
// Assumptions (keep_prob is 1, is_training is false) give a warning, undecidable cases an error.
void fold_training(TfNetwork& network, Diagnostics& diagnostics);

// Convolutions between SpaceToBatchND and BatchToSpaceND become dilated ones. Of a pruned network.
void fold_dilations(TfNetwork& network);

// Removes nodes that no output needs.
void prune(TfNetwork& network);

bool is_variable(const TfNode& node);

// The values of variables that have none yet: drawn (graph/lcg_weights.h, tensor number k is the
// k-th variable of the network in the file's order), or an error for each.
void fill_variables(TfNetwork& network, const TensorflowOptions& options, Diagnostics& diagnostics);

// What is counted of a graph, nodes in any order.
TfStage count_stage(const std::vector<TfNode>& nodes);

// How messages call a node.
std::string tf_label(const TfNode& node);

}  // namespace tilewright
