//! The report as a whole, from synthetic records.

mod criterion;
mod files;
mod noise;
mod page;
mod synthetic;
mod verdict;
mod warnings;
