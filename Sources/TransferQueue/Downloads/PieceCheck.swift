import TransferCore
import TransferEngine
import TransferJobs

/// A check of a file that is there, by the digests of its pieces. Blocks: for workers.
struct PieceCheck {
    /// Bytes from the start that are right, in whole pieces.
    let proven: Int64
    /// Whether it's no beginning of the whole file: a piece that is there whole is another one, or there is more.
    let isRefuted: Bool
    /// The fault of the file as the whole; `nil` where it's right.
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
