//! Statistics of graphs under edge privacy.
//!
//! | module | what it holds |
//! |---|---|
//! | [`read`] | edge lists from text, plain or gzip, streamed |
//! | [`Graph`] | a simple undirected graph in compressed rows |
//! | [`Triangles`] | their number, and how far an edge can move it near this graph, exactly |
//! | [`Stars`] | the number of k-stars, likewise |
//! | [`DegreeSequence`] | degrees in order, made consistent after the noise |
//! | [`CountRequest`] | a count under a budget: its release, and what is public of it before |
//! | [`ClusteringRequest`] | both counts at half the budget, and the clustering coefficient |
//! | [`clustering`] | the clustering coefficient, from released counts |
//! | [`relation`] | one edge more or less, or one edge for another: what of a budget a step gets |
//! | [`Method`] | how a count is released: ladder, smooth, private bound, propose-test-release, naive; which is best |
//!
//! ```
//! use demure_core::mechanism::Guarantee;
//! use demure_core::random::SystemRandom;
//! use demure_core::unit::Epsilon;
//! use demure_graph::{Method, Triangles, read};
//!
//! let graph = read::read("1 2\n2 3\n3 1\n".as_bytes(), Some(1_000))?;
//! let triangles = Triangles::of(&graph)?;
//! let budget = Guarantee::Pure(Epsilon::new(1.0)?);
//! let released = Method::Auto.release(&triangles, budget, &mut SystemRandom::new()?)?;
//! assert_eq!(released.guarantee(), budget);
//! # Ok::<(), demure_graph::Error>(())
//! ```
//!
//! # What is protected
//! Two graphs on the same *public* set of n vertices are neighbours if they differ in one edge
//! ([`Unit::Edge`](demure_core::unit::Unit::Edge), add or remove). Who is in the graph is not protected, whom they know is.
//! If instead an edge may be *replaced* by another (the number of edges is public), that is two steps: what is (ε,δ)-DP
//! here is (2ε, (1+e^ε)δ)-DP there.
//!
//! # What this crate does not do
//! It does not protect vertices: a person with all her edges is many edges. It makes no noise of its own: everything
//! released comes from a mechanism of `demure-core`. It opens no files but those it is told to, and logs nothing.
#![forbid(unsafe_code)]

mod clustering;
mod count;
mod degrees;
mod error;
mod graph;
mod method;
mod pairs;
pub mod read;
pub mod relation;
mod stars;
mod triangles;

pub use clustering::{ClusteringRelease, ClusteringRequest, clustering};
pub use count::{CountForecast, CountRelease, CountRequest, MethodFacts};
pub use degrees::DegreeSequence;
pub use error::{Error, Result};
pub use graph::Graph;
pub use method::Method;
pub use stars::Stars;
pub use triangles::Triangles;
