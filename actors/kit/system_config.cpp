#include "actors/kit/system_config.hpp"

#include "messages/interfaces/artifacts.hpp"
#include "messages/interfaces/events.hpp"
#include "messages/interfaces/executor.hpp"
#include "messages/interfaces/files.hpp"
#include "messages/interfaces/harness.hpp"
#include "messages/interfaces/http.hpp"
#include "messages/interfaces/jobs.hpp"
#include "messages/interfaces/journal.hpp"
#include "messages/interfaces/metrics.hpp"
#include "messages/interfaces/model.hpp"
#include "messages/interfaces/node.hpp"
#include "messages/interfaces/office.hpp"
#include "messages/interfaces/process.hpp"
#include "messages/interfaces/session.hpp"
#include "messages/interfaces/settings.hpp"
#include "messages/interfaces/transport.hpp"
#include "messages/interfaces/watch.hpp"

#include <caf/all.hpp>

#include <algorithm>

namespace bureau::kit {

system_config::system_config(size_t workers) {
  add_message_types<caf::id_block::bureau_common>();
  add_message_types<caf::id_block::bureau_model>();
  add_message_types<caf::id_block::bureau_files>();
  add_message_types<caf::id_block::bureau_journal>();
  add_message_types<caf::id_block::bureau_http>();
  add_message_types<caf::id_block::bureau_process>();
  add_message_types<caf::id_block::bureau_executor>();
  add_message_types<caf::id_block::bureau_harness>();
  add_message_types<caf::id_block::bureau_session>();
  add_message_types<caf::id_block::bureau_office>();
  add_message_types<caf::id_block::bureau_transport>();
  add_message_types<caf::id_block::bureau_settings>();
  add_message_types<caf::id_block::bureau_metrics>();
  add_message_types<caf::id_block::bureau_node>();
  add_message_types<caf::id_block::bureau_jobs>();
  add_message_types<caf::id_block::bureau_artifacts>();
  add_message_types<caf::id_block::bureau_events>();
  add_message_types<caf::id_block::bureau_watch>();
  add_error_category(caf::atom("bureau"), [](uint8_t code, caf::atom_value,
                                             const caf::message& context) {
    return to_string(static_cast<errc>(code)) + caf::to_string(context);
  });
  // One queue whose waiters sleep until there is work: a host is idle most of
  // the time, and a thief that looks for work every now and then is late.
  set("scheduler.policy", caf::atom("sharing"));
  set("scheduler.max-threads", std::max<size_t>(workers, 2));
  // One chatty actor must not hold a worker.
  set("scheduler.max-throughput", size_t{50});
  set("logger.file-verbosity", caf::atom("quiet"));
  set("logger.console-verbosity", caf::atom("quiet"));
}

} // namespace bureau::kit
