#pragma once

#include <caf/meta/type_name.hpp>

/// Announces the fields of a payload struct to CAF. The order is the layout:
/// append, never reorder. Use it beside the struct, inside namespace bureau:
///
///   BUREAU_INSPECT(http_ack, x.id, x.bytes)
#define BUREAU_INSPECT(type, ...)                                              \
  template <class Inspector>                                                   \
  typename Inspector::result_type inspect(Inspector& f, type& x) {             \
    return f(caf::meta::type_name("bureau::" #type), __VA_ARGS__);             \
  }                                                                            \
  static_assert(true)
