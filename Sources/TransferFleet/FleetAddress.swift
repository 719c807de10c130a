package import TransferCore
import TransferStorePostgres

/// The address of a queue that many machines share: `postgres://[user@][host][:port]/database[?queue=NAME&…]`, with libpq's
/// parameters (PostgreSQL's manual, "Connection URIs") and the queue's name in addition.
public struct FleetAddress: Sendable, Hashable, CustomStringConvertible {
    let postgres: PostgresAddress

    /// - Throws: `TransferError` where it's no such address, or where it has a password.
    public init(_ url: String) throws { postgres = try PostgresAddress(url) }

    /// The address without anything that a log mustn't show.
    public var description: String { postgres.shown }

    /// Whether a word is meant to be such an address.
    public static func isMeant(_ word: String) -> Bool {
        word.hasPrefix("postgres://") || word.hasPrefix("postgresql://")
    }

    /// The reason why the queue can't be asked now.
    ///
    /// - Returns: `nil` for an error that isn't over when the database is back.
    package func connectionNotice(_ error: any Error) -> TransferError? {
        PostgresFault.isConnectionNotice(error) ? PostgresFault.explained(error, postgres) : nil
    }
}
