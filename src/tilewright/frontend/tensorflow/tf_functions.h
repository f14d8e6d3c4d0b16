// TensorFlow 2 exports keep a network in functions of the file's library; the graph itself only calls them.
#pragma once

namespace tilewright::graphdef {
class GraphDef;
}

namespace tilewright {

// Inlines the body of every called function at its call; its nodes get the call's name as prefix.
// Errors (invalid input): functions that call themselves or expand to over 200,000 nodes or over 64 MiB and
// eight times the file's bytes, wrong numbers of arguments, functions and outputs that are not in the file.
void inline_functions(graphdef::GraphDef& graph);

}  // namespace tilewright
