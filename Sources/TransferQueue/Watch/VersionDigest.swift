import TransferCore
import TransferEngine
import TransferWatch

/// The SHA-256 of a version of a file. Blocks: for workers.
enum VersionDigest {
    enum Result: Sendable, Hashable {
        case digest(Checksum)
        /// What is there is another version, or nothing.
        case otherVersion
        case unreadable(TransferError)
    }

    /// - Parameter isStopped: Then it's unreadable.
    static func compute(_ version: FileVersion, root: String, isStopped: () -> Bool = { false }) -> Result {
        do throws(TransferError) {
            let file = try SourceFile(root + "/" + version.path)
            guard isVersion(file, version) else { return .otherVersion }
            let digest = try FileDigest.compute(file, .sha256, 0..<file.size, isStopped: isStopped)
            return isVersion(file, version) ? .digest(digest) : .otherVersion
        } catch {
            return error.code == .fileMissing ? .otherVersion : .unreadable(error)
        }
    }

    /// Whether the file has the bytes that were sent of it.
    ///
    /// - Returns: `nil` where what is there is another version, or can't be read.
    static func has(
        _ fingerprint: UInt64, _ version: FileVersion, root: String, isStopped: () -> Bool = { false }
    ) -> Bool? {
        guard let file = try? SourceFile(root + "/" + version.path), isVersion(file, version),
            let found = file.fingerprint(isStopped: isStopped), isVersion(file, version)
        else { return nil }
        return found == fingerprint
    }

    private static func isVersion(_ file: SourceFile, _ version: FileVersion) -> Bool {
        version.isSame(as: file.currentStamp())
    }
}
