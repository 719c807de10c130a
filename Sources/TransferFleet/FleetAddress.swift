package import TransferCore
import TransferStorePostgres

/// The address of a queue that many machines share: `postgres://[user@][host][:port]/database[?queue=NAME&…]`. The
/// parameters are libpq's (PostgreSQL's manual, "Connection URIs") and the queue's name.
public struct FleetAddress: Sendable, Hashable, CustomStringConvertible {
    let postgres: PostgresAddress

    /// Parses an address.
    ///
    /// - Throws: `TransferError` for a text that is not such an address, or that contains a password.
    public init(_ url: String) throws { postgres = try PostgresAddress(url) }

    /// The address without the parts that must not appear in a log.
    public var description: String { postgres.shown }

    /// Whether a text is meant to be such an address.
    public static func isMeant(_ word: String) -> Bool {
        word.hasPrefix("postgres://") || word.hasPrefix("postgresql://")
    }

    /// Returns the reason why the queue cannot be reached now.
    ///
    /// - Parameter wasAdmitted: Whether this process has worked on the queue before. A refusal, as during a change of the
    ///   password, is waited for then.
    /// - Returns: `nil` for an error that remains when the database is back.
    package func unavailability(_ error: any Error, wasAdmitted: Bool = false) -> TransferError? {
        guard PostgresFault.isUnavailable(error) || wasAdmitted && PostgresFault.isRefusal(error) else { return nil }
        return PostgresFault.explained(error, postgres)
    }

    /// Returns whether an error remains until a person acts: a refused login, a missing database, a right that the login
    /// lacks, or tables of another version. Another attempt would fail as well.
    package func isLasting(_ error: any Error) -> Bool { PostgresFault.isLasting(error) }
}
