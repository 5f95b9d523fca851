//! The suite that every journal must pass. A store defines how it is created and opened
//! ([`StoreUnderTest`]); [`journal_suite!`](crate::journal_suite!) expands every case into a test of that
//! store.
//!
//! Cases are plain async functions, one file per part of the port. Each gets a fresh journal, so ids are
//! plain numbers. Cases that open the store more than once are marked and get its type.

#![expect(clippy::unwrap_used, reason = "these are tests, though they lie outside of cfg(test)")]

pub mod artifact_lists;
pub mod artifact_removal;
mod artifact_samples;
pub mod artifacts;
pub mod audit;
pub mod claims;
pub mod content;
pub mod feed;
pub mod guided;
pub mod guided_samples;
pub mod hooks;
pub mod keys;
pub mod lasting;
pub mod leases;
pub mod log;
pub mod outbox;
pub mod rows;
pub mod sample_appends;
pub mod sessions;
pub mod statuses;
pub mod timers;

use std::sync::Arc;

use trackway_ports::{ArtifactStore, AuditLog, Blobs, Journal, KeyStore, PortFuture};

/// A store that the suite can create, and open again after closing it.
pub trait StoreUnderTest: Send + Sync + Sized {
    /// A new, empty store.
    fn create_empty() -> PortFuture<'static, Self>;

    /// Opens it, as the next process would.
    fn open_journal(&self) -> PortFuture<'_, Arc<dyn Journal>>;

    /// Opens its keys, as the next process would.
    fn open_keys(&self) -> PortFuture<'_, Arc<dyn KeyStore>>;

    /// Opens its artifacts, as the next process would.
    fn open_artifacts(&self) -> PortFuture<'_, Arc<dyn ArtifactStore>>;

    /// Opens its blobs, as the next process would.
    fn open_blobs(&self) -> PortFuture<'_, Arc<dyn Blobs>>;

    /// Opens its audit log, as the next process would.
    fn open_audit(&self) -> PortFuture<'_, Arc<dyn AuditLog>>;
}

/// A store and its open journal. The store is kept, because dropping it may delete its folder.
pub async fn fresh<S: StoreUnderTest>() -> (S, Arc<dyn Journal>) {
    let store = S::create_empty().await;
    let journal = store.open_journal().await;
    (store, journal)
}

