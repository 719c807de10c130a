import GRDB
import TransferCore

/// Faults of the store in words for people.
package enum DatabaseFault {
    /// Says what is wrong with the database and what to do, where SQLite names a fault; gives other errors back as they are.
    ///
    /// - Parameter path: The database's file.
    package static func explain(_ error: any Error, path: String) -> any Error {
        if let lost = error as? LeaseLost { return lost.explained }
        guard let error = error as? DatabaseError else { return error }
        let words =
            switch error.resultCode {
            case .SQLITE_FULL:
                "no space left on its disk; make room there and start again, or name another folder\(CommandWords.only(" with --state"))"
            case .SQLITE_CORRUPT, .SQLITE_NOTADB:
                "it is damaged (\(words(error))); \(CommandWords.choose("transfer run, get, put and watch move", "who opens it to run moves")) it aside and \(CommandWords.choose("begin", "begins")) a new one"
            default: words(error)
            }
        if DamagedDatabase.isToldBy(error) { DamagedDatabase.note(path) }
        return TransferError(
            .fileAccess, "the queue's database \(path) can't be used: \(words)",
            cause: .openSSL("SQLite \(error.extendedResultCode.rawValue)"))
    }

    /// SQLite's own words.
    package static func words(_ error: any Error) -> String { (error as? DatabaseError)?.message ?? "\(error)" }
}
