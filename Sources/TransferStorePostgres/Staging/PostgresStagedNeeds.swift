import TransferCore
package import TransferJobs
import TransferScheduling
import TransferStore

/// The needs of jobs that are staged, which are resolved only after all jobs are there.
package struct PostgresStagedNeeds {
    private let db: PostgresConnection
    private let batch: Int64
    private let staging: Int64

    package init(_ db: PostgresConnection, batch: Int64, staging: Int64) {
        self.db = db
        self.batch = batch
        self.staging = staging
    }

    /// Writes down which job needs which, and checks that all needed jobs exist and that there is no circle.
    package func resolve(_ intake: PostgresSubmissionBatcher, _ report: inout JobFileReport) throws {
        let hadNeeds = try PostgresNeeds.areIn(db, batch: batch)
        guard hadNeeds || !intake.needing.isEmpty else { return }
        // The needs that a job named before are replaced by those that it names now.
        try db.post(Self.oldNeeds, [batch, staging])
        let ids = try numbers(of: Set(intake.needing.flatMap { $0.needs + [$0.identity] }))
        var edges: [Int64: [Int64]] = [:]
        var firstNeed: [Int64: (place: JobLocations?, position: Int)] = [:]
        for job in intake.needing {
            guard let id = ids[job.identity] else { continue }
            for (position, need) in job.needs.enumerated() {
                guard let needed = ids[need] else {
                    if intake.isPartial { continue }
                    let message = "job \"\(job.identity)\" needs \"\(need)\", which is not in this batch"
                    report.add(JobFileFault(message) { job.place?.needFault($0, at: position) })
                    continue
                }
                edges[id, default: []].append(needed)
                if firstNeed[id] == nil { firstNeed[id] = (job.place, position) }
            }
        }
        if let cycle = DependencyCycle.find(edges) {
            let names = Dictionary(ids.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
            let circle = (cycle + cycle.prefix(1)).map { names[$0] ?? "" }.joined(separator: " → ")
            report.add(
                JobFileFault("jobs need each other in a circle: \(circle)") { message in
                    firstNeed[cycle[0]].flatMap { $0.place?.needFault(message, at: $0.position) }
                })
        }
        try link(edges)
        try PostgresNeeds.recount(db, batch: batch)
        try db.post(Self.needsNote, [batch])
    }

    private func numbers(of identities: Set<String>) throws -> [String: Int64] {
        let found = try db.run(Self.named, [batch, PostgresArray(Array(identities))])
        return Dictionary(
            found.map { ($0.text(0) ?? "", $0.number(1) ?? 0) }, uniquingKeysWith: { first, _ in first })
    }

    private func link(_ edges: [Int64: [Int64]]) throws {
        let pairs = edges.flatMap { job, needs in needs.map { (job, $0) } }
        try db.post(Self.linking, [PostgresArray(pairs.map(\.0)), PostgresArray(pairs.map(\.1))])
    }

    // MARK: Statements

    private static let oldNeeds = PostgresStatement(
        "drop_needs", .submit,
        """
        DELETE FROM need USING job WHERE job.id = need.job AND job.batch = $1 AND job.staging = $2
        """)

    private static let needsNote = PostgresStatement(
        "note_needs", .submit,
        """
        UPDATE batch SET has_needs = EXISTS (SELECT 1 FROM need JOIN job ON job.id = need.job WHERE job.batch = $1)
        WHERE id = $1
        """)

    private static let named = PostgresStatement(
        "numbers_of_names", .submit,
        """
        SELECT job.identity, job.id FROM unnest($2::text[]) AS named(identity)
        JOIN job ON job.batch = $1 AND job.key = md5(named.identity)::uuid
        """)

    private static let linking = PostgresStatement(
        "link_needs", .submit,
        """
        INSERT INTO need (job, needed) SELECT * FROM unnest($1::bigint[], $2::bigint[]) ON CONFLICT DO NOTHING
        """)

    package static let statements = [
        oldNeeds, needsNote, named, linking,
    ]
}
