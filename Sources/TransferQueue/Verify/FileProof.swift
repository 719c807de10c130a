public import TransferCore

/// The comparison of a file with a digest, where no record speaks of it.
public enum FileProof {
    /// Whether the file has that digest. Blocks.
    ///
    /// - Throws: `TransferError` with the system's word when the file can't be read.
    public static func isRight(_ path: String, _ checksum: Checksum) throws(TransferError) -> Bool {
        try FileReading(path, algorithm: checksum.algorithm).digest == checksum
    }
}
