//! Counts allocations of a program that installed the counting allocator.
//!
//! A program opts in with these lines; the library itself never replaces an allocator:
//!
//! ```
//! use std::alloc::System;
//!
//! #[global_allocator]
//! static ALLOCATOR: &bench_core::measure::allocations::StatsAlloc<System> =
//!     &bench_core::measure::allocations::INSTRUMENTED_SYSTEM;
//!
//! use bench_core::measure::allocations::AllocationCount;
//!
//! let before = AllocationCount::now().expect("the counting allocator is installed");
//! let bytes = vec![0_u8; 4096];
//! let count = AllocationCount::now().expect("it still is").since(before);
//! assert_eq!(bytes.len(), 4096);
//! assert!(count.allocations >= 1 && count.allocated_bytes >= 4096);
//! ```

pub use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

/// Allocations of the whole process, all threads together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AllocationCount {
    /// Calls that asked for memory: allocations and reallocations.
    pub allocations: u64,
    /// Bytes newly asked for. A reallocation counts by its growth.
    pub allocated_bytes: u64,
}

impl AllocationCount {
    /// The count since the program's start; absent if the program did not install the counting allocator.
    pub fn now() -> Option<Self> {
        let stats = INSTRUMENTED_SYSTEM.stats();
        let count = Self {
            allocations: stats.allocations as u64 + stats.reallocations as u64,
            allocated_bytes: stats.bytes_allocated as u64,
        };
        // The standard library has allocated before `main`, so a counting allocator that counted nothing is not installed.
        (count.allocations > 0).then_some(count)
    }

    /// What came after `earlier`, a count of the same process.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            allocations: self.allocations.saturating_sub(earlier.allocations),
            allocated_bytes: self.allocated_bytes.saturating_sub(earlier.allocated_bytes),
        }
    }
}
