import TransferCore
import TransferJobs

/// The record of a file's bytes from the time of their download. A repaired file must have those bytes.
///
/// A server may meanwhile have another version, even under the same validator, and a captive network may answer with
/// its own page. New bytes are compared before they replace old ones, so a file never mixes two versions.
struct RecordedBytes: Sendable {
    let size: Int64
    let digest: Checksum?
    let sums: PieceSumList?

    /// Creates the record for a repair.
    ///
    /// - Returns: `nil` for a job that repairs no file.
    init?(_ record: JobRecord) {
        guard record.recheck == .repair, let facts = record.facts else { return nil }
        self.init(size: facts.size, digest: record.digest, sums: record.sums)
    }

    init(size: Int64, digest: Checksum?, sums: PieceSumList?) {
        self.size = size
        self.digest = digest
        self.sums = sums
    }

    /// Reads the file once and compares it with the record. Blocks, so it belongs on a worker thread.
    ///
    /// - Returns: The reason why the file differs from the record; `nil` if it does not.
    func refutation(of path: String) throws(TransferError) -> TransferError? {
        let found = try FileReading(path, algorithm: digest?.algorithm)
        switch FileCheck.verdict(found, of: size, digest, nil, sums) {
        case .bad(_, let ranges):
            let bytes = ranges.reduce(0) { $0 + Int64($1.count) }
            return TransferError(
                .checksumMismatch,
                "\(CountText.bytes(bytes)) of what the server sends now are not the bytes that came at first; the file stays as "
                    + "it is (another version is fetched by downloading it anew)")
        // Without a record, only the length can be compared.
        case .good, .missing, .unknown: return nil
        }
    }
}

extension TransferError {
    /// Returns the error for a part that differs from the requested one.
    static func wrongPart(at offset: Int64) -> TransferError {
        TransferError(
            .wrongPart,
            "the server does not begin where it is asked to: its bytes before \(offset) are not those of the file; one connection "
                + "fetches it from now on", isTransient: true)
    }
}
