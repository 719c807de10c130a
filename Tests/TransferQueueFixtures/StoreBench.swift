import FoundationEssentials
import GRDB
import Synchronization
package import TransferCore
import TransferEngine
package import TransferJobs
package import TransferStore
package import TransferStorePostgres
import TransferStoreSQLite
import TransferTestSupport
import TransferUpload

/// The stores that have to fulfil the guarantees of a ``JobStore``.
package enum StoreKind: String, CaseIterable, Sendable {
    case sqliteFile, sqliteInMemory, plain, postgres
    /// The same database, with a login that has no rights on its tables.
    case postgresLogin

    /// The available stores: without PostgreSQL its store is not tested, unless it is required.
    package static var allCases: [StoreKind] {
        [.sqliteFile, .sqliteInMemory, .plain] + (PostgresServer.isWanted ? [.postgres, .postgresLogin] : [])
    }
}

/// Processes that work on one queue, with any kind of storage.
package final class StoreBench {
    private let folder: TemporaryFolder
    private let make: () throws -> any JobStore & RunMemory
    private let end: (any JobStore) throws -> Void
    private let age: (Int64) throws -> Void
    private let remembered: () throws -> Int
    package let store: any JobStore & RunMemory

    package init(_ kind: StoreKind) async throws {
        folder = try TemporaryFolder("bench")
        switch kind {
        case .sqliteFile:
            let state = try StateFolder(folder.path("state"))
            make = { try SQLiteStore(state) }
            // The kernel releases the locks of a process that ends in the same way.
            end = { store in (store as? SQLiteStore).map { $0.database.locks.release($0.database.process) } }
            let raw = RawDatabase(path: state.database)
            age = { try raw.run("UPDATE submission SET time = time - \($0)") }
            remembered = { try Int(raw.run("SELECT count(*) FROM submission")[0][0] ?? "") ?? 0 }
        case .sqliteInMemory:
            let first = try SQLiteStore()
            make = { try SQLiteStore(first.database.connection) }
            end = { store in
                guard let store = store as? SQLiteStore else { return }
                try first.database.connection.write { db in
                    try db.execute(
                        sql: "UPDATE process SET started = started - 1 WHERE id = ?",
                        arguments: [store.database.process])
                }
            }
            age = { time in
                try first.database.connection.write { db in
                    try db.execute(sql: "UPDATE submission SET time = time - ?", arguments: [time])
                }
            }
            remembered = {
                try first.database.connection.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM submission") ?? 0 }
            }
        case .plain:
            let queue = MemoryQueue()
            make = { MemoryStore(queue) }
            end = { store in (store as? MemoryStore).map(queue.endLease) }
            age = { queue.ageSubmissions(by: $0) }
            remembered = { queue.submissions }
        case .postgres, .postgresLogin:
            let queue = UUID().uuidString.lowercased().replacing("-", with: "")
            let address = try PostgresAddress(await PostgresServer.shared.url(queue: queue))
            let database = try PostgresDatabase(address)
            var own = address
            if kind == .postgresLogin {
                let login = try await PostgresServer.shared.login("submit", "work", "read", in: queue)
                own = try PostgresAddress(await PostgresServer.shared.url(queue: queue, login: login))
            }
            make = { [own] in try PostgresStore(own) }
            end = { store in try (store as? PostgresStore)?.endLease(by: database) }
            age = { time in
                try database.write { db in
                    _ = try db.run(PostgresStatement(direct: "UPDATE submission SET time = time - $1"), [time])
                }
            }
            let count = PostgresStatement(direct: "SELECT count(*) FROM submission")
            remembered = { try database.read { try $0.run(count).first?.int(0) ?? 0 } }
        }
        store = try make()
    }

    /// Opens the store as a further process.
    package func another() throws -> any JobStore & RunMemory { try make() }

    /// Lets a process end without giving its jobs back, or stay silent for longer than its lease.
    package func lose(_ store: any JobStore) throws { try end(store) }

    /// Makes the submissions with a key this number of milliseconds older.
    package func ageSubmissions(by time: Int64) throws { try age(time) }

    /// Returns the number of stored submissions with a key, including expired ones.
    package func submissions() throws -> Int { try remembered() }
}

