#include "adapters/console/console_state.hpp"

#include "messages/contracts/identity.hpp"

#include <caf/all.hpp>

namespace bureau::console {

caf::result<caf::ok_atom>
console_state::on_present(const ask_presentation& what) {
  auto place = contracts::parse_contract_id(what.conversation_id);
  if (!place)
    return place.error();
  if (!started_ || port_ended_ || output_lost_ || !core_->takes_lines())
    return make_failure(errc::not_ready, "The console is not open.");
  carry_out(core_->asked(place->address.conversation_id, what.ask));
  return caf::ok_atom_v;
}

void console_state::on_posted(const status_post& what) {
  auto place = contracts::parse_contract_id(what.conversation_id);
  if (!place || !started_ || port_ended_ || output_lost_)
    return;
  outbound line;
  line.rank = outbound_class::control;
  line.content = outbound_content::notice;
  line.conversation = place->address;
  line.message_id = what.key;
  line.text = "_" + what.text + "_";
  core_->met(line.conversation.conversation_id);
  print(0, screen_->show(line, core_->next_id(now())));
}

void console_state::apply(effect::cancel_ask& item) {
  self_->send(deps_.interaction, atom::cancel_v, item.conversation_id);
}

void console_state::apply(effect::answer& item) {
  kit::bounded_request(self_, deps_.interaction, limits::mailbox_timeout,
                       atom::submit_v, std::move(item.submission))
    .then(
      [this, name = item.name](const contracts::ask_submission_result& result) {
        if (result.refusal)
          carry_out(core_->answer_refused(name, result));
      },
      [this, name = item.name](caf::error&) { look_at_question(name); });
}

void console_state::look_at_question(const std::string& asked) {
  kit::bounded_request(
    self_, deps_.interaction, limits::mailbox_timeout, atom::read_v,
    contracts::contract_id({platform_id::console, asked}, asked))
    .then(
      [this, asked](const pending_ask& open) {
        contracts::ask_submission_result result;
        result.snapshot = open.ask;
        carry_out(core_->answer_refused(asked, result));
      },
      [this, asked](caf::error&) {
        carry_out(core_->answer_refused(asked, {}));
      });
}

} // namespace bureau::console
