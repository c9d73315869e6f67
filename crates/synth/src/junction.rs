//! A junction tree over the columns: exact marginals of a product of small factors.
//!
//! | file | what it holds |
//! |---|---|
//! | `graph.rs` | sets of columns, and cliques by greedy elimination |
//! | `index.rs` | which cell of a smaller table each cell of a larger one belongs to |
//! | `tree.rs` | the tree, and its calibration by messages |
//! | `pairs.rs` | two-way marginals of columns that share no clique |

mod graph;
mod index;
mod pairs;
mod tree;

pub(crate) use graph::cliques;
pub(crate) use index::index;
pub(crate) use pairs::Passages;
pub(crate) use tree::{Clique, Part, Tree};

#[cfg(test)]
mod tests;
