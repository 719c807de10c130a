/// The use of one origin's places: the rule by which small files do not wait behind large ones. The type performs no
/// I/O.
///
/// - A job takes a place. The further connections of a large file take no places of jobs. They count only against the
///   bound of connections, which is higher if the scheduler finds the number of places.
/// - A few places are kept for jobs whose file is small, or of unknown size. That many large files do not count
///   against the places.
/// - A large file opens no further connection while jobs wait. It closes all its further connections if a waiting job
///   has no place.
package struct OriginLoad: Sendable, Hashable {
    package struct Bounds: Sendable, Hashable {
        /// The maximum number of concurrent jobs.
        package var jobs: Int
        /// The maximum number of connections, including those of jobs.
        package var connections: Int
        /// The number of additional places for jobs whose files are not known to be large.
        package var kept = 0
    }

    /// The number of jobs under way.
    package var jobs: Int
    /// The number of jobs under way whose files are known to be large.
    package var large = 0
    /// The number of connections beyond the first one of each job.
    package var beside = 0

    /// Returns the number of jobs that may start now.
    package func free(in bounds: Bounds) -> Int {
        let counted = jobs - min(large, bounds.kept)
        return max(0, min(bounds.jobs - counted, bounds.connections - jobs - beside))
    }

    /// Returns the number of further connections that large files may open. It is negative if they must close some.
    ///
    /// - Parameter waiting: The number of jobs for which only a place is missing.
    package func spare(in bounds: Bounds, waiting: Int) -> Int {
        let spare = bounds.connections - jobs - beside
        guard waiting > 0 else { return spare }
        return waiting > free(in: bounds) ? -beside : min(0, spare)
    }
}
