import TransferCore

/// The records of a queue that a crash of its database or a fail-over to a standby may lose.
package struct PostgresReplication: Sendable {
    package let database: PostgresDatabase

    package init(database: PostgresDatabase) { self.database = database }

    /// Returns the possible loss and the settings that prevent it, in a sentence for people.
    ///
    /// - Returns: `nil` where each record is on two disks before a job counts as ended, and where there is no standby.
    package func durabilityWarning() throws -> String? {
        try database.read { db in
            guard let row = try db.run(Self.settings).first else { return nil }
            return Self.durabilityWarning(
                hasStandbys: row.flag(0), synchronous: row.text(1) ?? "", commit: row.text(2) ?? "on")
        }
    }

    /// - Parameters:
    ///   - synchronous: The server's `synchronous_standby_names`.
    ///   - commit: The login's `synchronous_commit`. From `remote_write` upwards a standby has all committed
    ///     transactions.
    package static func durabilityWarning(hasStandbys: Bool, synchronous: String, commit: String) -> String? {
        var (causes, cures): ([String], [String]) = ([], [])
        if hasStandbys, synchronous.isEmpty {
            causes.append("its standbys are asynchronous")
            cures.append("synchronous_standby_names")
        }
        if commit == "off" || commit == "local" && hasStandbys {
            causes.append("synchronous_commit is \(commit)")
            cures.append("synchronous_commit = on")
        }
        guard !causes.isEmpty else { return nil }
        let event = [commit == "off" ? "a crash" : nil, hasStandbys ? "a fail-over" : nil].compactMap { $0 }
        return
            "in \(event.joined(separator: " or ")) the queue's database may lose its last records, as \(causes.joined(separator: " and ")): their jobs would be done again, and what was sent by POST might be sent twice; \(cures.joined(separator: " and ")) there prevents that"
    }

    // MARK: Statements

    /// All roles see the rows of the replicas, but few see their content. A backup in progress has a row, too, and is
    /// left out where its state is visible.
    private static let settings = PostgresStatement(
        "replication", .all,
        """
        SELECT EXISTS (SELECT FROM pg_stat_replication WHERE state IS DISTINCT FROM 'backup'),
            current_setting('synchronous_standby_names'), current_setting('synchronous_commit')
        """)

    package static let statements = [
        settings
    ]
}
