//! Who may ask: the PostgreSQL wire, HTTP and the console.
