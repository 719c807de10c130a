import GRDB
import TransferCore
package import TransferJobs

/// Takes what several callers submitted into a batch, in one transaction: one wait for the disk is enough for all of them.
package struct Submissions: Sendable {
    package let database: QueueDatabase
    package let staging: Staging

    /// - Parameter groups: The jobs of each caller; those of one are taken all or not at all.
    /// - Returns: What became of each group, and what was taken.
    package func submit(
        _ groups: [[JobSpec]], batch: String, directory: String, startsPaused: Bool
    ) throws -> (results: [SubmittedJobs], staged: StagedJobs) {
        let known = try fingerprints(groups, batch: batch)
        var judged = Judgement(known: known)
        let verdicts = groups.map { judged.judge($0) }
        let header = BatchHeader(name: batch, source: nil, directory: directory)
        let staged = try staging.stage(header, StagingOptions(keepsWhatIsMissing: true, startsPaused: startsPaused)) {
            stager in
            for spec in judged.new { try stager.add(spec, at: nil) }
            return true
        }
        let numbers = try self.numbers(groups, batch: batch)
        let results = zip(groups, verdicts).map { group, verdict -> SubmittedJobs in
            switch verdict {
            case .conflict(let index): .conflict(index: index, identity: group[index].identity)
            case .taken(let added): .taken(numbers: group.map { numbers[$0.identity] ?? 0 }, added: added)
            }
        }
        return (results, staged)
    }

    /// Tells which jobs are new.
    private struct Judgement {
        enum Verdict {
            case taken(added: Int)
            case conflict(index: Int)
        }

        var known: [String: Int64]
        var new: [JobSpec] = []

        init(known: [String: Int64]) { self.known = known }

        mutating func judge(_ group: [JobSpec]) -> Verdict {
            var added: [String: JobSpec] = [:]
            var inOrder: [JobSpec] = []
            for (index, spec) in group.enumerated() {
                let identity = spec.identity
                if let there = known[identity] ?? added[identity]?.fingerprint {
                    guard there == spec.fingerprint else { return .conflict(index: index) }
                } else {
                    added[identity] = spec
                    inOrder.append(spec)
                }
            }
            for spec in inOrder { known[spec.identity] = spec.fingerprint }
            new += inOrder
            return .taken(added: inOrder.count)
        }
    }

    private func fingerprints(_ groups: [[JobSpec]], batch: String) throws -> [String: Int64] {
        try look(groups, batch: batch, column: "fingerprint")
    }

    private func numbers(_ groups: [[JobSpec]], batch: String) throws -> [String: Int64] {
        try look(groups, batch: batch, column: "id")
    }

    private func look(_ groups: [[JobSpec]], batch: String, column: String) throws -> [String: Int64] {
        try database.read { db in
            guard let id = try Int64.fetchOne(db, sql: "SELECT id FROM batch WHERE name = ?", arguments: [batch]) else {
                return [:]
            }
            let find = try db.makeStatement(sql: "SELECT \(column) FROM job WHERE batch = ? AND identity = ?")
            var found: [String: Int64] = [:]
            for spec in groups.joined() {
                let identity = spec.identity
                if found[identity] == nil { found[identity] = try Int64.fetchOne(find, arguments: [id, identity]) }
            }
            return found
        }
    }
}
