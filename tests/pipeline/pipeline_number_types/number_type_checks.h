// What the pipeline's layers compute, formula by formula, is what the host engine computes on the lowered
// graph, bit for bit.
#pragma once

#include "tilewright/graph/graph.h"
#include "tilewright/pipeline/network/network.h"

namespace tilewright::pipeline {

// `graph`: lowered; `network`: extracted from it.
void expect_bits_of_the_host(const Graph& graph, const Network& network);

// A float network in 8 bits and in Q10.22; `lookups` of its layers look their activation up.
void expect_both_number_types(const Graph& real, int64_t lookups);

}  // namespace tilewright::pipeline
