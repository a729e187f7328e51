#pragma once

#include <caf/atom.hpp>

/// The verbs of all protocols. One header owns them: two aliases with the same
/// text would be one type. At most ten characters of [a-z_].
namespace bureau::atom {

#define BUREAU_ATOM(identifier)                                                \
  using identifier = caf::atom_constant<caf::atom(#identifier)>;               \
  inline constexpr identifier identifier##_v = identifier {                    \
  }

// -- life cycle ---------------------------------------------------------------
BUREAU_ATOM(start);
BUREAU_ATOM(stop);
BUREAU_ATOM(drain);
BUREAU_ATOM(dispose);
BUREAU_ATOM(status);
BUREAU_ATOM(tick);
BUREAU_ATOM(ready);
BUREAU_ATOM(attach);
BUREAU_ATOM(detach);
BUREAU_ATOM(failed);

// -- intake, turns, runs ------------------------------------------------------
BUREAU_ATOM(intake);
BUREAU_ATOM(ensure);
BUREAU_ATOM(claim);
BUREAU_ATOM(list);
BUREAU_ATOM(turn);
BUREAU_ATOM(run);
BUREAU_ATOM(abort);
BUREAU_ATOM(settled);
BUREAU_ATOM(closed);
BUREAU_ATOM(produced);
BUREAU_ATOM(may_send);
BUREAU_ATOM(delivery);
BUREAU_ATOM(renew);
BUREAU_ATOM(describe);
BUREAU_ATOM(locate);
BUREAU_ATOM(notice);
BUREAU_ATOM(offer);
BUREAU_ATOM(hold);
BUREAU_ATOM(release);
BUREAU_ATOM(wake);
BUREAU_ATOM(watch);
BUREAU_ATOM(changed);

// -- model and tools ----------------------------------------------------------
BUREAU_ATOM(prompt);
BUREAU_ATOM(event);
BUREAU_ATOM(delta);
BUREAU_ATOM(done);
BUREAU_ATOM(cancel);
BUREAU_ATOM(call);
BUREAU_ATOM(progress);

// -- output -------------------------------------------------------------------
BUREAU_ATOM(append);
BUREAU_ATOM(replace);
BUREAU_ATOM(finish);
BUREAU_ATOM(deliver);
BUREAU_ATOM(dismiss);
BUREAU_ATOM(publish);
BUREAU_ATOM(present);
BUREAU_ATOM(ask);
BUREAU_ATOM(submit);
BUREAU_ATOM(drop);

// -- storage ------------------------------------------------------------------
BUREAU_ATOM(open);
BUREAU_ATOM(close);
BUREAU_ATOM(read);
BUREAU_ATOM(write);
BUREAU_ATOM(write_part);
BUREAU_ATOM(file);
BUREAU_ATOM(seal);
BUREAU_ATOM(flush);
BUREAU_ATOM(sync);
BUREAU_ATOM(reset);
BUREAU_ATOM(load);
BUREAU_ATOM(branch);
BUREAU_ATOM(exists);
BUREAU_ATOM(mark);

// -- execution ----------------------------------------------------------------
BUREAU_ATOM(exec);
BUREAU_ATOM(paths);
BUREAU_ATOM(config);
BUREAU_ATOM(p_out);
BUREAU_ATOM(p_exit);
BUREAU_ATOM(p_write);
BUREAU_ATOM(p_kill);

// -- HTTP ---------------------------------------------------------------------
BUREAU_ATOM(fetch);
BUREAU_ATOM(ack);
BUREAU_ATOM(h_head);
BUREAU_ATOM(h_chunk);
BUREAU_ATOM(h_done);
BUREAU_ATOM(h_call);

// -- settings, metrics, health
// -------------------------------------------------
BUREAU_ATOM(resolve);
BUREAU_ATOM(patch);
BUREAU_ATOM(add);
BUREAU_ATOM(observe);
BUREAU_ATOM(gauge);
BUREAU_ATOM(scrape);
BUREAU_ATOM(health);
BUREAU_ATOM(degrade);
BUREAU_ATOM(shutdown);

#undef BUREAU_ATOM

} // namespace bureau::atom
