import GRDB
import TransferCore

extension SQLiteStore {
    /// Takes jobs into a batch, inside one transaction: all of them or none.
    final class Stager: JobIntake {
        private let db: Database
        private let batch: HeldBatch
        private let generation: Int64
        private let keepsWhatIsMissing: Bool
        private let isReload: Bool
        private var hasIDs = false
        private var hasRelativePaths = false
        private var hasAbsolutePaths = false
        private var needs: [(job: Int64, identity: String, need: String, at: JobLocations?, position: Int)] = []
        private let insert: BoundStatement
        private let update: Statement
        private let find: Statement
        private(set) var count = 0
        private(set) var report = JobFileReport()
        private var format = JobFileFormat.json
        /// Secrets by job; they stay in memory.
        private(set) var secrets: [Int64: JobSecrets] = [:]
        /// Jobs of other content now that this process works on by what they were.
        private(set) var underWay: Set<Int64> = []
        /// Uploads of which servers hold parts that nobody will go on with.
        private(set) var abandoned: [AbandonedUpload] = []
        /// Whether there are jobs that may have arrived, and of which nobody has been told.
        private(set) var isInDoubt = false
        /// Whether somebody has been told of those that there were.
        private let isTold: Bool
        private let owner: Int64
        /// What is taken at once, of a new batch.
        private var gathering: JobReserve.Builder?
        /// To be inserted by one statement: to begin and to end one costs SQLite as much as a row does.
        private var gathered: [StagedJob] = []
        private var insertGroup: BoundStatement?
        private var origins = OriginMemory()
        private(set) var reserve: JobReserve?
        /// As long as all jobs are simple ones, and fit into the reserve.
        private(set) var packing: Packing?
        /// Whether there are jobs with faults of their own, which weren't added: others may need them.
        var isPartial = false

        /// - Parameter owner: Who takes the first jobs of a new batch at once.
        init(
            _ db: Database, batch: HeldBatch, generation: Int64, _ options: StagingOptions, isTold: Bool, owner: Int64
        ) throws {
            self.db = db
            self.batch = batch
            self.generation = generation
            keepsWhatIsMissing = options.keepsWhatIsMissing
            isReload = options.isReload
            self.isTold = isTold
            self.owner = owner
            let claims = options.claiming > 0 && batch.isNew
            gathering = claims ? JobReserve.Builder(batch: batch.id, room: options.claiming) : nil
            if gathering != nil { packing = Packing(first: try SQLiteStore.nextJob(db)) }
            insert = BoundStatement(
                try db.makeStatement(sql: "\(Self.insertion) \(Self.row) ON CONFLICT DO NOTHING"))
            find = try db.makeStatement(
                sql:
                    "SELECT id, generation, line, state, fingerprint, errorCode, wasInterrupted FROM job WHERE batch = ? AND identity = ?"
            )
            update = try db.makeStatement(
                sql: """
                    UPDATE job SET generation = ?, line = ?, column = ?, width = ?, number = ?, state = ?,
                        priority = ?, origin = ?, destination = ?, spec = ?, fingerprint = ?, hasSecrets = ?,
                        isUpload = ?, networkPlaces = ?, network = ?,
                        askedWait = CASE WHEN ? THEN askedWait ELSE 0 END,
                        attempts = CASE WHEN ? THEN attempts ELSE 0 END,
                        endSequence = CASE WHEN ? THEN endSequence END, mirror = 0, spentMirrors = 0,
                        notBefore = CASE WHEN ? THEN notBefore END, needsLeft = 0,
                        wasInterrupted = CASE WHEN ? THEN 0 ELSE wasInterrupted END WHERE id = ?
                    """)
        }

        /// - Parameter place: Where the job stands in its file, if it comes from one.
        func add(_ spec: JobSpec, at place: JobLocations?) throws {
            try add(StagedJob(spec, at: place, directory: batch.directory, origins: &origins))
        }

        func add(_ job: StagedJob) throws {
            count += 1
            if let place = job.place { format = place.format }
            if job.spec.id != nil { hasIDs = true }
            if !job.row.isUpload {
                if job.spec.hasRelativePath { hasRelativePaths = true } else { hasAbsolutePaths = true }
            }
            guard gathering != nil else { return try addOne(job) }
            if packing != nil {
                if pack(job) { return }
                try stopPacking()
            }
            gathered.append(job)
            if gathered.count == Self.groupSize { try addGathered() }
        }

        /// - Returns: `false` where it's for the database to compare it with the others.
        private func pack(_ job: StagedJob) -> Bool {
            guard gathering?.hasRoom == true, !hasIDs, !(hasRelativePaths && hasAbsolutePaths),
                packing?.admits(job) == true, let id = packing?.next,
                gathering?.add(job, id: id, isReserved: true) == true
            else { return false }
            packing?.add(job)
            note(job, id)
            return true
        }

