// One machine, problem and mapping in many spellings of Timeloop files: the forms of three versions,
// sections in any order and in one file or several, names with paths and ranges, quotes, flow and block
// style, anchors, keys with - or _. All of them say the same, and so must what is read.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "support/random_seed_testing.h"
#include "tilewright/base/random.h"
#include "tilewright/spatial/timeloop/timeloop_import.h"

namespace tilewright {
namespace {

struct Memory {
  std::string name;
  int64_t fanout_x = 1, fanout_y = 1;  // into this memory
  int64_t words = 0;                   // 0: main memory
  double read = 0, write = 0, update = 0;
  uint32_t keeps = 7;  // inputs, weights, outputs
  std::map<std::string, int64_t> temporal, spatial;
  std::vector<std::string> permutation;  // innermost first
  int split = 0;
};

// What all spellings describe; memories outermost first.
struct Design {
  std::vector<Memory> memories;
  int64_t macs_x = 1;
  double mac_energy = 1;
  std::map<std::string, int64_t> sizes;
  int64_t stride = 1, dilation = 1;
};

const std::vector<std::string> kDimensions{"R", "S", "P", "Q", "C", "K", "N"};
const std::vector<std::string> kSpaces{"Inputs", "Weights", "Outputs"};

template <typename T>
void shuffle(std::vector<T>& list, Random& random) {
  for (size_t i = list.size(); i > 1; --i)
    std::swap(list[i - 1], list[size_t(random.between(0, int64_t(i) - 1))]);
}

Design random_design(Random& random) {
  Design design;
  for (const std::string& d : kDimensions) design.sizes[d] = 1;
  const int levels = int(random.between(2, 4));
  for (int l = 0; l < levels; ++l) {
    Memory memory;
    memory.name = fmt::format("{}{}", random.chance(0.5) ? "spad" : "Buffer_", l);
    if (l > 0) {
      memory.words = int64_t{16} << random.between(4, 8);
      if (random.chance(0.5)) memory.fanout_x = random.between(2, 5);
      if (random.chance(0.3)) memory.fanout_y = random.between(2, 4);
      if (random.chance(0.3)) memory.keeps = uint32_t(random.between(1, 7));
    }
    memory.read = double(random.between(1, 400)) / 4;
    memory.write = double(random.between(1, 400)) / 4;
    memory.update = double(random.between(1, 400)) / 4;
    memory.permutation = kDimensions;
    shuffle(memory.permutation, random);
    for (const std::string& d : kDimensions) {
      const int64_t factor = random.chance(0.4) ? random.between(2, 3) : 1;
      memory.temporal[d] = factor;
      design.sizes[d] *= factor;
    }
    design.memories.push_back(std::move(memory));
  }
  // One dimension along each axis of every fan-out.
  for (int l = 0; l + 1 < levels; ++l) {
    Memory& memory = design.memories[size_t(l)];
    const Memory& inner = design.memories[size_t(l) + 1];
    memory.split = 1;
    for (const std::string& d : kDimensions) memory.spatial[d] = 1;
    memory.spatial[memory.permutation[0]] = inner.fanout_x;
    memory.spatial[memory.permutation[1]] = inner.fanout_y;
    design.sizes[memory.permutation[0]] *= inner.fanout_x;
    design.sizes[memory.permutation[1]] *= inner.fanout_y;
  }
  design.mac_energy = double(random.between(1, 40)) / 8;
  design.stride = random.between(1, 3);
  design.dilation = random.between(1, 2);
  return design;
}

// Writes a design, drawing every choice of form.
class Speller {
 public:
  Speller(const Design& design, Random& random) : design_(design), random_(random) {}

