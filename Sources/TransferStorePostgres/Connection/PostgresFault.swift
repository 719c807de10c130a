package import TransferCore

/// An error that PostgreSQL answered with.
package struct PostgresFault: Error, Sendable, Hashable {
    /// Five letters and digits (PostgreSQL's manual, "PostgreSQL Error Codes").
    package let code: String
    package let message: String

    package static let noPrivilege = "42501"

    /// Whether the same transaction may succeed another time, as others were in its way.
    package var isConflict: Bool { ["40001", "40P01", "55P03"].contains(code) }

    /// The fault in words that say what is wrong with the queue's database.
    package func explained(_ address: PostgresAddress) -> TransferError {
        let place = "the queue \(address.shown)"
        return switch code {
        case "53100": TransferError(.fileAccess, "the disk of \(place) is full", isTransient: true)
        case Self.noPrivilege: TransferError(.fileAccess, "the database's role may not do that in \(place): \(message)")
        case "25006":
            TransferError(.fileAccess, "\(place) is a standby, which takes no changes", isTransient: true)
        default: TransferError(.internalFault, "\(place): \(message) (\(code))", isTransient: isConflict)
        }
    }
}
