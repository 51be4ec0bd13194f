//! A gateway's side of a limit: when it asks for more nodes, when it hands some back, and when all are gone.

use super::events::Gateway;
use super::message::GatewayMessage;
use super::portion::Tally;
use super::quota::Quota;
use super::workers::Workers;
use crate::lease::{Content, SiteId};

impl<D: Tally> Gateway<D> {
    /// Limits the units to the nodes granted by [`Workers::allow_nodes`]. `nodes` is the limit of the whole search at
    /// its root, and 0 elsewhere.
    pub fn set_node_limit(&mut self, nodes: u64) {
        self.state.quota = Some(Quota { pool: nodes, ..Quota::default() });
    }

    /// Keeps the units supplied with nodes for as long as the limit allows.
    pub(super) fn supply_nodes<I: Workers<Done = D>>(
        &mut self,
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        let lease_ns = self.state.timer.terms().lease_ns;
        let (root, sites) = (self.is_root(), self.sites());
        if self.state.coordinates {
            // Nobody else is left to find out that the limit is reached.
            let whole = self.site().holding(None).map(|whole| whole.part());
            let rests = whole.is_some_and(|it| it.subs.is_empty() && it.content.has_open());
            let dry = self.state.quota.as_ref().is_some_and(|quota| quota.pool == 0);
            return if rests && dry { self.stop_search(now_ns, inside) } else { Ok(()) };
        }
        let is_idle = self.state.is_idle();
        let Some(quota) = &mut self.state.quota else { return Ok(()) };
        let left = inside.allowed_nodes();
        if is_idle {
            if left > 0 {
                quota.last = 0;
                inside.forbid_nodes();
                if root {
                    quota.pool += left;
                } else {
                    inside.send(0, GatewayMessage::Nodes(left));
                }
            }
        } else if left > quota.last / 2 {
            // There is enough.
        } else if root {
            match quota.grant(sites) {
                0 if left == 0 => return self.stop_search(now_ns, inside),
                nodes => self.take_grant(nodes, inside),
            }
        } else if quota.asked_ns.is_none_or(|asked_ns| now_ns >= asked_ns + lease_ns / 2) {
            quota.asked_ns = Some(now_ns);
            inside.send(0, GatewayMessage::Draw { dry: left == 0 });
            inside.wake_at(now_ns.saturating_add(lease_ns / 2));
        }
        Ok(())
    }

    /// At the root: grants a site more nodes, or stops the search if neither the pool nor the site has any left.
    pub(super) fn on_draw<I: Workers<Done = D>>(
        &mut self,
        (from, dry): (SiteId, bool),
        now_ns: u64,
        inside: &mut I,
    ) -> Result<(), I::Error> {
        let sites = self.sites();
        let Some(quota) = self.state.quota.as_mut() else { return Ok(()) };
        let nodes = quota.grant_to(from, sites);
        if nodes == 0 && dry {
            return self.stop_search(now_ns, inside);
        }
        inside.send(from, GatewayMessage::Nodes(nodes));
        Ok(())
    }

    /// Takes nodes granted by the root or, at the root, handed back to it.
    pub(super) fn on_nodes<I: Workers<Done = D>>(
        &mut self,
        from: SiteId,
        nodes: u64,
        inside: &mut I,
    ) {
        let root = self.is_root();
        match &mut self.state.quota {
            Some(quota) if root => quota.take_back(from, nodes),
            _ => self.take_grant(nodes, inside),
        }
    }

    /// Lets the units explore this many more nodes. After a grant of 0 the site asks again only when it has none left.
    fn take_grant<I: Workers<Done = D>>(&mut self, nodes: u64, inside: &mut I) {
        if let Some(quota) = &mut self.state.quota {
            (quota.last, quota.asked_ns) = (nodes, None);
            inside.allow_nodes(nodes);
        }
    }
}
