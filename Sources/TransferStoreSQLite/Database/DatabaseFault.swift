import GRDB
import Glibc
import TransferCore
import TransferEngine
import TransferStore

/// Faults of the store in words for people.
package enum DatabaseFault {
    /// Returns an error that names the fault of the database and its remedy, where SQLite names a fault. Other errors
    /// are returned unchanged.
    ///
    /// - Parameter path: The database's file.
    package static func explain(_ error: any Error, path: String) -> any Error {
        if let lost = error as? LeaseLost { return lost.explained }
        guard let error = error as? DatabaseError else { return error }
        let words =
            switch error.resultCode {
            case .SQLITE_FULL:
                "no space left on its disk; make room there and start again, or name another folder\(CommandPhrases.only(" with --state"))"
            case .SQLITE_CORRUPT, .SQLITE_NOTADB:
                "it is damaged (\(words(error))); \(CommandPhrases.choose("transfer run, get, put and watch move", "who opens it to run moves")) it aside and \(CommandPhrases.choose("begin", "begins")) a new one"
            case .SQLITE_CANTOPEN, .SQLITE_IOERR: words(error) + limit()
            default: words(error)
            }
        if DamagedDatabase.isReportedBy(error) { DamagedDatabase.note(path) }
        return TransferError(
            .fileAccess, "the queue's database \(path) cannot be used: \(words)",
            cause: .openSSL("SQLite \(error.extendedResultCode.rawValue)"))
    }

    /// Returns the limit of the process that SQLite met, of descriptors or of the size of a file. SQLite's message does
    /// not name it.
    private static func limit() -> String {
        if OpenFiles.areExhausted {
            return
                " (too many open files, the limit is \(OpenFiles.limit): raise it with ulimit -n, or LimitNOFILE= in a unit)"
        }
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0, limit.rlim_cur != rlim_t.max else {
            return ""
        }
        return
            " (a file may have \(CountText.bytes(Int64(clamping: limit.rlim_cur))) here: raise the limit with ulimit -f, or LimitFSIZE= in a unit)"
    }

    /// Returns SQLite's own message.
    package static func words(_ error: any Error) -> String { (error as? DatabaseError)?.message ?? "\(error)" }
}
