import TransferEngine
import TransferJobs

extension [JobProof] {
    /// The proofs that a download came whole. Digests are compared before the file gets its name.
    init(_ download: JobSpec.Download, _ reported: ServerDigest?, _ outcome: ExchangeOutcome) {
        self = []
        if download.isProvenByDigests { append(.checksum) } else if reported != nil { append(.digest) }
        if outcome.start?.total != nil || outcome.isLengthConfirmed {
            append(.length)
        } else if outcome.hasClosureAlert {
            append(.closure)
        } else if !outcome.isLengthUnproven, !download.isProvenByDigests {
            append(.end)
        }
    }
}
