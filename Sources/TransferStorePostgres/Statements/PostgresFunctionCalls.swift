import TransferCore

/// The access of a login that has no rights on a queue's tables: it calls the functions of the statements.
package struct PostgresFunctionCalls: Sendable {
    package let address: PostgresAddress
    package let login: String
    /// The part that the process wants to have.
    package let wanted: PostgresAccess

    private static let undefinedFunction = "42883"

    /// - Returns: `nil` for a statement that every login runs directly.
    func text(_ statement: PostgresStatement, values count: Int) -> String? {
        guard let function = statement.function else { return nil }
        let values = (0..<count).map { "$\($0 + 1)" }.joined(separator: ", ")
        return "SELECT * FROM \"\(address.schema)\".\"\(function)\"(\(values))"
    }

    /// Returns the fault of a call in words that name the login or owner who can mend it.
    func explained(_ fault: PostgresFault, _ statement: PostgresStatement) -> any Error {
        switch fault.code {
        case Self.undefinedFunction:
            return TransferError(
                .fileAccess,
                "the queue \(address.shown) is not ready for this version of the program: a worker of this version that connects as the queue's owner makes it so"
            )
        case PostgresFault.noPrivilege:
            let own = statement.access.intersection(wanted)
            let parts = (own.isEmpty ? statement.access : own).names
            let quoted = login.replacing("'", with: "''")
            return TransferError(
                .rightMissing,
                "the login \"\(login)\" may not \(parts.joined(separator: " or ")) in the queue \(address.shown): the queue's owner allows it with SELECT \(address.schema).allow('\(quoted)', '\(parts.first ?? "")')"
            )
        default: return fault
        }
    }
}
