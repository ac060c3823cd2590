//! The instruments. The measured code (`cache`, `workqueue`) never imports this module.

pub mod clock;
pub mod record;