/// Expands into one test per case for a type that implements [`StoreUnderTest`].
#[macro_export]
macro_rules! journal_suite {
    ($store:ty) => {
        $crate::journal_suite! { @cases $store =>
            artifacts {
                a_saved_version_reads_back(store)
                parallel_writers_get_every_version_once(store)
                a_repeated_request_is_the_same_version(store)
                a_version_can_be_saved_only_if_there_is_none(store)
                what_a_run_yields_and_receives_is_indexed(store)
                a_yielded_artifact_grows_with_its_run(store)
                a_refused_append_adds_no_version(store)
                a_run_that_begins_with_an_append_brings_its_versions(store)
            }
            artifact_lists {
                others_see_nothing(store)
                access_to_a_tenant_opens_runs_and_sessions(store)
                artifacts_are_listed_in_pages(store)
                every_part_of_a_filter_selects(store)
            }
            artifact_removal {
                deleted_versions_keep_their_numbers(store)
                a_quota_is_kept_by_parallel_writers(store)
                artifacts_go_with_their_session(store)
                blobs_stay_while_a_version_names_them(store)
                a_saved_version_may_follow_its_deletion(store)
            }
            audit {
                audit_events_read_back(store)
                audit_events_are_listed_in_pages(store)
                the_oldest_audit_events_of_a_tenant_go(store)
                audit_events_at_once_are_all_there(store)
            }
            claims {
                the_first_claim_wins
                two_claims_at_once_have_one_winner
                another_caller_may_use_the_same_message_id
                a_refused_append_claims_nothing
                an_unknown_claim_is_none
            }
            content {
                a_large_event_reads_back(store)
                many_large_events_in_one_append_read_back(store)
                any_text_reads_back(store)
                huge_numbers_read_back(store)
                fractions_read_back_exactly(store)
                a_deep_value_reads_back(store)
            }
            feed {
                the_feed_has_everything_that_is_covered(store)
                a_foreign_cursor_is_refused
            }
            guided {
                a_node_is_found_with_its_run
                a_node_of_an_imported_run_says_so
                a_node_belongs_to_its_run
                branches_are_counted
                an_attempt_is_found_by_its_key
                a_repinned_node_keeps_its_branches
                a_lineage_is_what_the_log_says
                newest_events_come_first
                a_pinned_definition_reads_back(store)
                a_second_opening_finds_the_nodes_of_the_first(store)
                a_large_node_is_found
            }
            hooks {
                a_hook_reads_back
                hooks_are_listed_in_the_order_of_their_making
                a_removed_hook_is_gone
                a_hook_may_come_with_the_first_event
                a_refused_append_changes_no_hook
                events_make_idle_hooks_due
                hooks_of_some_tenants_are_left_out
                a_told_hook_is_idle_unless_there_is_more
                a_failed_attempt_is_due_again_later
                a_hook_set_anew_keeps_its_place_but_not_its_failures
                hooks_are_due_earliest_first_in_pages
                hooks_are_there_after_opening_again(store)
                a_hook_of_a_second_opening_is_woken_by_the_first(store)
                no_event_falls_between_telling_and_appending
                a_target_is_not_printed
            }
            keys {
                a_key_document_reads_back(store)
                a_stale_revision_replaces_nothing(store)
                one_replacement_wins_each_revision(store)
                every_change_of_keys_has_another_revision(store)
                a_reader_sees_no_part_of_a_key_document(store)
                an_abandoned_replacement_is_whole_or_absent(store)
                a_key_document_has_a_largest_size(store)
            }
            lasting {
                everything_is_there_after_opening_again(store)
                a_second_opening_sees_what_the_first_wrote(store)
                many_runs_at_once
                many_appenders_on_one_run
                what_was_handed_in_before_closing_is_committed(store)
                after_closing_appends_fail(store)
                closing_twice_is_no_error
                an_answer_may_lead_to_the_next_append(store)
                a_caller_that_went_away_disturbs_nobody
            }
            leases {
                a_stale_lease_writes_nothing(store)
                a_run_that_waits_can_be_taken
                runs_of_a_lost_worker_are_claimed_once
                a_sole_lease_ends_all_others(store)
                what_is_due_is_claimed_by_one_worker(store)
                claims_at_once_share_nothing
                after_closing_nothing_is_claimed
            }
            log {
                an_append_reads_back_as_written
                positions_grow_with_the_log_of_a_run
                answers_come_in_the_order_of_a_runs_appends
                an_append_is_found_by_its_id(store)
                events_are_read_in_pages
                events_are_read_after_a_position
                an_unknown_run_has_no_events
                an_append_behind_the_log_is_refused
                an_append_ahead_of_the_log_is_refused
                an_append_without_events_is_refused_behind_the_log
                an_append_without_events_changes_rows_alone
                a_refused_append_leaves_its_neighbours_alone
                appends_to_one_run_may_follow_without_waiting
                what_follows_a_refused_append_is_refused_too
                a_run_that_begins_with_an_append_is_there_with_it
                a_refused_append_begins_no_run
            }
            outbox {
                rows_are_added_and_removed
                rows_are_read_in_pages
                removing_what_is_gone_is_no_error
                one_append_may_add_and_remove
                every_kind_of_item_reads_back
            }
            rows {
                a_row_reads_back_and_is_replaced
                what_a_run_is_called_never_changes
                an_unknown_run_has_no_row
                runs_are_listed_newest_first_in_pages
                filters_work_together
                listings_show_what_the_access_covers
                waiting_runs_are_found_by_caller_session_and_workflow
                a_run_that_no_longer_waits_is_not_found
                runnable_and_parked_runs_are_found_in_pages
            }
            sessions {
                sessions_are_listed_by_their_newest_record
                events_may_bring_their_own_times
                a_removed_run_is_gone_with_all_it_had
                a_release_outlives_its_run
                a_removed_run_may_be_written_anew(store)
                after_closing_nothing_is_removed(store)
                a_run_that_has_moved_on_is_not_removed
                a_session_with_another_run_is_not_removed
                appends_that_belong_together_share_their_fate(store)
            }
            statuses {
                runs_are_listed_by_the_time_of_their_status
                pages_by_status_have_no_gap_and_no_repetition
                every_part_of_a_query_selects
                a_run_moves_to_the_front_with_its_status
                a_row_changes_in_any_of_its_parts
                the_total_counts_what_matches_on_any_page
            }
            timers {
                timers_are_due_earliest_first
                a_timer_is_replaced
                a_timer_is_cleared
                all_timers_of_a_run_are_cleared
                the_newest_time_is_that_of_the_last_event
                the_next_timer_lies_after_now
                any_moment_and_any_name_is_kept
            }
        }
    };
    (@cases $store:ty => $($part:ident { $($case:ident $(($store_too:ident))?)+ })+) => {
        $(mod $part {
            use super::*;
            $(
                /// Expanded from the suite; the case itself names the requirement.
                #[::tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $case() {
                    $crate::journal_suite! { @run $store, $part, $case $(, $store_too)? }
                }
            )+
        })+
    };
    (@run $store:ty, $part:ident, $case:ident) => {
        let (_store, journal) = $crate::journal_suite::fresh::<$store>().await;
        $crate::journal_suite::$part::$case(journal).await;
    };
    (@run $store:ty, $part:ident, $case:ident, store) => {
        $crate::journal_suite::$part::$case::<$store>().await;
    };
}

#[cfg(test)]
mod tests;
