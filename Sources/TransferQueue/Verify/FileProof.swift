public import TransferCore

/// The comparison of a file with a digest, if there is no record of the file.
public enum FileProof {
    /// Returns whether the file has this digest. Blocks.
    ///
    /// - Throws: `TransferError` with the system's message if the file cannot be read. A different digest is not an
    ///   error.
    public static func isRight(_ path: String, _ checksum: Checksum) throws(TransferError) -> Bool {
        try FileReading(path, algorithm: checksum.algorithm).digest == checksum
    }
}