        /// Gives what was packed so far its rows; the jobs that follow get theirs at once.
        private func stopPacking() throws {
            guard let packing = exchange(&packing, with: nil) else { return }
            try SQLiteStore.insert(
                db, packing.jobs.lazy.map(\.row), first: packing.first, batch: batch.id, state: .claimed)
            let group = Array(repeating: Self.row, count: Self.groupSize).joined(separator: ", ")
            insertGroup = BoundStatement(try db.makeStatement(sql: "\(Self.insertion) \(group)"))
        }

        private static let groupSize = 8
        private static let insertion = "INSERT INTO job (\(JobRow.columns)) VALUES"
        private static let row = "(" + Array(repeating: "?", count: JobRow.columnCount).joined(separator: ", ") + ")"

        /// Of a new batch: all of them, or one by one where two are the same.
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
            // One statement's rows have one number after the other.
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

        /// It has a row of its own now, which it hadn't before.
        private func added(_ job: StagedJob, _ id: Int64, _ isReserved: Bool) throws {
            if gathering?.add(job, id: id, isReserved: isReserved) == false { try giveUpReserve() }
            note(job, id)
        }

        private func note(_ job: StagedJob, _ id: Int64) {
            if let secrets = job.secrets { self.secrets[id] = secrets }
            for (position, need) in job.spec.needs.enumerated() {
                needs.append((id, job.row.identity, need, job.place, position))
            }
        }

        private func addOne(_ job: StagedJob) throws {
            let isReserved = gathering?.hasRoom ?? false
            try insert.run { bind(job, isReserved, &$0) }
            if db.changesCount > 0 { return try added(job, db.lastInsertedRowID, isReserved) }
            try addAgain(job)
        }

        /// It has a row already.
        private func addAgain(_ job: StagedJob) throws {
            let (spec, place, made) = (job.spec, job.place, job.row)
            find.setUncheckedArguments([batch.id, made.identity])
            guard let row = try Row.fetchOne(find) else { return }
            let id: Int64 = row["id"]
            let seen: Int64 = row["generation"]
            guard seen != generation else {
                return addDuplicate(spec, place, other: row["line"])
            }
            let oldFingerprint: Int64 = row["fingerprint"]
            let changed = oldFingerprint != made.fingerprint || batch.hasMoved && spec.hasRelativePath
            let old = JobState(rawValue: row["state"]) ?? .queued
            let isDoubtful =
                (row["errorCode"] as String?) == TransferError.Code.mayHaveBeenSent.rawValue
                && (row["wasInterrupted"] as Bool)
            if old == .claimed, changed { underWay.insert(id) }
            let stays = RestagingRule.stays(
                old, changed: changed, mayHaveArrived: isDoubtful && !isTold, isReload: isReload)
            if stays, isDoubtful { isInDoubt = true }
            if changed { try abandon("id = ?", [id]) }
            let goesOn = stays || old == .queued && !changed
            // Whoever holds a job holds it whatever it becomes.
            let state: JobState = stays || isReload && old == .paused ? old : .queued
            update.setUncheckedArguments([
                generation, made.span?.line, made.span?.column, made.span?.length, made.number, state.rawValue,
                made.priority, made.origin, made.destination, made.text, made.fingerprint,
                made.hasSecrets, made.isUpload, made.networkPlaces, made.network,
                goesOn, goesOn, state.hasEnded, stays,
                changed || isDoubtful && !stays, id,
            ])
            try update.execute()
            // Bytes of another source can't be continued, and its digest says nothing any more.
            if changed {
                try db.execute(
                    sql:
                        "UPDATE job SET resume = NULL, upload = NULL, digest = NULL, validator = NULL WHERE id = ?",
                    arguments: [id])
            }
            note(job, id)
        }