  std::vector<TimeloopText> files() {
    std::vector<std::string> sections{architecture(), energies(), problem(), mapping()};
    if (random_.chance(0.3)) sections.push_back("mapper: {algorithm: random_pruned}\n");
    if (random_.chance(0.3))
      sections.push_back(sections[size_t(random_.between(0, 3))]);  // a dump repeats it
    shuffle(sections, random_);
    std::vector<TimeloopText> texts;
    std::vector<std::string> known;
    for (const std::string& section : sections) {
      // Keys of a file are unique.
      const bool again = std::find(known.begin(), known.end(), section) != known.end();
      if (texts.empty() || again || random_.chance(0.5)) {
        texts.push_back({fmt::format("f{}.yaml", texts.size()), ""});
        known.clear();
      }
      texts.back().text += section;
      known.push_back(section);
    }
    if (random_.chance(0.2)) texts.push_back({"empty.yaml", "mapspace:\nART: {tables: []}\n"});
    return texts;
  }

 private:
  std::string quoted(const std::string& text) {
    const int64_t kind = random_.between(0, 2);
    return kind == 0 ? text : kind == 1 ? "'" + text + "'" : "\"" + text + "\"";
  }
  std::string key(std::string text) {
    if (random_.chance(0.3)) std::replace(text.begin(), text.end(), '_', '-');
    return text;
  }
  std::string number(int64_t value) {
    return random_.chance(0.1) && value % 2 == 0 ? fmt::format("{} * 2", value / 2)
                                                 : fmt::format("{}", value);
  }

  std::string architecture() {
    const int64_t form = random_.between(0, 2);
    return form == 0 ? storage_lists() : form == 1 ? subtrees() : nodes();
  }

  // Instances of each memory, along x and in all; the last is the arithmetic's.
  std::vector<std::pair<int64_t, int64_t>> instances() const {
    std::vector<std::pair<int64_t, int64_t>> out;
    int64_t x = 1, all = 1;
    for (const Memory& memory : design_.memories) {
      x *= memory.fanout_x;
      all *= memory.fanout_x * memory.fanout_y;
      out.push_back({x, all});
    }
    out.push_back({x, all});
    return out;
  }

  std::string storage_lists() {
    const auto counts = instances();
    const std::string word = random_.chance(0.5) ? key("word_bits") : "datawidth";
    std::string arithmetic = fmt::format("  arithmetic: {{name: {}, instances: {}, meshX: {}, {}: 16}}\n",
                                         quoted("MACs"), counts.back().second, counts.back().first, word);
    std::string storage = "  storage:\n";
    for (size_t l = design_.memories.size(); l-- > 0;) {
      const Memory& memory = design_.memories[l];
      storage += fmt::format("  - {{name: {}, {}: 16, {}: 1", quoted(memory.name), word, key("block_size"));
      storage += memory.words == 0 ? fmt::format(", technology: {}", quoted("DRAM"))
                                   : fmt::format(", entries: {}", number(memory.words));
      if (counts[l].second > 1 || random_.chance(0.5))
        storage += fmt::format(", instances: {}, meshX: {}", counts[l].second, counts[l].first);
      if (random_.chance(0.3)) storage += fmt::format(", {}: 1", key("cluster_size"));
      storage += "}\n";
    }
    return (random_.chance(0.5) ? "arch:\n" : "architecture:\n") +
           (random_.chance(0.5) ? arithmetic + storage : storage + arithmetic);
  }

  std::string attributes(const Memory& memory) {
    std::string text = fmt::format("{}: 16", random_.chance(0.5) ? "datawidth" : key("word_bits"));
    if (memory.words == 0) return text + ", type: LPDDR4";
    switch (random_.between(0, 2)) {
      case 0:
        return text + fmt::format(", depth: {}, width: 16", number(memory.words));
      case 1:
        return text + fmt::format(", memory_depth: {}, memory_width: 16", number(memory.words));
      default:
        return text + fmt::format(", entries: {}", number(memory.words));
    }
  }

  std::string component_class(const Memory& memory) {
    return memory.words == 0 ? "DRAM" : random_.chance(0.5) ? "smartbuffer_RF" : "SRAM";
  }

