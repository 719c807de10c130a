package import TransferCore
package import TransferJobs

/// What the next attempt of a job has to know, in this process or another.
package enum JobNote: Sendable {
    /// What an upload needs to go on; durable. Where the server can be asked by it what it has, nothing is in doubt any more
    /// (``sending(_:isUnrepeatable:version:)``).
    case upload(UploadRecord?, of: Int64)
    /// The first byte of an attempt is about to leave; durable.
    ///
    /// - Parameters:
    ///   - isUnrepeatable: Whether nobody can say any more from then on whether it arrived, if the process dies.
    ///   - version: What is sent, where no other version is to be sent later.
    case sending(Int64, isUnrepeatable: Bool, version: UploadRecord?)
    /// What a partial file is that can't bear it itself. What is durable of it, and what would cost much, is durable here
    /// too; of a small file a loss of power leaves a partial file that nobody knows.
    case part(ResumeData, of: Int64)
    /// Of the bytes of a watched file, before the first of them leaves; ``sending(_:isUnrepeatable:version:)`` makes it
    /// durable where that counts.
    case fingerprint(UInt64, ofLedger: Int64)
    /// Of a cancelled upload: the server has been told, or has nothing.
    case abandoned(Int64)
}
