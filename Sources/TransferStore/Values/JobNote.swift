package import TransferCore
package import TransferJobs

/// A fact that the next attempt of a job has to know, in this process or another.
package enum JobNote: Sendable {
    /// The state that an upload needs to continue; durable. With a state by which the server can be asked, nothing is
    /// in doubt any longer (``sending(_:isUnrepeatable:version:)``).
    case upload(UploadRecord?, of: Int64)
    /// The first byte of an attempt is about to leave; durable.
    ///
    /// - Parameters:
    ///   - isUnrepeatable: Whether it is unknown from then on if the upload arrived, should the process die.
    ///   - version: The version that is sent, where no other may be sent later.
    case sending(Int64, isUnrepeatable: Bool, version: UploadRecord?)
    /// The record of a partial file whose file system cannot store it with the file. The record is durable here if its
    /// bytes are, or if their loss would cost much. For a small file, a loss of power leaves a partial file without a
    /// record.
    case part(ResumeData, of: Int64)
    /// The fingerprint of a watched file's bytes, before the first of them leaves.
    /// ``sending(_:isUnrepeatable:version:)`` makes it durable where that matters.
    case fingerprint(UInt64, ofHistory: Int64)
    /// The server has been asked to drop a cancelled upload, or has nothing of it.
    case abandoned(Int64)
}

extension JobNote {
    /// Returns the notes about the upload records that ends and steps leave. A store writes them before the ends and
    /// steps, in the same transaction, because these decide which records stay.
    package static func uploads(_ ends: [JobEnd], _ steps: [JobStep]) -> [JobNote] {
        ends.compactMap { JobNote($0.upload, of: $0.id) } + steps.compactMap { JobNote($0.upload, of: $0.id) }
    }

    private init?(_ change: UploadChange, of id: Int64) {
        switch change {
        case .none: return nil
        case .replaced(let record): self = .upload(record, of: id)
        case .removed: self = .upload(nil, of: id)
        }
    }

    /// The size of a partial file that is worth a wait for the disk, in bytes.
    private static let muchToLose: Int64 = 1 << 20

    /// Whether the note must survive a loss of power.
    package var isDurable: Bool {
        switch self {
        case .upload, .sending, .abandoned: true
        case .fingerprint: false
        case .part(let record, _):
            record.synced.prefixLength > 0 || record.total.map { $0 >= Self.muchToLose } ?? true
        }
    }
}
