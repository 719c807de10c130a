package import TransferCore
package import TransferJobs

/// A fact that the next attempt of a job has to know, in this process or another.
package enum JobNote: Sendable {
    /// The state that an upload needs to go on; durable. With a state by which the server can be asked, nothing is in
    /// doubt any more (``sending(_:isUnrepeatable:version:)``).
    case upload(UploadRecord?, of: Int64)
    /// The first byte of an attempt is about to leave; durable.
    ///
    /// - Parameters:
    ///   - isUnrepeatable: Whether nobody can say any more from then on whether it arrived, if the process dies.
    ///   - version: What is sent, where no other version is to be sent later.
    case sending(Int64, isUnrepeatable: Bool, version: UploadRecord?)
    /// The record of a partial file that can't bear it itself. A record whose bytes are durable, or would cost much, is
    /// durable here too; of a small file a loss of power leaves a partial file that nobody knows.
    case part(ResumeData, of: Int64)
    /// The fingerprint of a watched file's bytes, before the first of them leaves;
    /// ``sending(_:isUnrepeatable:version:)`` makes it durable where that counts.
    case fingerprint(UInt64, ofHistory: Int64)
    /// The server has been told of a cancelled upload, or has nothing of it.
    case abandoned(Int64)
}

extension JobNote {
    /// The size of a partial file that is worth a wait for the disk, in bytes.
    private static let muchToLose: Int64 = 1 << 20

    /// Whether it has to be there after a loss of power too.
    package var isDurable: Bool {
        switch self {
        case .upload, .sending, .abandoned: true
        case .fingerprint: false
        case .part(let record, _):
            record.synced.prefixLength > 0 || record.total.map { $0 >= Self.muchToLose } ?? true
        }
    }
}
