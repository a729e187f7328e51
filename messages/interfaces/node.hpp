#pragma once

#include "messages/interfaces/channel.hpp"
#include "messages/interfaces/common.hpp"
#include "messages/model/model_descriptor.hpp"

namespace bureau {

/// A part of the node that does not work as configured.
struct degraded_part {
  std::string component;
  std::string reason;
  friend bool operator==(const degraded_part&, const degraded_part&) = default;
};

BUREAU_INSPECT(degraded_part, x.component, x.reason);

/// Answer of `GET /ready`.
struct health_report {
  bool ready = false;
  std::vector<degraded_part> degraded;
  friend bool operator==(const health_report&, const health_report&) = default;
};

BUREAU_INSPECT(health_report, x.ready, x.degraded);

/// The NODE actor interface: boot phases, children, readiness, shutdown.
using node_actor =
  caf::typed_actor<caf::replies_to<atom::health>::with<health_report>,
                   // Marks a component degraded; an empty reason clears it.
                   caf::reacts_to<atom::degrade, degraded_part>,
                   // Begins the ordered shutdown (decision A14); the text says
                   // who asked. A second call is ignored.
                   caf::reacts_to<atom::shutdown, std::string>,
                   caf::replies_to<atom::status>::with<status_line>>;

/// How the node and what it looks after are doing, for `bureau status`.
struct node_report {
  status_line node;
  /// The services that the node cannot do without.
  std::vector<status_line> services;
  std::vector<status_line> adapters;
  std::vector<degraded_part> degraded;
  std::vector<channel_report> channels{};
  friend bool operator==(const node_report&, const node_report&) = default;
};

BUREAU_INSPECT(node_report, x.node, x.services, x.adapters, x.degraded,
               x.channels);

/// One HTTP request as a portal sees it.
struct web_call {
  std::string method;
  std::string path;
  std::string query;
  std::vector<header_field> headers;
  std::string peer;
  /// Port of ours that the request came in at.
  uint16_t port = 0;
  std::string body;
  friend bool operator==(const web_call&, const web_call&) = default;
};

BUREAU_INSPECT(web_call, x.method, x.path, x.query, x.headers, x.peer, x.port,
               x.body);

struct web_reply {
  uint32_t status = 200;
  std::vector<header_field> headers;
  std::string body;
  friend bool operator==(const web_reply&, const web_reply&) = default;
};

BUREAU_INSPECT(web_reply, x.status, x.headers, x.body);

/// The PORTAL actor interface: answers requests; knows no socket.
using portal_actor =
  caf::typed_actor<caf::replies_to<atom::h_call, web_call>::with<web_reply>>;

/// The ADAPTER actor interface, seen by the node.
using adapter_service_actor = caf::typed_actor<
  // Connects and starts to take messages. Error: the sentence says why not.
  caf::replies_to<atom::start>::with<caf::ok_atom>,
  // Takes nothing new from the platform; outbound goes on.
  caf::replies_to<atom::drain>::with<caf::ok_atom>,
  // Disconnects.
  caf::replies_to<atom::stop>::with<caf::ok_atom>,
  caf::replies_to<atom::status>::with<status_line>>;

} // namespace bureau

CAF_BEGIN_TYPE_ID_BLOCK(bureau_node, bureau::type_ids::node)
CAF_ADD_TYPE_ID(bureau_node, (bureau::degraded_part))
CAF_ADD_TYPE_ID(bureau_node, (bureau::health_report))
CAF_ADD_TYPE_ID(bureau_node, (bureau::node_actor))
CAF_ADD_TYPE_ID(bureau_node, (bureau::web_call))
CAF_ADD_TYPE_ID(bureau_node, (bureau::web_reply))
CAF_ADD_TYPE_ID(bureau_node, (bureau::portal_actor))
CAF_ADD_TYPE_ID(bureau_node, (bureau::adapter_service_actor))
CAF_ADD_TYPE_ID(bureau_node, (bureau::node_report))
CAF_END_TYPE_ID_BLOCK(bureau_node)
