package import GRDB
import TransferCore
package import TransferJobs
package import TransferStore

/// A receiver of jobs for a batch, inside one transaction: all of them are taken, or none.
package final class BatchImporter: JobSubmissionBatcher {
    private let db: Database
    private let batch: HeldBatch
    private let generation: Int64
    private let keepsWhatIsMissing: Bool
    private let isReload: Bool
    private let allowsTags: Bool
    private var destinations = SharedDestinations()
    private var needs = StagedNeeds()
    private let insert: BoundStatement
    private let update: Statement
    private let find: Statement
    package private(set) var count = 0
    package private(set) var report = JobFileReport()
    /// The secrets by job, which stay in memory.
    package private(set) var secrets: [Int64: JobSecrets] = [:]
    /// Jobs with new content whose former content this process is transferring.
    package private(set) var underWay: Set<Int64> = []
    /// Uploads of which servers hold parts that will not be continued.
    package private(set) var abandoned: [AbandonedUpload] = []
    /// Whether there are jobs whose upload may have arrived, and which were not reported.
    package private(set) var isInDoubt = false
    /// Whether the jobs of the batch whose upload may have arrived were reported to a user.
    private let isReported: Bool
    private let owner: Int64
    /// The jobs of a new batch that are claimed at once; `nil` where there is no reserve.
    private var gathering: JobReserve.Builder?
    /// Jobs that one statement will insert. The beginning and end of a statement cost SQLite as much as a row.
    private var gathered: [StagedJob] = []
    private var insertGroup: BoundStatement?
    private var origins = OriginMemory()
    package private(set) var reserve: JobReserve?
    /// The pack, for as long as no job must be compared with others and all fit into the reserve.
    package private(set) var packing: Packing?
    /// Whether jobs were left out because of their own faults; other jobs may need them.
    package var isPartial = false

    /// - Parameter owner: The process that claims the first jobs of a new batch at once.
    package init(
        _ db: Database, batch: HeldBatch, generation: Int64, _ options: StagingOptions, isReported: Bool, owner: Int64
    ) throws {
        self.db = db
        self.batch = batch
        self.generation = generation
        keepsWhatIsMissing = options.keepsWhatIsMissing
        isReload = options.isReload
        allowsTags = options.allowsTags
        self.isReported = isReported
        self.owner = owner
        let claims = options.claiming > 0 && batch.isNew
        gathering = claims ? JobReserve.Builder(batch: batch.id, room: options.claiming) : nil
        if gathering != nil { packing = Packing(first: try Packs.nextJob(db)) }
        insert = BoundStatement(
            try db.makeStatement(sql: "\(Self.insertion) \(Self.row) ON CONFLICT DO NOTHING"))
        find = try db.makeStatement(
            sql:
                "SELECT id, generation, line, state, fingerprint, errorCode, wasInterrupted FROM job WHERE batch = ? AND identity = ?"
        )
        update = try db.makeStatement(sql: Self.restaging.sql)
    }

    /// - Parameter place: The job's place in its file, if it comes from one.
    package func add(_ spec: JobSpec, at place: JobLocations?) throws {
        try add(StagedJob(spec, at: place, directory: batch.directory, origins: &origins))
    }

    package func add(_ job: StagedJob) throws {
        count += 1
        if !allowsTags, let message = WorkerRefusal.message(job.spec) {
            let place = job.place
            return report.add(JobFileFault("\(job.row.identity): \(message)") { place?.destinationFault($0) })
        }
        destinations.note(job)
        guard gathering != nil else { return try addOne(job) }
        if packing != nil {
            if pack(job) { return }
            try stopPacking()
        }
        gathered.append(job)
        if gathered.count == Self.groupSize { try addGathered() }
    }

    /// - Returns: `false` where the database must compare the job with the others.
    private func pack(_ job: StagedJob) -> Bool {
        guard gathering?.hasRoom == true, !destinations.mayBeShared,
            packing?.admits(job) == true, let id = packing?.next,
            gathering?.add(job, id: id, isReserved: true) == true
        else { return false }
        packing?.add(job)
        note(job, id)
        return true
    }

    /// Gives the jobs that were packed so far their rows; the jobs that follow get theirs at once.
    private func stopPacking() throws {
        guard let packing = exchange(&packing, with: nil) else { return }
        try Packs.insert(
            db, packing.jobs.lazy.map(\.row), first: packing.first, batch: batch.id, state: .claimed)
        let group = Array(repeating: Self.row, count: Self.groupSize).joined(separator: ", ")
        insertGroup = BoundStatement(try db.makeStatement(sql: "\(Self.insertion) \(group)"))
    }

    private static let groupSize = 8
    private static let insertion = "INSERT INTO job (\(JobRow.columns)) VALUES"
    private static let row = "(" + Array(repeating: "?", count: JobRow.columnCount).joined(separator: ", ") + ")"

    /// Inserts the gathered jobs of a new batch: all at once, or one by one where two are the same.
    private func addGathered() throws {
        let group = gathered
        gathered.removeAll(keepingCapacity: true)
        guard group.count == Self.groupSize, let insertGroup else {
            for job in group { try addOne(job) }
            return
        }
        let isReserved = gathering?.hasRoom ?? false
        do {
            try insertGroup.run { values in for job in group { bind(job, isReserved, &values) } }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
            for job in group { try addOne(job) }
            return
        }
        // The rows of one statement have consecutive numbers.
        var id = db.lastInsertedRowID - Int64(group.count)
        for job in group {
            id += 1
            try added(job, id, isReserved)
        }
    }

    private func bind(_ job: StagedJob, _ isReserved: Bool, _ values: inout BoundStatement.Values) {
        job.row.bind(
            batch: batch.id, generation: generation, state: isReserved ? .claimed : .queued, to: &values)
    }

    /// Notes a job that has got a row of its own.
    private func added(_ job: StagedJob, _ id: Int64, _ isReserved: Bool) throws {
        if gathering?.add(job, id: id, isReserved: isReserved) == false { try giveUpReserve() }
        note(job, id)
    }

    private func note(_ job: StagedJob, _ id: Int64) {
        if let secrets = job.secrets { self.secrets[id] = secrets }
        needs.note(job, id)
    }

    private func addOne(_ job: StagedJob) throws {
        let isReserved = gathering?.hasRoom ?? false
        try insert.run { bind(job, isReserved, &$0) }
        if db.changesCount > 0 { return try added(job, db.lastInsertedRowID, isReserved) }
        try addAgain(job)
    }

    /// Stages a job that has a row already.
    private func addAgain(_ job: StagedJob) throws {
        let (spec, place, made) = (job.spec, job.place, job.row)
        find.setUncheckedArguments([batch.id, made.identity])
        guard let row = try Row.fetchOne(find) else { return }
        let id: Int64 = row[stored: "id"]
        let seen: Int64 = row[stored: "generation"]
        guard seen != generation else {
            if RestagingRule.folds(place, isSame: row[stored: "fingerprint"] == made.fingerprint) {
                count -= 1
                return
            }
            return addDuplicate(spec, place, other: row[stored: "line"])
        }
        let oldFingerprint: Int64 = row[stored: "fingerprint"]
        let changed = oldFingerprint != made.fingerprint || batch.hasMoved && spec.hasRelativePath
        let old = JobState(stored: row[stored: "state"])
        let isDoubtful =
            (row[stored: "errorCode"] as String?) == TransferError.Code.mayHaveBeenSent.rawValue
            && (row[stored: "wasInterrupted"] as Bool)
        if old == .claimed, changed { underWay.insert(id) }
        let restaged = RestagedJob(
            old, hasChanged: changed, isDoubtful: isDoubtful, isReported: isReported, isReload: isReload)
        if restaged.stays, isDoubtful { isInDoubt = true }
        if changed { try abandon("id = ?", [id]) }
        let arguments = Self.restaging.arguments(state: restaged.state, [id]) { column in
            column == .staging ? .number(generation) : made.value(column)
        } holds: {
            restaged.holds($0)
        }
        update.setUncheckedArguments(arguments)
        try update.execute()
        note(job, id)
    }

    /// Notes uploads that servers hold, before their jobs are changed or dropped. Jobs whose secrets were never stored
    /// are left out, because their servers cannot be asked.
    private func abandon(_ condition: String, _ arguments: StatementArguments) throws {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT id, spec, upload FROM job
                WHERE \(condition) AND isUpload AND NOT hasSecrets AND holdsSomething(upload)
                """, arguments: arguments)
        abandoned += rows.compactMap { AbandonedUpload(id: $0[stored: 0], spec: $0[stored: 1], upload: $0[stored: 2]) }
    }

    private func addDuplicate(_ spec: JobSpec, _ own: JobLocations?, other: Int?) {
        let place = other.map { " (line \($0))" } ?? ""
        let what = spec.id == nil ? "same destination as another job" : "same id as another job"
        // A program names its jobs itself, so it gets no offer.
        let offer = spec.id == nil && !spec.isUpload && own != nil ? "; \(Collisions.offer)" : ""
        report.add(JobFileFault("\(what)\(place): \(spec.identity)\(offer)") { own?.identityFault($0) })
    }

    /// Gives up the reserve: the batch's jobs are claimed like those of other batches.
    private func giveUpReserve() throws {
        gathering = nil
        try db.execute(sql: Self.givingUp.sql, arguments: Self.givingUp.arguments([batch.id]))
    }

    /// Drops jobs that are no longer in the file, and makes the checks that need all jobs.
    package func finish() throws {
        try addGathered()
        if let made = gathering?.finish() {
            // A new batch had no jobs before, and none of these needs others.
            if destinations.mayBeShared { try destinations.find(db, batch: batch.id, &report) }
            reserve = made
            if let packing { try Packs.insert(db, packing.pack, batch: batch.id, first: packing.first) }
            return try ReserveRows.begin(db, batch: batch.id, of: owner, made, jobs: count)
        }
        if !keepsWhatIsMissing {
            try abandon("batch = ? AND generation <> ?", [batch.id, generation])
            try db.execute(
                sql: "DELETE FROM job WHERE batch = ? AND generation <> ?", arguments: [batch.id, generation])
        }
        if destinations.mayBeShared { try destinations.find(db, batch: batch.id, &report) }
        try needs.resolve(db, batch: batch.id, generation: generation, isPartial: isPartial, &report)
        if isReload { try Needs.revive(db, batch: batch.id) }
        if report.isEmpty { _ = try Needs.skipWhatCannotStart(db, batch: batch.id) }
        try db.execute(
            sql:
                "UPDATE batch SET hasNeeds = EXISTS (SELECT 1 FROM need JOIN job ON job.id = need.job WHERE job.batch = ?1) WHERE id = ?1",
            arguments: [batch.id])
    }

    private static let restaging = JobUpdate(.restage, guards: false) { "id = ?\($0)" }

    private static let givingUp = JobUpdate(.giveBack) { "batch = ?\($0)" }
}
