import CTransferPostgres
import Glibc
package import TransferCore

// Notifications (PostgreSQL's manual, LISTEN and NOTIFY).
extension PostgresConnection {
    /// Waits for notifications of the channels that this connection listens to.
    ///
    /// - Parameter limit: The end of the wait.
    /// - Returns: The payloads of the notifications; none where the time is over.
    /// - Throws: `TransferError` where the connection is lost.
    package func notices(until limit: MonotonicTime) throws -> [String] {
        var payloads = taken()
        if payloads.isEmpty, try look(for: Int16(POLLIN), until: limit) {
            guard PQconsumeInput(raw) == 1 else { throw lost }
            payloads = taken()
        }
        return payloads
    }

    private func taken() -> [String] {
        var payloads: [String] = []
        while let notice = PQnotifies(raw) {
            payloads.append(String(cString: notice.pointee.extra))
            PQfreemem(notice)
        }
        return payloads
    }
}
