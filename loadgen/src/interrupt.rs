//! Ctrl-C: the first ends the run early and in good order, the second ends the process.

use tokio::{sync::watch, task::JoinSet};

use crate::exit_code::ExitCode;

/// Whether somebody wants the run to end. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(watch::Sender<bool>);

impl Interrupt {
    /// Listens for Ctrl-C: the first is [`Interrupt::press`], the second ends the process at once. What was written stays.
    pub fn listen(&self, tasks: &mut JoinSet<()>) {
        let interrupt = self.clone();
        tasks.spawn(async move {
            while tokio::signal::ctrl_c().await.is_ok() {
                if interrupt.is_set() {
                    tracing::info!("interrupted again");
                    std::process::exit(ExitCode::Interrupted.number().into());
                }
                interrupt.press();
            }
        });
    }

    /// Asks the run to end.
    pub fn press(&self) {
        self.0.send_replace(true);
    }

    /// Whether it was pressed.
    pub fn is_set(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until it is pressed. Cancel safe.
    pub async fn pressed(&self) {
        // The sender is this very value, so it cannot be gone.
        let _ = self.0.subscribe().wait_for(|pressed| *pressed).await;
    }
}