  std::string subtrees() {
    std::string text = "architecture:\n";
    if (random_.chance(0.5)) text += "  version: 0.3\n";
    text += "  subtree:\n  - name: system\n";
    std::string indent = "    ";
    const auto counts = instances();
    for (size_t l = 0; l < design_.memories.size(); ++l) {
      const Memory& memory = design_.memories[l];
      const int64_t fan = memory.fanout_x * memory.fanout_y;
      if (fan > 1) {
        text += indent + "subtree:\n" + indent +
                fmt::format("- name: {}\n", quoted(fmt::format("tile{}[0..{}]", l, fan - 1)));
        indent += "  ";
      } else if (l > 0) {
        text += indent + "subtree:\n" + indent + fmt::format("- name: tile{}\n", l);
        indent += "  ";
      }
      text += indent + "local:\n" + indent +
              fmt::format("- {{name: {}, class: {}, attributes: {{{}, meshX: {}}}}}\n", quoted(memory.name),
                          component_class(memory), attributes(memory), counts[l].first);
      if (l + 1 == design_.memories.size()) {
        text += indent +
                fmt::format("- {{name: MACs, class: intmac, attributes: {{datawidth: 16, meshX: {}}}}}\n",
                            counts.back().first);
      }
    }
    return text;
  }

  std::string nodes() {
    std::string text = "architecture:\n  version: 0.4\n  nodes:\n";
    if (random_.chance(0.5)) text += "  - !Container {name: system, attributes: {technology: 45nm}}\n";
    for (const Memory& memory : design_.memories) {
      if (random_.chance(0.2)) text += "  - !Nothing\n";
      std::string spatial;
      if (memory.fanout_x > 1) spatial += fmt::format("meshX: {}", memory.fanout_x);
      if (memory.fanout_y > 1)
        spatial += fmt::format("{}meshY: {}", spatial.empty() ? "" : ", ", memory.fanout_y);
      if (!spatial.empty()) spatial = fmt::format(", spatial: {{{}}}", spatial);
      text += fmt::format("  - !Component {{name: {}, class: {}, attributes: {{{}}}{}}}\n",
                          quoted(memory.name), component_class(memory), attributes(memory), spatial);
    }
    return text + "  - !Component {name: MACs, class: intmac, attributes: {datawidth: 16}}\n";
  }

  // The name of a component in a table: with its path, with the range of its container, with its own.
  std::string table_name(const std::string& name, int64_t count) {
    switch (random_.between(0, 4)) {
      case 0:
        return name;
      case 1:
        return "system." + name;
      case 2:
        return fmt::format("'system.chip.PE[0..{}].{}'", count - 1, name);
      case 3:
        return fmt::format("\"{}[1..{}]\"", name, count);
      default:
        return fmt::format("'a.b[0..3].{}[0..{}]'", name, count - 1);
    }
  }

  std::string energies() {
    std::vector<std::string> tables;
    const auto counts = instances();
    for (size_t l = 0; l < design_.memories.size(); ++l) {
      const Memory& m = design_.memories[l];
      std::vector<std::string> actions{
          fmt::format("{{name: {}, energy: {}}}", random_.chance(0.5) ? "read" : "random_read", m.read),
          fmt::format("{{name: {}, energy: {}}}", random_.chance(0.5) ? "write" : "random_fill", m.write),
          fmt::format("{{name: {}, energy: {}}}", random_.chance(0.5) ? "update" : "random_update",
                      m.update)};
      if (random_.chance(0.3)) actions.push_back("{name: leak, energy: 0}");
      if (random_.chance(0.3))
        actions.push_back(
            fmt::format("{{name: read, arguments: {{data_delta: 0}}, energy: {}}}", m.read / 2));
      shuffle(actions, random_);
      tables.push_back(fmt::format("  - {{name: {}, actions: [{}]}}\n", table_name(m.name, counts[l].second),
                                   fmt::join(actions, ", ")));
    }
    const char* computes[] = {"compute", "mac", "mac_random", "mult", "mult_random"};
    tables.push_back(fmt::format(
        "  - {{name: {}, actions: [{{name: {}, energy: {}}}, {{name: idle, energy: 0}}]}}\n",
        table_name("MACs", counts.back().second), computes[random_.between(0, 4)], design_.mac_energy));
    shuffle(tables, random_);
    return fmt::format("ERT:\n  version: 0.4\n  tables:\n{}", fmt::join(tables, ""));
  }

