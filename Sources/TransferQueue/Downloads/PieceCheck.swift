import TransferCore
import TransferEngine
import TransferJobs

/// A check of an existing file by the digests of its pieces. Blocks, so it belongs on a worker thread.
struct PieceCheck {
    /// The number of bytes from the start that are right, in whole pieces.
    let proven: Int64
    /// Whether the file cannot be a beginning of the whole file: a complete piece of it differs, or it is longer.
    let isRefuted: Bool
    /// The fault of the file as the whole file; `nil` if it is right.
    let wrong: String?

    init(_ path: String, _ pieces: PieceDigests) throws(TransferError) {
        let file = try SourceFile(path)
        var proven: Int64 = 0
        for (number, digest) in pieces.digests.enumerated() {
            guard let range = pieces.range(ofPiece: number, in: file.size) else { break }
            guard try FileDigest.compute(file, digest.algorithm, range) == digest else {
                self.proven = proven
                isRefuted = true
                wrong =
                    "\(digest.algorithm.rawValue) of piece \(number + 1) of \(pieces.digests.count) differs"
                    + " (bytes \(range.lowerBound) to \(range.upperBound - 1))"
                return
            }
            proven = range.upperBound
        }
        self.proven = proven
        isRefuted = file.size > pieces.sizes.upperBound
        wrong =
            pieces.sizes.contains(file.size) && proven == file.size
            ? nil
            : "\(CountText.bytes(file.size)), where its pieces are of \(pieces.sizes.lowerBound) to "
                + "\(pieces.sizes.upperBound)"
    }
}
