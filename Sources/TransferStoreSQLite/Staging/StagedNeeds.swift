package import GRDB
import TransferCore
package import TransferJobs
import TransferScheduling
package import TransferStore

/// The needs of jobs that are staged, which are resolved only after all jobs are there.
package struct StagedNeeds {
    private var needs: [(job: Int64, identity: String, need: String, at: JobLocations?, position: Int)] = []

    package mutating func note(_ job: StagedJob, _ id: Int64) {
        for (position, need) in job.spec.needs.enumerated() {
            needs.append((id, job.row.identity, need, job.place, position))
        }
    }

    /// Writes down which job needs which, and checks that all needed jobs exist and that there is no circle.
    ///
    /// - Parameter isPartial: Whether needed jobs may be missing.
    package func resolve(
        _ db: Database, batch: Int64, generation: Int64, isPartial: Bool, _ report: inout JobFileReport
    ) throws {
        let hadNeeds = try Bool.fetchOne(db, sql: "SELECT hasNeeds FROM batch WHERE id = ?", arguments: [batch])
        guard hadNeeds == true || !needs.isEmpty else { return }
        // The needs that a job named before are replaced by those that it names now.
        try db.execute(
            sql: "DELETE FROM need WHERE job IN (SELECT id FROM job WHERE batch = ? AND generation = ?)",
            arguments: [batch, generation])
        var edges: [Int64: [Int64]] = [:]
        var firstNeed: [Int64: (place: JobLocations?, position: Int)] = [:]
        let search = try db.makeStatement(sql: "SELECT id FROM job WHERE batch = ? AND identity = ?")
        let link = try db.makeStatement(sql: "INSERT OR IGNORE INTO need (job, needed) VALUES (?, ?)")
        for (job, identity, need, place, position) in needs {
            guard let found = try Int64.fetchOne(search, arguments: [batch, need]) else {
                if isPartial { continue }
                let message = "job \"\(identity)\" needs \"\(need)\", which is not in this batch"
                report.add(JobFileFault(message) { place?.needFault($0, at: position) })
                continue
            }
            edges[job, default: []].append(found)
            if firstNeed[job] == nil { firstNeed[job] = (place, position) }
            try link.execute(arguments: [job, found])
        }
        if let cycle = DependencyCycle.find(edges) {
            let names = try cycle.map { try Self.identity(db, of: $0) }
            let circle = (names + names.prefix(1)).joined(separator: " → ")
            report.add(
                JobFileFault("jobs need each other in a circle: \(circle)") { message in
                    firstNeed[cycle[0]].flatMap { $0.place?.needFault(message, at: $0.position) }
                })
        }
        try Needs.recount(db, batch: batch)
    }

    private static func identity(_ db: Database, of job: Int64) throws -> String {
        try String.fetchOne(db, sql: "SELECT identity FROM job WHERE id = ?", arguments: [job]) ?? ""
    }
}
