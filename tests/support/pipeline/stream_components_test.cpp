// Queues, forks, joins, widths and windows in RTL against their models in every cycle, their data against
// plain loops, and their speed where nothing waits.
#include <gtest/gtest.h>

#include "support/pipeline/bench_testing.h"
#include "support/pipeline/component_cases_testing.h"
#include "support/pipeline/stream_cases_testing.h"
#include "tilewright/base/error.h"

namespace tilewright::pipeline {
namespace {

using netlist::Parameters;

Parameters window(int64_t size, int64_t blocks, int64_t kernel, int64_t stride, int64_t padding,
                  int64_t out_size, int64_t rows) {
  return {{"AW", int64_t{8}},    {"PI", int64_t{2}}, {"H", size},
          {"W", size},           {"CB", blocks},     {"KH", kernel},
          {"KW", kernel},        {"SH", stride},     {"SW", stride},
          {"PT", padding},       {"PL", padding},    {"HO", out_size},
          {"WO", out_size},      {"OB", int64_t{1}}, {"PAD", int64_t{-3}},
          {"LANES", int64_t{0}}, {"ROWS", rows},     {"KIND", std::string("block")}};
}

Parameters sliding(int64_t kernel, int64_t line, int64_t blocks) {
  return {{"AW", int64_t{8}},  {"PI", int64_t{2}}, {"KH", kernel},         {"KW", kernel},
          {"MAX_WORDS", line}, {"MAX_CB", blocks}, {"REPEAT", int64_t{1}}, {"KIND", std::string("block")}};
}

// Where the busiest stream passes a beat in every cycle once the first window is there.
void add_full_speed(BenchCases& cases) {
  cases.push_back(stream_fifo_case(8, 2, "lutram", 2));
  cases.push_back(stream_fifo_case(8, 3, "block", 3));
  cases.push_back(stream_fork_case(8, 2));
  cases.push_back(stream_join_case(8, 2));
  cases.push_back(stream_width_case(4, 6, 2, 2));
  cases.push_back(stream_width_case(4, 2, 6, 2));
  // Same rate in and out: every word read once, and windows that share rows but are fed fast enough.
  cases.push_back(line_window_case(window(5, 2, 1, 1, 0, 5, 1), 4));
  cases.push_back(line_window_case(window(8, 2, 2, 2, 0, 4, 3), 32));
  cases.push_back(line_window_case(window(9, 1, 3, 3, 0, 3, 5), 32));
  cases.push_back(line_window_case(window(7, 2, 3, 1, 1, 7, 3), 32));
  cases.push_back(line_window_case(window(7, 2, 5, 1, 2, 7, 5), 50));
  cases.push_back(line_window_case(window(8, 2, 3, 2, 1, 4, 4), 40));
  cases.push_back(sliding_window_case(sliding(3, 14, 2), {{7, 7, 2, 1, 1, 1, 1, 7, 7, -3}}, 2));
  cases.push_back(sliding_window_case(sliding(3, 8, 1), {{8, 8, 1, 2, 2, 1, 1, 4, 4, 0}}, 2));
  cases.push_back(sliding_window_case(sliding(5, 6, 1), {{6, 6, 1, 1, 1, 2, 2, 6, 6, 0}}, 2));
  cases.push_back(sliding_window_case(sliding(2, 6, 1), {{6, 6, 1, 2, 2, 0, 0, 3, 3, 0}}, 2));
}

TEST(StreamComponents, EqualTheirModelsUnderAnyStalls) {
  if (const std::string missing = missing_for_rtl(); !missing.empty()) GTEST_SKIP() << missing;
  Random random(20);
  BenchCases cases;
  for (int i = 0; i < 12; ++i) {
    cases.push_back(random_stream_fifo(random));
    cases.push_back(random_stream_width(random));
    cases.push_back(random_line_window(random));
    cases.push_back(random_sliding_window(random));
  }
  // A map that is much smaller than its window: the lag, 32, is longer than the 8 words.
  Parameters large = sliding(5, 8, 8);
  large["COUNT_BITS"] = int64_t{6};
  cases.push_back(sliding_window_case(large, {{1, 1, 8, 1, 1, 2, 2, 1, 1, 0}}));
  for (int i = 0; i < 3; ++i) {
    cases.push_back(random_stream_fork(random));
    cases.push_back(random_stream_join(random));
  }
  add_full_speed(cases);
  const BenchResult result = expect_models_agree(cases);
  EXPECT_GT(result.beats, 100'000u);
}

// The message of what `action` refuses.
template <typename Action>
std::string refusal(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInvalidInput);
    return error.what();
  }
  return "accepted";
}

std::string refused_ports(const std::string& component, const Parameters& parameters) {
  return refusal([&] { component_type(component)->ports(parameters); });
}

void expect_text(const std::string& message, const std::string& text) {
  EXPECT_NE(message.find(text), std::string::npos) << message;
}

TEST(StreamComponents, RefuseParametersThatDoNotFit) {
  const std::string fifo =
      refused_ports("stream_fifo", {{"WIDTH", int64_t{0}}, {"DEPTH", int64_t{0}}, {"KIND", "flash"}});
  expect_text(fifo, "WIDTH is 0, but at least 1 is needed");
  expect_text(fifo, "DEPTH is 0");
  expect_text(fifo, "KIND is 'flash'");
  expect_text(refused_ports("stream_fork", {{"WIDTH", int64_t{0}}}), "WIDTH is 0");
  expect_text(refused_ports("stream_join", {{"WIDTH", int64_t{0}}}), "WIDTH is 0");
  expect_text(
      refused_ports("stream_width", {{"ELEMENT", int64_t{1}}, {"IN", int64_t{2}}, {"OUT", int64_t{3}}}),
      "neither of IN = 2 and OUT = 3 divides the other");
  Parameters p = window(8, 1, 3, 1, 1, 8, 2);
  expect_text(refused_ports("line_window", p), "ROWS is 2, but a window has 3 rows of the image");
  expect_text(refused_ports("line_window", window(8, 1, 3, 1, 1, 10, 3)), "the last of HO rows of windows");
  expect_text(refused_ports("line_window", window(8, 1, 1, 1, 1, 1, 3)), "the last of WO windows of a row");
  p = window(8, 1, 3, 1, 1, 8, 3);
  p["LANES"] = int64_t{1};
  p["OB"] = int64_t{2};
  expect_text(refused_ports("line_window", p), "LANES needs OB = 1");
  p = sliding(16, 4, 5);
  expect_text(refused_ports("sliding_window", p), "at most 15 rows and columns");
  expect_text(refused_ports("sliding_window", p), "MAX_CB is above MAX_WORDS");
  p = sliding(3, 70'000, 1);
  p["COUNT_BITS"] = int64_t{33};
  expect_text(refused_ports("sliding_window", p), "MAX_WORDS is above 65535");
  expect_text(refused_ports("sliding_window", p), "COUNT_BITS is above 32");
}

std::string refused_rows(const SlidingWindowRow& row, Parameters parameters = sliding(3, 16, 2)) {
  return refusal([&] { encode({row}, parameters); });
}

TEST(StreamComponents, RefuseTasksThatAWindowCannotWalk) {
  expect_text(refused_rows({0, 8, 1, 1, 1, 1, 1, 8, 8, 0}), "task 0: sizes and strides are at least 1");
  expect_text(refused_rows({32, 8, 1, 16, 1, 1, 1, 1, 8, 0}), "strides are at most 15");
  expect_text(refused_rows({8, 9, 2, 1, 1, 1, 1, 8, 9, 0}), "a row of 18 words exceeds MAX_WORDS");
  expect_text(refused_rows({8, 1, 1, 1, 1, 1, 1, 8, 1, 0}), "a row needs at least 2 words");
  expect_text(refused_rows({8, 2, 3, 1, 1, 1, 1, 8, 2, 0}), "more words per pixel than MAX_CB");
  expect_text(refused_rows({8, 8, 1, 1, 1, 3, 1, 8, 8, 0}), "padding covers a whole window");
  expect_text(refused_rows({8, 8, 1, 1, 1, 1, 1, 9, 8, 0}), "more windows than pixels");
  Parameters p = sliding(3, 16, 2);
  p["REPEAT"] = int64_t{2};
  p["COUNT_BITS"] = int64_t{4};
  expect_text(refused_rows({8, 8, 2, 1, 1, 1, 1, 8, 8, 0}, p), "REPEAT needs one word per pixel");
  expect_text(refused_rows({8, 8, 2, 1, 1, 1, 1, 8, 8, 0}, p), "more words than COUNT_BITS can count");
  Parameters large = sliding(5, 8, 8);
  large["COUNT_BITS"] = int64_t{5};
  expect_text(refused_rows({1, 1, 8, 1, 1, 2, 2, 1, 1, 0}, large), "a longer lag than COUNT_BITS can count");
  EXPECT_EQ(sliding_window_count_bits({1, 1, 8, 1, 1, 2, 2, 1, 1, 0}, 5, 5), 6);
  p["TABLE"] = std::string("nowhere.hex");
  expect_text(refusal([&] { component_type("sliding_window")->cycle_model(p, {}); }),
              "TABLE 'nowhere.hex' does not have 1 rows");
}

TEST(StreamComponents, TasksSurviveTheirTable) {
  const Parameters p = sliding(3, 16, 2);
  const std::vector<SlidingWindowRow> rows = {{8, 8, 2, 1, 2, 1, 0, 8, 4, -128},
                                              {5, 7, 1, 3, 1, 2, 2, 2, 7, 127}};
  EXPECT_EQ(decode_sliding_window(encode(rows, p), p), rows);
}

}  // namespace
}  // namespace tilewright::pipeline
