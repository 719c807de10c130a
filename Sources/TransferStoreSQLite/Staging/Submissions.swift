import GRDB
import TransferCore
import TransferJobs
package import TransferStore

/// The taking of several callers' submissions into a batch in one transaction: one wait for the disk is enough for all.
package struct Submissions: Sendable {
    package let database: QueueDatabase
    package let staging: BatchImport

    /// - Parameter groups: The jobs of each caller, of which all or none are taken.
    /// - Returns: The result of each group, and the jobs that were taken.
    package func submit(
        _ groups: [SubmissionGroup], batch: String, directory: String, startsPaused: Bool
    ) throws -> (results: [SubmittedJobs], staged: StagedJobs) {
        let known = try look(groups, batch: batch)
        var judged = SubmissionJudgement(known: known.mapValues(\.fingerprint))
        let verdicts = groups.map { judged.judge($0) }
        var numbers = known.mapValues(\.number)
        let staged: StagedJobs
        if Appending.admits(judged.new),
            let appended = try Appending(database: database).append(
                judged.new, to: batch, startsPaused: startsPaused, notes: judged.notes)
        {
            numbers.merge(appended.numbers) { $1 }
            staged = appended.staged
        } else {
            staged = try stage(judged, batch: batch, directory: directory, startsPaused: startsPaused)
            numbers = try look(groups, batch: batch).mapValues(\.number)
        }
        let results = zip(groups, verdicts).map { $1.result(of: $0, numbers: numbers) }
        return (results, staged)
    }

    private func stage(
        _ judged: SubmissionJudgement, batch: String, directory: String, startsPaused: Bool
    ) throws -> StagedJobs {
        let header = BatchHeader(name: batch, source: nil, directory: directory)
        let options = StagingOptions(
            keepsWhatIsMissing: true, startsPaused: startsPaused, notes: judged.notes)
        return try staging.stage(header, options) { stager in
            for spec in judged.new { try stager.add(spec, at: nil) }
            return true
        }
    }

    /// Finds the jobs that are there already, by their identities.
    private func look(
        _ groups: [SubmissionGroup], batch: String
    ) throws -> [String: (number: Int64, fingerprint: Int64)] {
        try database.read { db in
            let id = try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT id FROM batch WHERE name = ?"), arguments: [batch])
            guard let id else { return [:] }
            let find = try db.cachedStatement(sql: "SELECT id, fingerprint FROM job WHERE batch = ? AND identity = ?")
            var found: [String: (number: Int64, fingerprint: Int64)] = [:]
            for spec in groups.lazy.flatMap(\.jobs) {
                let identity = spec.identity
                guard found[identity] == nil, let row = try Row.fetchOne(find, arguments: [id, identity]) else {
                    continue
                }
                found[identity] = (row[stored: 0], row[stored: 1])
            }
            return found
        }
    }
}
