// The page and the texts of a report made by hand: everything is in them, escaped, and the page is XML.
#include "tilewright/flow/design/design_page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "tilewright/base/random.h"

namespace tilewright {
namespace {

DesignReport small_report() {
  DesignReport report;
  report.network = "a<b>&\"c\"";
  report.device = "xc7z020";
  report.number_type = "int8";
  report.macs = 4000;
  report.multipliers = 16;
  for (const char* name : {"conv<1>", "pool & sum", "dense"}) {
    DesignLayer layer;
    layer.name = name;
    layer.kind = "convolution";
    layer.place = layer.name == "dense" ? "array" : "lanes";
    layer.array = "4 x 4, dsp";
    layer.macs = 2000;
    layer.multipliers = layer.name == "pool & sum" ? 0 : 16;
    layer.work_cycles = 125;
    layer.cycles = 250;
    layer.weight_bytes = layer.name == "dense" ? 64 : 0;
    layer.bound = "array";
    layer.share_of_peak = 0.5;
    report.layers.push_back(layer);
  }
  report.lanes = {"array", "lanes"};
  report.bars = {{1, 0, 0, 4, 0, 250, 125}, {1, 1, 0, 4, 250, 500, 125}, {0, 2, 0, 1, 0, 750, 125}};
  report.needs = {{"LUT", 500, 1000, 2000}, {"DSP", 30, 20, 40}, {"URAM", 0, 0, 0}};
  report.queues = {{"layer1_queue", 16, 9}, {"layer2_queue", 8, -1}};
  report.estimated_cycles = 760;
  report.estimated_interval = 700;
  report.simulated_cycles = 800;
  report.simulated_interval = 750;
  report.dram_bytes = 4096;
  return report;
}

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == ':'; }

// What breaks the rules of XML in `text`; empty if nothing does. Knows what pages consist of: elements with
// quoted attributes, the five entities, a document type.
std::string xml_problem(const std::string& text) {
  std::vector<std::string> open;
  for (size_t at = 0; at < text.size();) {
    if (text[at] == '&') {
      const size_t end = text.find(';', at);
      static const std::set<std::string> kEntities = {"amp", "lt", "gt", "quot", "apos"};
      if (end == std::string::npos || kEntities.count(text.substr(at + 1, end - at - 1)) == 0) {
        return "a bare ampersand at " + std::to_string(at);
      }
      at = end + 1;
      continue;
    }
    if (text[at] != '<') {
      ++at;
      continue;
    }
    size_t end = at + 1;
    bool quoted = false;
    for (; end < text.size() && (quoted || text[end] != '>'); ++end) {
      if (text[end] == '"') quoted = !quoted;
      if (text[end] == '<') return "'<' inside a tag at " + std::to_string(end);
    }
    if (end == text.size()) return "an endless tag at " + std::to_string(at);
    const bool closing = text[at + 1] == '/', alone = text[end - 1] == '/';
    size_t name_end = at + 1 + (closing ? 1 : 0);
    const size_t name_begin = name_end;
    while (is_name(text[name_end])) ++name_end;
    const std::string name = text.substr(name_begin, name_end - name_begin);
    if (text[at + 1] != '!') {
      if (name.empty()) return "a tag without a name at " + std::to_string(at);
      if (closing) {
        if (open.empty() || open.back() != name) return "</" + name + "> closes nothing";
        open.pop_back();
      } else if (!alone) {
        open.push_back(name);
      }
    }
    at = end + 1;
  }
  return open.empty() ? "" : "<" + open.back() + "> stays open";
}

TEST(XmlChecker, FindsWhatIsWrong) {
  EXPECT_EQ(xml_problem("<!DOCTYPE html><a x=\"1\"><b/>&lt;</a>"), "");
  EXPECT_NE(xml_problem("<a><b></a>"), "");
  EXPECT_NE(xml_problem("<a>x & y</a>"), "");
  EXPECT_NE(xml_problem("<a>"), "");
  EXPECT_NE(xml_problem("a < b"), "");
}

TEST(DesignPage, IsWellFormedAndEscaped) {
  const std::string page = design_page(small_report());
  EXPECT_EQ(xml_problem(page), "");
  EXPECT_EQ(page.find("conv<1>"), std::string::npos);
  EXPECT_EQ(page.find("<script"), std::string::npos);
  for (const char* text : {"conv&lt;1&gt;", "pool &amp; sum", "dense", "a&lt;b&gt;&amp;&quot;c&quot;",
                           "layer1_queue", "30 of 20 (150.0 %)", "800", "-5.0 %"}) {
    EXPECT_NE(page.find(text), std::string::npos) << text;
  }
}

TEST(DesignPage, OverfullBarsAreMarked) {
  DesignReport report = small_report();
  const auto marks = [](const std::string& page) {
    size_t count = 0;
    for (size_t at = page.find("fill=\"#d6604d\" "); at != std::string::npos;
         at = page.find("fill=\"#d6604d\" ", at + 1)) {
      ++count;
    }
    return count;
  };
  report.bars.clear();
  const std::string over = design_page(report);
  report.needs[1].budget = 40;
  const std::string within = design_page(report);
  EXPECT_NE(over.find("fill=\"#d6604d\"><title>the design needs 30"), std::string::npos);
  EXPECT_EQ(within.find("fill=\"#d6604d\"><title>the design needs 30"), std::string::npos);
  EXPECT_EQ(marks(over), marks(within));
}

TEST(DesignPage, StaysWellFormedForAnything) {
  Random random(3);
  const std::string alphabet = "a<>&\"'\x01 /=-";
  for (int round = 0; round < 50; ++round) {
    DesignReport report = small_report();
    const auto word = [&] {
      std::string text;
      for (int64_t i = random.between(0, 12); i > 0; --i) {
        text += alphabet[size_t(random.between(0, int64_t(alphabet.size()) - 1))];
      }
      return text;
    };
    report.network = word();
    report.device = word();
    report.streaming = random.chance(0.5);
    if (random.chance(0.3)) report.simulated_cycles = report.simulated_interval = 0;
    if (random.chance(0.2)) report.bars.clear();
    if (random.chance(0.2)) report.queues.clear();
    if (random.chance(0.2)) report.multipliers = 0;
    for (DesignLayer& layer : report.layers) {
      layer.name = word();
      layer.bound = word();
      layer.macs = random.between(0, 1000);
      layer.cycles = random.between(0, 1000);
      layer.weight_bytes = random.between(0, 100);
    }
    for (std::string& lane : report.lanes) lane = word();
    EXPECT_EQ(xml_problem(design_page(report)), "") << round;
    EXPECT_TRUE(nlohmann::json::accept(to_json(report)));
  }
}

TEST(DesignReport, TellsTimeAndShareOfPeak) {
  const DesignReport report = small_report();
  EXPECT_DOUBLE_EQ(report.milliseconds(), 800 / 1e5);
  EXPECT_DOUBLE_EQ(report.images_per_second(), 1e8 / 750);
  EXPECT_DOUBLE_EQ(report.share_of_peak(), 4000.0 / (16 * 750));
  const std::string text = to_string(report);
  for (const char* part : {"simulated: 800 cycles", "-5.0 %", "150.0 %", "pool & sum"}) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }
  const nlohmann::json json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json["layers"].size(), 3u);
  EXPECT_EQ(json["queues"][0]["highest_level"], 9);
  EXPECT_FALSE(json["queues"][1].contains("highest_level"));
}

}  // namespace
}  // namespace tilewright
