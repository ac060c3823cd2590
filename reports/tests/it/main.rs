//! The report as a whole, from synthetic records.

mod files;
mod page;
mod synthetic;
mod verdict;