        /// Before jobs become others, or are dropped. Where their secrets were never stored, their servers can't be told.
        private func abandon(_ condition: String, _ arguments: StatementArguments) throws {
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT id, spec, upload FROM job
                    WHERE \(condition) AND isUpload AND NOT hasSecrets AND holdsSomething(upload)
                    """, arguments: arguments)
            abandoned += rows.compactMap { row in
                guard let upload = UploadRecord(text: row[2]), let spec = try? JobSpec(canonicalJSON: row[1] as String)
                else { return nil }
                return AbandonedUpload(id: row[0], spec: spec, upload: upload)
            }
        }

        private func addDuplicate(_ spec: JobSpec, _ own: JobLocations?, other: Int?) {
            let place = other.map { " (line \($0))" } ?? ""
            let what = spec.id == nil ? "same destination as another job" : "same id as another job"
            report.add(Self.fault("\(what)\(place): \(spec.identity)") { own?.identityFault($0) })
        }

        /// A fault with its place, where it has one.
        private static func fault(_ message: String, _ make: (String) -> JobFileFault?) -> JobFileFault {
            make(message) ?? JobFileFault(message: message, path: "", span: SourceSpan(line: 1, column: 1))
        }

        /// Its jobs are claimed like those of other batches.
        private func giveUpReserve() throws {
            gathering = nil
            try db.execute(
                sql: "UPDATE job SET state = \(JobStates.queued) WHERE batch = ? AND state = \(JobStates.claimed)",
                arguments: [batch.id])
        }

        /// Drops jobs that are gone from the file, and checks what only shows at the end.
        func finish() throws {
            try addGathered()
            if let made = gathering?.finish() {
                // Nothing was there before, and nothing is needed by others.
                if hasIDs || hasRelativePaths && hasAbsolutePaths { try findSharedDestinations() }
                reserve = made
                if let packing { try SQLiteStore.insert(db, packing.pack, batch: batch.id, first: packing.first) }
                return try SQLiteStore.beginReserve(db, batch: batch.id, of: owner)
            }
            if !keepsWhatIsMissing {
                try abandon("batch = ? AND generation <> ?", [batch.id, generation])
                try db.execute(
                    sql: "DELETE FROM job WHERE batch = ? AND generation <> ?", arguments: [batch.id, generation])
            }
            // Else the destination is the identity, and in one spelling.
            if hasIDs || hasRelativePaths && hasAbsolutePaths { try findSharedDestinations() }
            try resolveNeeds()
            if isReload { try SQLiteStore.revive(db, batch: batch.id) }
            if report.isEmpty { _ = try SQLiteStore.skipWhatCannotStart(db, batch: batch.id) }
            try db.execute(
                sql:
                    "UPDATE batch SET hasNeeds = EXISTS (SELECT 1 FROM need JOIN job ON job.id = need.job WHERE job.batch = ?1) WHERE id = ?1",
                arguments: [batch.id])
        }

        private func findSharedDestinations() throws {
            let rows = try Row.fetchAll(
                db,
                sql: """
                    SELECT max(id), destination, line, column, width, number,
                        (SELECT identity FROM job AS first WHERE first.batch = job.batch
                            AND first.destination = job.destination ORDER BY id LIMIT 1),
                        (SELECT line FROM job AS first WHERE first.batch = job.batch
                            AND first.destination = job.destination ORDER BY id LIMIT 1)
                    FROM job WHERE batch = ? AND destination <> '' GROUP BY destination HAVING count(*) > 1 LIMIT 20
                    """, arguments: [batch.id])
            for row in rows {
                let span = SourceSpan(line: row[2] ?? 1, column: row[3] ?? 1, length: row[4] ?? 1)
                let place = JobLocations(index: row[5] ?? 0, job: span, to: span, format: format)
                let other = (row[7] as Int?).map { " (line \($0))" } ?? ""
                report.add(place.destinationFault("same destination as job \"\(row[6] as String)\"\(other)"))
            }
        }

        private func resolveNeeds() throws {
            let hadNeeds = try Bool.fetchOne(db, sql: "SELECT hasNeeds FROM batch WHERE id = ?", arguments: [batch.id])
            guard hadNeeds == true || !needs.isEmpty else { return }
            // What was staged now needs what it says now, and nothing that it said before.
            try db.execute(
                sql: "DELETE FROM need WHERE job IN (SELECT id FROM job WHERE batch = ? AND generation = ?)",
                arguments: [batch.id, generation])
            var edges: [Int64: [Int64]] = [:]
            var firstNeed: [Int64: (place: JobLocations?, position: Int)] = [:]
            let search = try db.makeStatement(sql: "SELECT id FROM job WHERE batch = ? AND identity = ?")
            let link = try db.makeStatement(sql: "INSERT OR IGNORE INTO need (job, needed) VALUES (?, ?)")
            for (job, identity, need, place, position) in needs {
                guard let found = try Int64.fetchOne(search, arguments: [batch.id, need]) else {
                    if isPartial { continue }
                    let message = "job \"\(identity)\" needs \"\(need)\", which isn't in this batch"
                    report.add(Self.fault(message) { place?.needFault($0, at: position) })
                    continue
                }
                edges[job, default: []].append(found)
                if firstNeed[job] == nil { firstNeed[job] = (place, position) }
                try link.execute(arguments: [job, found])
            }
            if let cycle = DependencyCycle.find(edges) {
                let names = try cycle.map { try identity(of: $0) }
                let circle = (names + names.prefix(1)).joined(separator: " → ")
                report.add(
                    Self.fault("jobs need each other in a circle: \(circle)") { message in
                        firstNeed[cycle[0]].flatMap { $0.place?.needFault(message, at: $0.position) }
                    })
            }
            try SQLiteStore.recountNeeds(db, batch: batch.id)
        }

        private func identity(of job: Int64) throws -> String {
            try String.fetchOne(db, sql: "SELECT identity FROM job WHERE id = ?", arguments: [job]) ?? ""
        }
    }
}
