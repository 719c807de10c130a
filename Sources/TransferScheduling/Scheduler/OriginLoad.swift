/// The use of one origin's places: pure, the rule by which small files do not wait behind large ones.
///
/// - A job takes a place. The connections that a large file has besides its first take none from jobs: they count
///   against the connections alone, which are more where the number of places is found by the scheduler.
/// - A few places are kept for jobs whose file is small, or not known yet: so many of the large files do not count.
/// - A large file opens no further connection while jobs wait, and gives all of them back where a waiting job has no place.
package struct OriginLoad: Sendable, Hashable {
    package struct Bounds: Sendable, Hashable {
        /// Jobs at a time.
        package var jobs: Int
        /// Connections at a time, those of jobs among them.
        package var connections: Int
        /// Places for jobs that are not known to be large, besides.
        package var kept = 0
    }

    /// Jobs under way.
    package var jobs: Int
    /// Those of them whose files are known to be large.
    package var large = 0
    /// Connections that jobs have besides their first one.
    package var beside = 0

    /// - Returns: How many more jobs may start.
    package func free(in bounds: Bounds) -> Int {
        let counted = jobs - min(large, bounds.kept)
        return max(0, min(bounds.jobs - counted, bounds.connections - jobs - beside))
    }

    /// - Parameter waiting: Jobs that only a place keeps from starting.
    /// - Returns: How many connections large files may open besides; negative where they give some back.
    package func spare(in bounds: Bounds, waiting: Int) -> Int {
        let spare = bounds.connections - jobs - beside
        guard waiting > 0 else { return spare }
        return waiting > free(in: bounds) ? -beside : min(0, spare)
    }
}
