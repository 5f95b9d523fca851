//! The programs that come with Trackway: examples, a demo, and subjects of the tests.

mod approve_workflow;
mod bundled_tools;
mod echo_workflow;
mod failing_workflow;
mod family_workflow;
mod invest_workflow;
mod ledger_workflow;
mod onboarding_workflow;
mod review_workflow;
mod tck_workflow;

use std::{path::Path, time::Duration};

use trackway::{Server, Workflow};

pub use approve_workflow::ApproveWorkflow;
pub use echo_workflow::EchoWorkflow;
pub use failing_workflow::FailingWorkflow;
pub use family_workflow::FamilyWorkflow;
pub use invest_workflow::InvestWorkflow;
pub use ledger_workflow::LedgerWorkflow;
pub use onboarding_workflow::OnboardingWorkflow;
pub use review_workflow::ReviewWorkflow;
pub use tck_workflow::TckWorkflow;

/// A server with every bundled program and tool, on this data folder.
pub fn bundled_server(data: &Path) -> Server {
    Server::new()
        .data(data)
        .workflow(EchoWorkflow)
        .workflow(ApproveWorkflow)
        .workflow(FailingWorkflow)
        .workflow(FamilyWorkflow)
        .workflow(InvestWorkflow)
        .workflow(LedgerWorkflow::ledger_in_data_folder(data))
        .workflow(OnboardingWorkflow)
        .workflow(ReviewWorkflow)
        .tool(
            "ledger_enter",
            bundled_tools::LEDGER_ENTER_DESCRIPTION,
            bundled_tools::build_ledger_entry_tool(data),
        )
}

/// The bundled programs and the scripted subject of the conformance suites, with the exceptions that
/// the suites need: they reuse message ids, and their webhooks are on this machine.
pub(crate) fn conformance_server(data: &Path, patience: Duration) -> Server {
    bundled_server(data)
        .workflow(TckWorkflow { stream_timeout: patience })
        .default_agent(<TckWorkflow as Workflow>::NAME)
        .extended_card(true)
        .conformance_cards(true)
        .accept_repeated_messages(true)
        .allow_loopback_targets(true)
}
