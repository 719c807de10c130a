package import TransferCore

/// An error that PostgreSQL answered with.
package struct PostgresFault: Error, Sendable, Hashable {
    /// The error's code of five letters and digits (PostgreSQL's manual, "PostgreSQL Error Codes").
    package let code: String
    package let message: String

    package static let noPrivilege = "42501"
    static let noDatabase = "3D000"
    /// The codes of a login that does not exist, whose password is wrong, or that no rule of the server admits.
    static let wrongPassword = "28P01"
    static let refusedLogins: Set = [wrongPassword, "28000"]
    /// The code of changes that a standby refuses.
    static let noChanges = "25006"

    /// The code of a statement that took longer than `statement_timeout` allows, or that an administrator cancelled.
    static let cancelled = "57014"

    /// Whether the server gave up the statement.
    package var isCancelled: Bool { code == Self.cancelled }

    /// The codes of a prepared statement that exists already, or no longer: another connection answered than before.
    private static let pooled: Set = ["42P05", "26000"]

    /// Whether the same transaction may succeed at another time, because other transactions were in its way.
    package var isConflict: Bool { ["40001", "40P01", "55P03"].contains(code) }

    /// Codes of a server that starts, stops, has no place for a connection, has no space, takes no changes, or gave up a
    /// statement. A later attempt may succeed; class 08 means lost connections.
    private static let absent: Set = ["57P01", "57P02", "57P03", "53300", "53100", noChanges, cancelled]

    /// Returns whether the database is away, and the question itself is not at fault.
    package static func isUnavailable(_ error: any Error) -> Bool {
        if let fault = error as? PostgresFault { return absent.contains(fault.code) || fault.code.hasPrefix("08") }
        guard let error = error as? TransferError else { return false }
        return error.isTransient
            && [.connectionLost, .cannotConnect, .timedOut, .fileAccess, .databaseRefused, .rightMissing].contains(
                error.code)
    }

    /// Returns whether the database refuses a process: its login, the database's name or a right. A person who changes
    /// the password or the rights may end that soon, so it is worth a wait for a process that was admitted before.
    package static func isRefusal(_ error: any Error) -> Bool {
        guard let code = (error as? TransferError)?.code else { return false }
        return code == .databaseRefused || code == .rightMissing
    }

    /// Returns whether an error remains until a person changes the database, its rights or the address.
    package static func isLasting(_ error: any Error) -> Bool {
        guard let error = error as? TransferError else { return false }
        return !error.isTransient && [.fileAccess, .databaseRefused, .rightMissing].contains(error.code)
    }

    /// - Returns: `nil` for an error that is not the database's.
    package static func explained(_ error: any Error, _ address: PostgresAddress) -> TransferError? {
        (error as? PostgresFault)?.explained(address) ?? error as? TransferError
    }

    /// Returns an error that names the fault of the queue's database in words.
    package func explained(_ address: PostgresAddress) -> TransferError {
        let place = "the queue \(address.shown)"
        return switch code {
        case "53100": TransferError(.fileAccess, "the disk of \(place) is full", isTransient: true)
        case Self.noDatabase:
            TransferError(
                .databaseRefused,
                "there is no such database for \(place): \(message); CREATE DATABASE makes it, or name another")
        case _ where Self.refusedLogins.contains(code):
            TransferError(
                .databaseRefused,
                "the server of \(place) refuses the login: \(message); the name in the address, the password (.pgpass, PGPASSWORD) and pg_hba.conf decide"
            )
        case Self.noPrivilege:
            TransferError(.rightMissing, "the database's role may not do that in \(place): \(message)")
        case _ where Self.pooled.contains(code):
            TransferError(
                .databaseRefused,
                "\(place) is behind a pooler that shares connections (PgBouncer's pool_mode = transaction or statement): "
                    + "name the database itself, or a pool with pool_mode = session")
        case Self.noChanges:
            TransferError(
                .fileAccess,
                "\(place) takes no changes: its server is a standby, or default_transaction_read_only is on",
                isTransient: true)
        case Self.cancelled:
            TransferError(
                .timedOut,
                "\(place): the server gave up a statement (\(message)): the statement_timeout of the role or of the database may be too short",
                isTransient: true)
        case _ where Self.isUnavailable(self):
            TransferError(.connectionLost, "\(place): \(message)", isTransient: true)
        case _ where isConflict:
            TransferError(
                .timedOut, "\(place): other sessions hold the locks that are needed: \(message)", isTransient: true)
        default: TransferError(.internalFault, "\(place): \(message) (\(code))")
        }
    }
}
