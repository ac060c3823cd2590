//! reports.
