import Glibc
import TransferCore
import TransferEngine
import TransferJobs

// The version of a watched file that a job uploads.

extension OpenedSource {
    /// Opens the version that a job of a watched folder uploads. Blocks, so it belongs on a worker thread.
    ///
    /// - Throws: `superseded` if the file is gone, or is another version.
    init(_ path: String, version: WatchedVersion) throws(TransferError) {
        let file: SourceFile
        do throws(TransferError) {
            file = try SourceFile(path, readingUpTo: Self.smallSize)
        } catch {
            guard error.code == .fileMissing || error.errno == ENOTDIR || error.errno == ELOOP else { throw error }
            throw TransferError(.superseded, "\(path) is gone", cause: error.cause)
        }
        try self.init(file, version: version)
        guard !isProven, let digest, version.stamp.changed != nil,
            file.currentStamp().map(version.stamp.likeness) != .same
        else { return }
        // A program may have changed the bytes and restored the old time.
        guard try FileDigest.compute(file, digest.algorithm, 0..<file.size) == digest else {
            throw TransferError(.superseded, "\(path) has other bytes than were queued")
        }
    }

    /// Uses an open file.
    ///
    /// - Throws: `superseded` if it is another version.
    init(_ file: SourceFile, version: WatchedVersion) throws(TransferError) {
        self.init(file: file, digest: version.digest)
        isProven = version.needsProof(of: file) && version.hasBytes(of: file)
        guard isProven || version.stamp.isSameVersion(as: file.currentStamp()) else {
            throw TransferError(.superseded, "\(file.path) is another version than was queued")
        }
    }
}

extension WatchedVersion {
    /// Returns whether only its bytes can prove that a file is this version. It was touched or copied since, or an
    /// attempt may have sent it before.
    func needsProof(of file: SourceFile) -> Bool {
        guard fingerprint != nil || digest != nil, file.size == stamp.size else { return false }
        return mustProve || !stamp.isSameVersion(as: file.currentStamp())
    }

    fileprivate func hasBytes(of file: SourceFile) -> Bool {
        file.isProven {
            if let digest { return (try? FileDigest.compute(file, digest.algorithm, 0..<file.size)) == digest }
            return file.fingerprint() == fingerprint
        }
    }
}

extension TransferError.Code {
    /// The job has nothing to upload any longer. This code ends a job without failing it.
    static let superseded = Self(rawValue: "superseded")
}