  std::string instance() {
    std::vector<std::string> sizes;
    for (const auto& [name, size] : design_.sizes) sizes.push_back(fmt::format("{}: {}", name, size));
    sizes.push_back(fmt::format("Wstride: {}", design_.stride));
    sizes.push_back(fmt::format("Hdilation: {}", design_.dilation));
    shuffle(sizes, random_);
    return fmt::format("{}", fmt::join(sizes, ", "));
  }

  std::string problem() {
    const std::string sizes = instance();
    switch (random_.between(0, 4)) {
      case 0:  // the shape by its name, or not stated at all
        return "problem: {" + sizes + "}\n";
      case 1:
        return fmt::format("problem: {{shape: {}, {}}}\n", key("cnn_layer"), sizes);
      case 2:
        return fmt::format("problem:\n  shape: {}\n  instance: {{{}}}\n", quoted("cnn-layer"), sizes);
      case 3:
        return fmt::format("problem:\n  instance: &sizes {{{}}}\n  shape:\n{}", sizes, shape("    "));
      default:
        return fmt::format("problem:\n  shape:\n{}  instance: {{{}}}\n", shape("    "), sizes);
    }
  }

  std::string shape(const std::string& indent) {
    const std::string list = random_.chance(0.5)   ? "[R, S, P, Q, C, K, N]"
                             : random_.chance(0.5) ? "R S P Q C K N"
                                                   : "'R, S, P, Q, C, K, N'";
    const bool shared = random_.chance(0.3);
    std::string text =
        indent + "name: cnn_layer\n" + indent + "dimensions: " + list + "\n" + indent + "coefficients:\n";
    std::vector<std::string> names{"Wstride", "Hstride", "Wdilation", "Hdilation"};
    shuffle(names, random_);
    for (const std::string& name : names)
      text += indent + fmt::format("- {{name: {}, default: 1}}\n", quoted(name));
    std::vector<std::string> spaces{
        "{name: Weights, projection: [[[C]], [[K]], [[R]], [[S]]]}",
        "{name: Inputs, projection: [[[N]], [[C]], [[R, Wdilation], [P, Wstride]], [[S, Hdilation], [Q, "
        "Hstride]]]}",
        fmt::format("{{name: Outputs, projection: [[[N]], [[K]], [[Q]], [[P]]], {}: {}}}", key("read_write"),
                    random_.chance(0.5) ? "true" : "True")};
    if (shared) spaces[0] = "{<<: {name: Weights}, projection: &w [[[C]], [[K]], [[R]], [[S]]]}";
    shuffle(spaces, random_);
    text += indent + key("data_spaces") + ":\n";
    for (const std::string& space : spaces) text += indent + "- " + space + "\n";
    return text;
  }

  // Factors; those of 1 may be left out, and one that the others imply may be 0 or -1.
  std::string factors(const std::map<std::string, int64_t>& all, bool residue) {
    std::vector<std::string> words;
    const char* equals = random_.chance(0.5) ? "=" : "";
    for (const auto& [name, factor] : all) {
      if (factor == 1 && random_.chance(0.5)) continue;
      const bool rest = residue && random_.chance(0.3);
      words.push_back(name + equals + (rest ? "0" : fmt::format("{}", factor)));
    }
    shuffle(words, random_);
    const int64_t form = random_.between(0, 2);
    if (form == 0) return fmt::format("[{}]", fmt::join(words, ", "));
    return quoted_list(words, form == 1 ? " " : ",");
  }

  std::string quoted_list(const std::vector<std::string>& words, const std::string& between) {
    return fmt::format("'{}'", fmt::join(words, between));
  }

  std::string permutation(const std::vector<std::string>& order) {
    switch (random_.between(0, 3)) {
      case 0:
        return fmt::format("{}", fmt::join(order, ""));
      case 1:
        return fmt::format("[{}]", fmt::join(order, ", "));
      case 2:
        return quoted_list(order, " ");
      default:
        return quoted_list(order, ",");
    }
  }

