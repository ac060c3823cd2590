//! The report as a whole, from synthetic records.

mod criterion;
mod files;
mod page;
mod synthetic;
mod verdict;