extension PostgresStore {
    /// Ends the lease of this process and lets the owner take over its jobs, in one transaction, as the lease may be
    /// renewed at any moment. The call runs between two of the process's own transactions, as a running transaction
    /// keeps its lease.
    package func endLease(by owner: PostgresDatabase) throws {
        let end = PostgresStatement(direct: "UPDATE process SET until = 0 WHERE generation = $1")
        try database.write { [process = database.process] _ in
            try owner.write { db in
                _ = try db.run(end, [process])
                try PostgresLeases.reclaim(db, own: owner.process)
            }
        }
    }
}

extension JobStore {
    @discardableResult
    package func stage(_ jobs: [JobSpec], _ name: String = "b", _ options: StagingOptions = StagingOptions()) throws
        -> StagedJobs
    {
        try stage(BatchHeader(name: name, source: nil, directory: "/"), options) { intake in
            for job in jobs { try intake.add(job, at: nil) }
            return true
        }
    }

    /// Claims all ready jobs, up to a number for each lane.
    package func claimAll(_ batch: Int64, limit: Int = 100_000, secrets: [Int64: JobSecrets] = [:]) throws
        -> [JobRecord]
    {
        let lanes = try backlog(batch: batch).ready.keys.sorted { $0.origin < $1.origin }
        return try claim(lanes.map { LaneWant(lane: $0, limit: limit) }, secrets: secrets)
            .flatMap(\.jobs).map(\.record)
    }

    @discardableResult
    package func end(_ record: JobRecord, _ outcome: JobEnd.Outcome) throws -> RecordedGroup {
        try self.record(
            [JobEnd(id: record.id, batch: record.batch, identity: record.identity, outcome: outcome)], [])
    }

    @discardableResult
    package func succeed(_ record: JobRecord) throws -> RecordedGroup {
        try end(record, .done(Sample.receipt("b", record.identity), FileStamp(size: 7, modified: 1)))
    }

    @discardableResult
    package func fail(_ record: JobRecord, _ error: TransferError = Sample.busy()) throws -> RecordedGroup {
        try end(record, .failed(error, attempts: 3, host: "h.example"))
    }

    package func step(_ record: JobRecord, to state: JobState, due: MonotonicTime? = nil, attempts: Int = 1) throws {
        _ = try self.record(
            [],
            [
                JobStep(
                    id: record.id, state: state, attempts: attempts, mirror: 0, spentMirrors: 0, due: due,
                    origin: "http://h.example", batch: record.batch, identity: record.identity)
            ])
    }

    /// Returns the number of jobs in each state, as an outside observer sees them.
    package func counts(_ batch: Int64) throws -> [JobState: Int] {
        try tally(batch: batch).counts.filter { $0.value > 0 }
    }

    package func names(_ events: [QueueEvent]) -> [String] {
        events.map { event in
            switch event.kind {
            case .finished(let receipt), .kept(let receipt): "done \(receipt.job)"
            case .failed(let failure): "failed \(failure.job) \(failure.error.code.rawValue)"
            case .skipped(let job, let need): "skipped \(job) for \(need)"
            case .cancelled(let job): "cancelled \(job)"
            default: "\(event.kind)"
            }
        }
    }
}

extension UploadRecord {
    /// Returns the record of an upload of which a server has a part.
    package static func sample(canAsk: Bool = true, isHeld: Bool = true) -> UploadRecord {
        UploadRecord(
            FileStamp(size: 7, modified: 1),
            state: UploadState(kind: "toy", canAsk: canAsk, isHeld: isHeld, payload: "p"), confirmed: 3)
    }

    /// The record of an upload that has only begun.
    package static var versionOnly: UploadRecord {
        UploadRecord(FileStamp(size: 7, modified: 1), state: nil, confirmed: 0)
    }
}
