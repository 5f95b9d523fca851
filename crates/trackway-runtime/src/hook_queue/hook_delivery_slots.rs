//! Slots for deliveries, shared fairly. A receiver that does not answer holds its slots for many seconds.
//! However many hooks a tenant has on such receivers, there are slots for other tenants.

use std::collections::HashMap;

use super::HookKey;

/// Each delivery mostly waits for a remote server and keeps its run in memory during that time. Beyond this
/// limit deliveries take turns, and the one that is due first comes first.
///
/// Limit (Push): deliveries at once.
const DELIVERIES_MAX: usize = 128;

/// The most slots that a receiver that is down can hold.
///
/// Limit (Push): deliveries at once to one host.
const DELIVERIES_TO_TARGET_MAX: usize = 32;

/// The deliveries in flight, by tenant and by target.
#[derive(Debug, Default)]
pub(super) struct HookDeliverySlots(HashMap<HookKey, HookDeliverySlot>);

#[derive(Debug)]
struct HookDeliverySlot {
    tenant: String,
    target: String,
}

impl HookDeliverySlots {
    pub(super) fn active_delivery_count(&self) -> usize {
        self.0.len()
    }

    pub(super) fn free_slot_count(&self) -> usize {
        DELIVERIES_MAX.saturating_sub(self.0.len())
    }

    pub(super) fn has_active_delivery(&self, hook: &HookKey) -> bool {
        self.0.contains_key(hook)
    }

    /// Takes a slot, unless the tenant or the target has its share. A tenant may have half of what the others
    /// leave: a single tenant gets many, and the next one still finds some.
    pub(super) fn try_take_slot(&mut self, hook: &HookKey, tenant: &str, target_host: &str) -> bool {
        let of_tenant = self.0.values().filter(|slot| slot.tenant == tenant).count();
        let to_target = self.0.values().filter(|slot| slot.target == target_host).count();
        let left_by_others = DELIVERIES_MAX.saturating_sub(self.0.len() - of_tenant);
        let share = left_by_others.div_ceil(2);
        let is_free = self.free_slot_count() > 0 && of_tenant < share && to_target < DELIVERIES_TO_TARGET_MAX;
        if is_free {
            let slot = HookDeliverySlot { tenant: tenant.to_owned(), target: target_host.to_owned() };
            self.0.insert(hook.clone(), slot);
        }
        is_free
    }

    pub(super) fn release_slot(&mut self, hook: &HookKey) {
        self.0.remove(hook);
    }
}

#[cfg(test)]
mod tests {
    use trackway_domain::RunId;
    use uuid::Uuid;

    use super::*;

    fn count_slots_for_tenant(
        slots: &mut HookDeliverySlots,
        tenant: &str,
        target: impl Fn(usize) -> String,
    ) -> usize {
        let name = |number: usize| (RunId::new(Uuid::nil()), format!("{tenant} {number}"));
        (0..1_000).filter(|number| slots.try_take_slot(&name(*number), tenant, &target(*number))).count()
    }

    /// Proves X6: dead targets of one tenant do not block other tenants.
    #[test]
    fn one_tenant_cannot_take_all_slots() {
        let mut slots = HookDeliverySlots::default();
        let own = |number: usize| number.to_string();
        for (tenant, share) in [("a", 64), ("b", 32), ("c", 16), ("d", 8), ("e", 4)] {
            assert_eq!(count_slots_for_tenant(&mut slots, tenant, own), share, "{tenant}");
        }
        slots.release_slot(&(RunId::new(Uuid::nil()), "a 0".to_owned()));
        assert_eq!(count_slots_for_tenant(&mut slots, "f", own), 3);
    }

    /// Proves X6.
    #[test]
    fn one_target_cannot_take_all_slots() {
        let mut slots = HookDeliverySlots::default();
        assert_eq!(count_slots_for_tenant(&mut slots, "a", |_| "down".to_owned()), DELIVERIES_TO_TARGET_MAX);
        assert_eq!(count_slots_for_tenant(&mut slots, "b", |_| "down".to_owned()), 0);
        assert!(count_slots_for_tenant(&mut slots, "b", |_| "up".to_owned()) > 0);
    }
}
