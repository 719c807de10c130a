import TransferCore

/// A migration that makes the tables of a queue, or changes those of an earlier version. One process does it at a time.
package struct PostgresMigration: Sendable {
    package let address: PostgresAddress
    package var steps = PostgresSchema.steps

    package init(address: PostgresAddress) { self.address = address }

    package func run(_ db: PostgresConnection) throws {
        guard try db.run(Self.encoding).first?.text(0) == "UTF8" else {
            throw TransferError(.databaseRefused, "the queue's database has to be one whose encoding is UTF8")
        }
        // Tables are changed by their owner alone.
        guard db.calls == nil else { return try requireTables(db) }
        guard try !wanting(db).isEmpty || !functions.wanting(db).isEmpty else { return }
        try db.script("BEGIN")
        do {
            try db.run(Self.turn, [address.schema])
            try migrate(db)
            try db.script("COMMIT")
        } catch {
            if !db.isBroken { _ = try? db.script("ROLLBACK") }
            throw error
        }
    }

    /// Checks the tables, for a process that only reads.
    ///
    /// - Throws: `TransferError` where there is no such queue, or one of another version.
    package func requireTables(_ db: PostgresConnection) throws {
        let missing = try wanting(db)
        if missing.count == steps.count {
            throw TransferError(.fileMissing, "there is no queue \(address.shown); who brings jobs into it makes it")
        }
        guard missing.isEmpty else {
            throw TransferError(
                .fileAccess,
                "the queue \(address.shown) is one of an earlier version: a worker of this version changes it")
        }
    }

    /// Returns the steps that the queue's tables lack.
    ///
    /// - Throws: `TransferError` where a newer version of this program has changed them.
    private func wanting(_ db: PostgresConnection) throws -> [PostgresSchema.Step] {
        // A statement that reads the catalog sees all earlier commits. In contrast, to_regclass() may answer from a
        // cache as old as the transaction.
        let isThere = try db.run(Self.existence, [address.schema]).first?.flag(0)
        guard isThere == true else { return steps }
        let made = Set(try db.run(Self.stepNames).compactMap { $0.text(0) })
        if let unknown = made.subtracting(steps.map(\.name)).sorted().first {
            throw TransferError(
                .databaseRefused,
                "the queue \(address.shown) was made by a newer version of this program, which this one cannot read (\"\(unknown)\"); nothing was changed: use the newer version, or another queue"
            )
        }
        return steps.filter { !made.contains($0.name) }
    }

    private func migrate(_ db: PostgresConnection) throws {
        // The migration may have been done by another process meanwhile.
        let steps = try wanting(db)
        let isNew = steps.count == self.steps.count
        if isNew { try db.script("CREATE SCHEMA IF NOT EXISTS \"\(address.schema)\"") }
        try becomeOwner(db)
        if isNew {
            try db.script("CREATE TABLE step (name TEXT PRIMARY KEY, made TIMESTAMPTZ NOT NULL DEFAULT now())")
        } else if !steps.isEmpty {
            try refuseWhileOthersWork(db)
        }
        for step in steps {
            try db.script(step.sql)
            try db.run(Self.stepNote, [step.name])
        }
        if !isNew, !steps.isEmpty { try functions.drop(db) }
        try functions.make(db)
    }

    private var functions: PostgresFunctions { PostgresFunctions(schema: address.schema) }

    /// Members of the owner's role and superusers make tables and functions that belong to the owner, because a
    /// function has its owner's rights.
    private func becomeOwner(_ db: PostgresConnection) throws {
        let owner = try db.run(Self.owner, [address.schema]).first?.text(0)
        if let owner { try db.script("SET LOCAL ROLE \(owner)") }
    }

    /// Refuses the change while programs of an earlier version work, because they would misread the changed tables.
    private func refuseWhileOthersWork(_ db: PostgresConnection) throws {
        let workers = try db.run(Self.workers).map { "\($0.text(0) ?? "") (process \($0.int(1) ?? 0))" }
        guard !workers.isEmpty else { return }
        throw TransferError(
            .fileAccess,
            "the queue \(address.shown) has to be changed for this version, and an earlier one works on it: stop \(workers.joined(separator: ", ")) first"
        )
    }

    // MARK: Statements

    private static let encoding = PostgresStatement(direct: "SHOW server_encoding")

    private static let turn = PostgresStatement(direct: "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))")

    private static let existence = PostgresStatement(
        direct: "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = $1 AND tablename = 'step')")

    private static let owner = PostgresStatement(
        direct: "SELECT nspowner::regrole FROM pg_catalog.pg_namespace WHERE nspname = $1")

    private static let stepNames = PostgresStatement("step_names", .all, "SELECT name FROM step")

    private static let stepNote = PostgresStatement(direct: "INSERT INTO step (name) VALUES ($1)")

    private static let workers = PostgresStatement(
        direct: "SELECT host, pid FROM process WHERE until > \(PostgresClock.now) ORDER BY generation LIMIT 3")

    package static let statements = [
        stepNames
    ]
}
