/// The connections that jobs under way have besides their first one, and the jobs with large files, by the origins.
package struct OriginLoads: Sendable {
    /// Bytes that are left of a file from which on it counts as large.
    package static let large: Int64 = 4 << 20

    private var beside: [String: Int] = [:]
    private var largeJobs: [Int64: String] = [:]
    private var largeCounts: [String: Int] = [:]
    /// The connections besides those of jobs, at all origins.
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

    /// - Parameter left: What is missing of the job's file; `nil` while that is not known, and for a job that has ended.
    /// - Returns: Whether the job counts otherwise now.
    mutating func has(_ left: Int64?, job: Int64, to origin: String) -> Bool {
        let isLarge = (left ?? 0) >= Self.large
        guard isLarge != (largeJobs[job] != nil) else { return false }
        largeJobs[job] = isLarge ? origin : nil
        let count = (largeCounts[origin] ?? 0) + (isLarge ? 1 : -1)
        largeCounts[origin] = count > 0 ? count : nil
        return true
    }
}