  std::string mapping() {
    std::vector<std::string> directives;
    for (size_t l = 0; l < design_.memories.size(); ++l) {
      const Memory& m = design_.memories[l];
      std::vector<std::string> kept, bypassed;
      for (size_t s = 0; s < 3; ++s) ((m.keeps >> s & 1u) != 0 ? kept : bypassed).push_back(kSpaces[s]);
      directives.push_back(fmt::format("{{target: {}, type: {}, factors: {}, permutation: {}}}",
                                       quoted(m.name), random_.chance(0.5) ? "temporal" : "Temporal",
                                       factors(m.temporal, l == 0), permutation(m.permutation)));
      if (!m.spatial.empty() && l + 1 < design_.memories.size()) {
        directives.push_back(
            fmt::format("{{target: {}, type: spatial, factors: {}, permutation: {}, split: {}}}",
                        quoted(m.name), factors(m.spatial, false), permutation(m.permutation), m.split));
      }
      const char* types[] = {"bypass", "bypassing", "datatype", "dataspace"};
      directives.push_back(fmt::format("{{target: {}, type: {}, keep: [{}], bypass: [{}]}}", m.name,
                                       types[random_.between(0, 3)], fmt::join(kept, ", "),
                                       fmt::join(bypassed, ", ")));
    }
    shuffle(directives, random_);
    std::string text = "mapping:\n";
    for (const std::string& directive : directives) text += "- " + directive + "\n";
    return text;
  }

  const Design& design_;
  Random& random_;
};

std::string all_texts(const std::vector<TimeloopText>& files) {
  std::string text;
  for (const TimeloopText& file : files) text += "# " + file.name + "\n" + file.text;
  return text;
}

void expect_equal(TimeloopImport one, TimeloopImport other) {
  // Named by the file; the place of rank names is not stated everywhere.
  one.hardware->name = other.hardware->name;
  one.mapspace->hardware.name = other.mapspace->hardware.name;
  one.workload->name = other.workload->name;
  one.mapspace->workload.name = other.mapspace->workload.name;
  EXPECT_EQ(*one.hardware, *other.hardware);
  EXPECT_EQ(*one.workload, *other.workload);
  EXPECT_EQ(print_mapping(*one.workload, *one.mapping), print_mapping(*other.workload, *other.mapping));
  EXPECT_EQ(one.mapspace->constraints, other.mapspace->constraints);
}

TEST(TimeloopSpellingClass, EverySpellingSaysTheSame) {
  const int64_t cases = test_cases(120);
  for (int64_t i = 0; i < cases; ++i) {
    Random random(test_seed() * 1'000'003 + uint64_t(i));
    const Design design = random_design(random);
    std::vector<TimeloopText> one = Speller(design, random).files(), other = Speller(design, random).files();
    SCOPED_TRACE(testing::Message() << "seed " << test_seed() << ", case " << i << "\n"
                                    << all_texts(one) << "-------- and --------\n"
                                    << all_texts(other));
    try {
      const TimeloopImport first = import_timeloop(one);
      ASSERT_TRUE(first.hardware && first.workload && first.mapping && first.mapspace);
      // What is read is what was drawn.
      for (size_t l = 0; l < design.memories.size(); ++l) {
        const ArrayLevel& level = first.hardware->levels[l];
        ASSERT_EQ(level.name, design.memories[l].name);
        ASSERT_EQ(level.read_energy, design.memories[l].read);
        ASSERT_EQ(level.update_energy, design.memories[l].update);
        if (l > 0) {
          ASSERT_EQ(level.capacity_words, design.memories[l].words);
        }
      }
      ASSERT_EQ(first.hardware->mac_energy, design.mac_energy);
      expect_equal(first, import_timeloop(other));
    } catch (const Error& error) {
      FAIL() << error.what();
    }
    if (testing::Test::HasFailure()) break;
  }
  RecordProperty("cases", int(cases));
}

}  // namespace
}  // namespace tilewright
