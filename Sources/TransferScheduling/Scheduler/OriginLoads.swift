/// The connections of jobs under way beyond the first one of each, and the jobs with large files, by origin.
package struct OriginLoads: Sendable {
    /// The number of missing bytes from which a file counts as large.
    package static let large: Int64 = 4 << 20

    private var beside: [String: Int] = [:]
    private var largeJobs: [Int64: String] = [:]
    private var largeCounts: [String: Int] = [:]
    /// The number of further connections, at all origins.
    package private(set) var total = 0

    package func beside(at origin: String) -> Int { beside.isEmpty ? 0 : beside[origin] ?? 0 }

    package func large(at origin: String) -> Int { largeCounts.isEmpty ? 0 : largeCounts[origin] ?? 0 }

    mutating func opened(to origin: String) {
        beside[origin, default: 0] += 1
        total += 1
    }

    mutating func closed(to origin: String) {
        guard let count = beside[origin] else { return }
        beside[origin] = count > 1 ? count - 1 : nil
        total -= 1
    }

    /// Notes the number of missing bytes of a job's file.
    ///
    /// - Parameter left: The number of missing bytes; `nil` while it is unknown, and for a job that has ended.
    /// - Returns: Whether the job has become large, or is no longer large.
    mutating func has(_ left: Int64?, job: Int64, to origin: String) -> Bool {
        let isLarge = (left ?? 0) >= Self.large
        guard isLarge != (largeJobs[job] != nil) else { return false }
        largeJobs[job] = isLarge ? origin : nil
        let count = (largeCounts[origin] ?? 0) + (isLarge ? 1 : -1)
        largeCounts[origin] = count > 0 ? count : nil
        return true
    }
}
