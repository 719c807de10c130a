import FoundationEssentials
import GRDB
import TransferCore

extension SQLiteStore {
    /// Writes down what partial files are that can't bear it themselves, of jobs that this process has.
    ///
    /// What is durable of them, and what would cost much, is durable here too; of small files a loss of power leaves a partial
    /// file that nobody knows.
    func keep(_ records: [Int64: ResumeData]) throws {
        let isDurable = records.values.contains { record in
            record.synced.prefixLength > 0 || record.total.map { $0 >= Self.muchToLose } ?? true
        }
        try write(isDurable: isDurable) { db in
            // One that has ended meanwhile knows better.
            let statement = try db.cachedStatement(
                sql: "UPDATE job SET resume = ? WHERE id = ? AND state = \(JobStates.claimed)")
            for (id, record) in records { try statement.execute(arguments: [try Self.text(record), id]) }
        }
    }

    private static let muchToLose: Int64 = 1 << 20

    static func text(_ record: ResumeData?) throws -> String? {
        try record.map { String(decoding: try JSONEncoder().encode($0), as: UTF8.self) }
    }
}
