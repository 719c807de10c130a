import TransferCore
import TransferEngine

/// Records of partial files that their file systems can't carry, on their way to the database: those that come while a group
/// is written down are the next group.
struct PartRecords {
    /// Records that are written down at once.
    struct Group: Sendable {
        var records: [Int64: ResumeData] = [:]
        /// Closures that are called when a record is written.
        var waiting: [Int64: [@Sendable () -> Void]] = [:]
    }

    private var next = Group()
    private var isUnderWay = false

    /// The later record of a job is the one that holds.
    mutating func add(_ record: ResumeData, of id: Int64, _ kept: @escaping @Sendable () -> Void) {
        next.records[id] = record
        next.waiting[id, default: []].append(kept)
    }

    /// The job is over: what ends it says what is left.
    mutating func drop(_ id: Int64) {
        next.records[id] = nil
        next.waiting[id] = nil
    }

    /// - Returns: The next group; `nil` while another one is under way, and when there is none.
    mutating func take() -> Group? {
        guard !isUnderWay, !next.records.isEmpty else { return nil }
        isUnderWay = true
        return exchange(&next, with: Group())
    }

    /// The group that was taken has been written down.
    mutating func written() { isUnderWay = false }
}
