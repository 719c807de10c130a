import TransferCore
import TransferEngine
import TransferJobs

/// An upload that is about to start: its source is to be opened.
struct UploadPreparation: Sendable {
    let id: Int64
    /// Absolute.
    let path: String
    /// The version of a watched file that is to be sent.
    let version: WatchedVersion?
    let expected: Checksum?
    var confinement: JobConfinement?

    /// Blocks: for workers.
    func run() -> Result<OpenedSource, TransferError> {
        Result { () throws(TransferError) in
            if let confinement {
                let descriptor = try confinement.open(path)
                let file = try SourceFile(path, opened: descriptor, readingUpTo: OpenedSource.smallSize)
                return try OpenedSource(file, expected: expected)
            }
            if let version { return try OpenedSource(path, version: version) }
            return try OpenedSource(path, expected: expected)
        }
    }

    /// For the loop.
    ///
    /// - Returns: `nil` for what has to be waited for.
    func runCached(in folder: CachedFolder) -> Result<OpenedSource, TransferError>? {
        guard expected == nil, confinement == nil,
            let file = SourceFile(path, cachedIn: folder, readingUpTo: OpenedSource.smallSize)
        else { return nil }
        // Whether these are the bytes that were queued is seen by reading them.
        if let version, version.needsProof(of: file) { return nil }
        if let version, version.digest != nil, file.currentStamp()?.changed != version.stamp.changed { return nil }
        return Result { () throws(TransferError) in
            if let version { return try OpenedSource(file, version: version) }
            return OpenedSource(file: file, digest: nil)
        }
    }
}

/// An upload's source, opened.
struct OpenedSource: Sendable {
    let file: SourceFile
    /// The file's digest, where somebody wanted it.
    let digest: Checksum?
    /// The file was read, and has the bytes of the version that it's sent as, whatever its times are.
    var isProven = false

    /// Bytes: with a thousand jobs at once 16 MiB.
    static let smallSize: Int64 = 16 << 10
    /// Bytes of a watched file that are read before it's sent, so that it's known what was sent if the process ends: most of
    /// them are in memory then when they are sent.
    static let mostRead: Int64 = 256 << 20

    init(file: SourceFile, digest: Checksum?) {
        self.file = file
        self.digest = digest
    }

    /// Blocks: for workers.
    ///
    /// - Throws: Also when the digest isn't the one that was expected.
    init(_ path: String, expected: Checksum?) throws(TransferError) {
        try self.init(SourceFile(path, readingUpTo: Self.smallSize), expected: expected)
    }

    /// Blocks: for workers.
    ///
    /// - Throws: As where the file is named by its path.
    init(_ file: SourceFile, expected: Checksum?) throws(TransferError) {
        self.file = file
        guard let expected else {
            digest = nil
            return
        }
        let found = try FileDigest.compute(file, expected.algorithm, 0..<file.size)
        guard found == expected else {
            throw TransferError(.checksumMismatch, "\(file.path) is \(found), not \(expected); nothing was sent")
        }
        digest = found
    }
}
