//! Statistics of graphs under edge privacy.
