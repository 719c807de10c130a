import TransferCore
import TransferEngine
import TransferJobs

/// The preparation of an upload that is about to start: its source is opened.
struct UploadPreparation: Sendable {
    let id: Int64
    /// The absolute path of the source.
    let path: String
    /// The version of a watched file that is sent; `nil` for other files.
    let version: WatchedVersion?
    let expected: Checksum?
    var confinement: JobConfinement?

    /// Opens the source. Blocks, so it belongs on a worker thread.
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

    /// Opens a cached source without blocking, on the loop.
    ///
    /// - Returns: `nil` if opening it would block.
    func runCached(in folder: CachedFolder) -> Result<OpenedSource, TransferError>? {
        guard expected == nil, confinement == nil,
            let file = SourceFile(path, cachedIn: folder, readingUpTo: OpenedSource.smallSize)
        else { return nil }
        // Only reading the file shows whether these are the queued bytes.
        if let version, version.needsProof(of: file) { return nil }
        if let version, version.digest != nil, file.currentStamp()?.changed != version.stamp.changed { return nil }
        return Result { () throws(TransferError) in
            if let version { return try OpenedSource(file, version: version) }
            return OpenedSource(file: file, digest: nil)
        }
    }
}

/// The opened source of an upload.
struct OpenedSource: Sendable {
    let file: SourceFile
    /// The file's digest, if it was needed.
    let digest: Checksum?
    /// Whether the file was read and has the bytes of the version that it is sent as, whatever its times are.
    var isProven = false

    /// The size up to which files are read whole, in bytes; for a thousand jobs at once, this amounts to 16 MiB.
    static let smallSize: Int64 = 16 << 10
    /// The size up to which watched files are read before they are sent, in bytes. The sent version is then known if
    /// the process ends, and most of the file is in memory for the sending.
    static let mostRead: Int64 = 256 << 20

    init(file: SourceFile, digest: Checksum?) {
        self.file = file
        self.digest = digest
    }

    /// Opens a file. Blocks, so it belongs on a worker thread.
    ///
    /// - Throws: The system's error, or `checksumMismatch` if the digest is not the expected one.
    init(_ path: String, expected: Checksum?) throws(TransferError) {
        try self.init(SourceFile(path, readingUpTo: Self.smallSize), expected: expected)
    }

    /// Uses an open file. Blocks, so it belongs on a worker thread.
    ///
    /// - Throws: The system's error, or `checksumMismatch` if the digest is not the expected one.
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
