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
        let known = try look(groups, batch: batch)
        var judged = Judgement(known: known.mapValues(\.fingerprint))
        let verdicts = groups.map { judged.judge($0) }
        var numbers = known.mapValues(\.number)
        let staged: StagedJobs
        if Appending.admits(judged.new),
            let appended = try Appending(database: database).append(judged.new, to: batch, startsPaused: startsPaused)
        {
            numbers.merge(appended.numbers) { $1 }
            staged = appended.staged
        } else {
            staged = try stage(judged.new, batch: batch, directory: directory, startsPaused: startsPaused)
            numbers = try look(groups, batch: batch).mapValues(\.number)
        }
        let results = zip(groups, verdicts).map { group, verdict -> SubmittedJobs in
            switch verdict {
            case .conflict(let index): .conflict(index: index, identity: group[index].identity)
            case .taken(let added): .taken(numbers: group.map { numbers[$0.identity] ?? 0 }, added: added)
            }
        }
        return (results, staged)
    }

    private func stage(
        _ jobs: [JobSpec], batch: String, directory: String, startsPaused: Bool
    ) throws -> StagedJobs {
        let header = BatchHeader(name: batch, source: nil, directory: directory)
        let options = StagingOptions(keepsWhatIsMissing: true, startsPaused: startsPaused)
        return try staging.stage(header, options) { stager in
            for spec in jobs { try stager.add(spec, at: nil) }
            return true
        }
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

    /// The jobs that are there already, by their identities.
    private func look(
        _ groups: [[JobSpec]], batch: String
    ) throws -> [String: (number: Int64, fingerprint: Int64)] {
        try database.read { db in
            let id = try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT id FROM batch WHERE name = ?"), arguments: [batch])
            guard let id else { return [:] }
            let find = try db.cachedStatement(sql: "SELECT id, fingerprint FROM job WHERE batch = ? AND identity = ?")
            var found: [String: (number: Int64, fingerprint: Int64)] = [:]
            for spec in groups.joined() {
                let identity = spec.identity
                guard found[identity] == nil, let row = try Row.fetchOne(find, arguments: [id, identity]) else {
                    continue
                }
                found[identity] = (row[0], row[1])
            }
            return found
        }
    }
}
