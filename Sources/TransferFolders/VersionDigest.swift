package import TransferCore
import TransferEngine
import TransferJobs
package import TransferWatch

/// The SHA-256 of a version of a file. Blocks, so it belongs on a worker thread.
package enum VersionDigest {
    package enum Result: Sendable, Hashable {
        case digest(Checksum)
        /// The path has another version, or no file.
        case otherVersion
        case unreadable(TransferError)
    }

    /// Computes the digest of a version.
    ///
    /// - Parameter isStopped: A function that returns whether to stop; the result is then `unreadable`.
    package static func compute(_ version: FileVersion, root: String, isStopped: () -> Bool = { false }) -> Result {
        do throws(TransferError) {
            let file = try SourceFile(root + "/" + version.path)
            guard isVersion(file, version) else { return .otherVersion }
            let digest = try FileDigest.compute(file, .sha256, 0..<file.size, isStopped: isStopped)
            let isSame = stays(file, version) {
                (try? FileDigest.compute(file, .sha256, 0..<file.size, isStopped: isStopped)) == digest
            }
            return isSame ? .digest(digest) : .otherVersion
        } catch {
            return error.code == .fileMissing ? .otherVersion : .unreadable(error)
        }
    }

    /// Computes the fingerprint of a version.
    ///
    /// - Returns: The value of ``SourceFile/fingerprint(isStopped:)``; `nil` if the file cannot be read as this
    ///   version.
    package static func fingerprint(
        _ version: FileVersion, root: String, isStopped: () -> Bool = { false }
    ) -> UInt64? {
        guard let file = try? SourceFile(root + "/" + version.path), isVersion(file, version),
            let found = file.fingerprint(isStopped: isStopped),
            stays(file, version, isRight: { file.fingerprint(isStopped: isStopped) == found })
        else { return nil }
        return found
    }

    /// The result of comparing a file with the bytes that were sent.
    package enum Match: Sendable, Hashable {
        case same, other
        /// The path has another version, or no file.
        case otherVersion
        case unreadable
    }

    /// Compares a file with a fingerprint.
    ///
    /// - Parameter fingerprint: The value of ``SourceFile/sentFingerprint``.
    package static func match(
        _ fingerprint: UInt64, _ version: FileVersion, root: String, isStopped: () -> Bool = { false }
    ) -> Match {
        do throws(TransferError) {
            let file = try SourceFile(root + "/" + version.path)
            guard isVersion(file, version) else { return .otherVersion }
            guard let found = file.fingerprint(isStopped: isStopped) else {
                return isStopped() || isVersion(file, version) ? .unreadable : .otherVersion
            }
            guard stays(file, version, isRight: { file.fingerprint(isStopped: isStopped) == found }) else {
                return .otherVersion
            }
            return found == fingerprint ? .same : .other
        } catch {
            return error.code == .fileMissing ? .otherVersion : .unreadable
        }
    }

    /// Returns whether a file that was read is still the version. Some FUSE file systems change a file's time when it
    /// is read (rclone). The same bytes in a second reading prove that nothing else happened to it.
    ///
    /// - Parameter isRight: A function that reads the file again and compares it with the first reading.
    private static func stays(_ file: SourceFile, _ version: FileVersion, isRight: () -> Bool) -> Bool {
        isVersion(file, version) || file.isProven(isRight)
    }

    private static func isVersion(_ file: SourceFile, _ version: FileVersion) -> Bool {
        version.isSame(as: file.currentStamp())
    }
}
