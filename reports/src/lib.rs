//! Run records in, figures and one self-contained page out.
//!
//! - [`read`]: a folder of records, all or nothing.
//! - [`series`], [`aggregate`], [`noise`], [`work_balance`]: pure arithmetic on records.
//! - [`summary`], [`mod@column`], [`verdict`], [`warnings`]: what a run says, as plain values.
//! - [`page`]: the page, the figures and the Markdown.
//! - [`criterion`]: the same page from criterion's saved results.
//!
//! "Resync" always means client-go's: the informer's own cache delivered again, without a request. Listing again is a relist.

pub mod aggregate;
pub mod column;
pub mod criterion;
pub mod error;
pub mod figure;
pub mod noise;
pub mod page;
pub mod quantity;
pub mod read;
pub mod series;
pub mod summary;
pub mod verdict;
pub mod warnings;
pub mod work_balance;
