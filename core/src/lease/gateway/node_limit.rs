//! A gateway's side of a limit: when it asks for more nodes, when it hands some back, and when all are gone.

use super::events::GatewayStep;
use super::message::GatewayMessage;
use super::portion::Tally;
use super::workers::Workers;
use crate::lease::{Content, SiteId};

impl<D: Tally, I: Workers<Done = D>> GatewayStep<'_, D, I> {
    /// Keeps the workers supplied with nodes for as long as the limit allows.
    pub(super) fn supply_nodes(&mut self) -> Result<(), I::Error> {
        let lease_ns = self.state.timer.terms().lease_ns;
        let (root, sites) = (self.is_root(), self.sites());
        if self.state.coordinates {
            // Nobody else is left to find out that the limit is reached.
            let whole = self.site().holding(None).map(|whole| whole.part());
            let rests = whole.is_some_and(|it| it.subs.is_empty() && it.content.has_open());
            let dry = self.state.quota.as_ref().is_some_and(|quota| quota.pool == 0);
            return if rests && dry { self.stop_search() } else { Ok(()) };
        }
        let is_idle = self.state.is_idle();
        let Some(quota) = &mut self.state.quota else { return Ok(()) };
        let left = self.inside.allowed_nodes();
        if is_idle {
            if left > 0 {
                quota.last = 0;
                self.inside.forbid_nodes();
                if root {
                    quota.pool += left;
                } else {
                    self.inside.send(0, GatewayMessage::Nodes(left));
                }
            }
        } else if left > quota.last / 2 {
            // There is enough.
        } else if root {
            match quota.grant(sites) {
                0 if left == 0 => return self.stop_search(),
                nodes => self.take_grant(nodes),
            }
        } else if quota.asked_ns.is_none_or(|asked_ns| self.now_ns >= asked_ns + lease_ns / 2) {
            quota.asked_ns = Some(self.now_ns);
            self.inside.send(0, GatewayMessage::Draw { dry: left == 0 });
            self.inside.wake_at(self.now_ns.saturating_add(lease_ns / 2));
        }
        Ok(())
    }

    /// At the root: grants a site more nodes, or stops the search if neither the pool nor the site has any left.
    pub(super) fn on_draw(&mut self, from: SiteId, dry: bool) -> Result<(), I::Error> {
        let sites = self.sites();
        let Some(quota) = self.state.quota.as_mut() else { return Ok(()) };
        let nodes = quota.grant_to(from, sites);
        if nodes == 0 && dry {
            return self.stop_search();
        }
        self.inside.send(from, GatewayMessage::Nodes(nodes));
        Ok(())
    }

    /// Takes nodes granted by the root or, at the root, handed back to it.
    pub(super) fn on_nodes(&mut self, from: SiteId, nodes: u64) {
        let root = self.is_root();
        match &mut self.state.quota {
            Some(quota) if root => quota.take_back(from, nodes),
            _ => self.take_grant(nodes),
        }
    }

    /// Lets the workers explore this many more nodes. After a grant of 0 the site asks again only when it has none left.
    fn take_grant(&mut self, nodes: u64) {
        if let Some(quota) = &mut self.state.quota {
            (quota.last, quota.asked_ns) = (nodes, None);
            self.inside.allow_nodes(nodes);
        }
    }
}
