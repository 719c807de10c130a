import TransferCore
import TransferJobs

/// The record of a file's bytes that is kept from the time when they came: a repaired file must have those bytes.
///
/// A server may have another version by now, under the same validator too, and a network may answer everything by its own
/// page. What is fetched is compared before it takes the place of a byte, and a file of two versions is never called good.
struct RecordedBytes: Sendable {
    let size: Int64
    let digest: Checksum?
    let sums: PieceSumList?

    /// - Returns: `nil` for a job that repairs nothing.
    init?(_ record: JobRecord) {
        guard record.recheck == .repair, let facts = record.facts else { return nil }
        self.init(size: facts.size, digest: record.digest, sums: record.sums)
    }

    init(size: Int64, digest: Checksum?, sums: PieceSumList?) {
        self.size = size
        self.digest = digest
        self.sums = sums
    }

    /// Reads the file once. Blocks: for workers.
    ///
    /// - Returns: Why the file hasn't the recorded bytes; `nil` where it has.
    func refutation(of path: String) throws(TransferError) -> TransferError? {
        let found = try FileReading(path, algorithm: digest?.algorithm)
        switch FileCheck.verdict(found, of: size, digest, nil, sums) {
        case .bad(_, let ranges):
            let bytes = ranges.reduce(0) { $0 + Int64($1.count) }
            return TransferError(
                .checksumMismatch,
                "\(CountText.bytes(bytes)) of what the server sends now aren't the bytes that came at first; the file stays as "
                    + "it is (another version is fetched by downloading it anew)")
        // Where nothing is recorded the length is all there is.
        case .good, .missing, .unknown: return nil
        }
    }
}

extension TransferError {
    /// A part of a file isn't the one that was asked for.
    static func wrongPart(at offset: Int64) -> TransferError {
        TransferError(
            .wrongPart,
            "the server doesn't begin where it's asked to: its bytes before \(offset) aren't those of the file; one connection "
                + "fetches it from now on", isTransient: true)
    }
}
