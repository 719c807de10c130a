import CTransferPostgres
import Glibc
import TransferCore

/// An insertion of many rows into a table by COPY, which is the fastest way (PostgreSQL's manual, COPY). Until
/// ``finish()`` or ``giveUp()`` the connection does nothing else.
package final class PostgresCopy {
    private static let chunk = 256 << 10

    private let connection: PostgresConnection
    private var rows = PostgresCopyRows()
    private var isOpen = true

    /// - Parameter statement: `COPY … FROM STDIN`, in the text format.
    package init(_ connection: PostgresConnection, _ statement: String) throws {
        self.connection = connection
        try connection.script(statement)
    }

    package func add(_ write: (inout PostgresCopyRows) -> Void) throws {
        write(&rows)
        rows.endRow()
        if rows.bytes.count >= Self.chunk { try put() }
    }

    private func put() throws {
        while true {
            let taken = rows.bytes.withUnsafeBytes { bytes in
                PQputCopyData(
                    connection.raw, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count))
            }
            if taken == 1 { break }
            guard taken == 0 else { throw connection.lost }
            try connection.wait(for: Int16(POLLOUT))
        }
        rows.removeAll()
        try connection.flush()
    }

    /// - Throws: ``PostgresFault``.
    package func finish() throws {
        if !rows.bytes.isEmpty { try put() }
        try end(because: nil)
    }

    /// Gives the rows up; the transaction that they are in fails with them.
    package func giveUp() { if isOpen { try? end(because: "given up") } }

    private func end(because reason: String?) throws {
        isOpen = false
        while true {
            let ended = reason.map { PQputCopyEnd(connection.raw, $0) } ?? PQputCopyEnd(connection.raw, nil)
            if ended == 1 { break }
            guard ended == 0 else { throw connection.lost }
            try connection.wait(for: Int16(POLLOUT))
        }
        try connection.flush()
        _ = try connection.results()
    }
}
