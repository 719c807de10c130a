import TransferCore
import TransferEngine

/// Records of partial files that their file systems cannot store, on their way to the database. Records that come while
/// a group is written form the next group.
struct PartRecords {
    /// The records that are written at once.
    struct Group: Sendable {
        var records: [Int64: ResumeData] = [:]
        /// Closures that are called when a record is written.
        var waiting: [Int64: [@Sendable () -> Void]] = [:]
    }

    private var next = Group()
    private var isUnderWay = false

    /// Adds a record; a later record of the same job replaces it.
    mutating func add(_ record: ResumeData, of id: Int64, _ kept: @escaping @Sendable () -> Void) {
        next.records[id] = record
        next.waiting[id, default: []].append(kept)
    }

    /// Drops the record of a job that has ended, because its end records the remaining bytes.
    mutating func drop(_ id: Int64) {
        next.records[id] = nil
        next.waiting[id] = nil
    }

    /// Takes the next group.
    ///
    /// - Returns: `nil` while another group is being written, or if there is none.
    mutating func take() -> Group? {
        guard !isUnderWay, !next.records.isEmpty else { return nil }
        isUnderWay = true
        return exchange(&next, with: Group())
    }

    /// Notes that the group that was taken has been written.
    mutating func written() { isUnderWay = false }
}
