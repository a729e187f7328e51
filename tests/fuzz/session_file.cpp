#include "messages/codec/session_tree.hpp"

#include "tests/fuzz/entry.hpp"

using namespace bureau;

namespace {

class counter_entropy final : public entropy {
public:
  uint64_t next() override { return state_ += 0x9E3779B97F4A7C15u; }

private:
  uint64_t state_ = 1;
};

void read_all(const session_tree& tree) {
  auto context = tree.context();
  tree.branch();
  tree.name();
  tree.labels();
  tree.handled_messages(0);
  tree.visit_texts([](uint32_t, const std::string&) {});
  for (uint32_t node = 0; node < tree.nodes().size(); ++node)
    tree.time_of(node);
}

} // namespace

void fuzz::try_input(std::string_view input) {
  counter_entropy chance;
  session_origin origin{&chance, 1'767'225'600'000, "/workspace/x"};
  auto tolerant = session_tree::open(std::string{input}, origin,
                                     session_tree::mode::tolerant);
  if (tolerant)
    read_all(*tolerant.tree);
  auto strict = session_tree::open(std::string{input}, origin);
  if (!strict) {
    require(strict.fault.code == errc::corrupt && !strict.fault.what.empty(),
            "a fault says what");
    return;
  }
  require(bool(tolerant), "what a writer opens a reader opens");
  auto& tree = *strict.tree;
  read_all(tree);
  auto again = session_tree::open(tree.rewritten(), origin);
  require(bool(again), "what is rewritten opens");
  require(again.tree->nodes().size() == tree.nodes().size()
            && again.tree->leaf() == tree.leaf(),
          "rewriting keeps all");
  session_entry entry;
  entry.message = user_message("hello", 1'767'225'600'000);
  auto plan = tree.plan_append({entry}, 1'767'225'600'000, chance);
  require(plan.fault.code == errc::none, "an entry can be appended");
  auto whole = tree.rewritten(plan);
  auto longer = session_tree::open(whole, origin);
  require(bool(longer), "what was appended to opens");
  require(longer.tree->nodes().size() == tree.nodes().size() + 1
            && longer.tree->leaf() == plan.ids.back(),
          "the entry is the leaf");
}
