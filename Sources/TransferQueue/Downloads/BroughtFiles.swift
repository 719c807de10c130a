import Glibc
import Synchronization
import TransferCore
import TransferEngine
import TransferJobs
import TransferStore

/// The files that jobs have brought, by batch. A job never replaces a file that another job of its batch completed,
/// whatever `ifExists` says. Two destinations may be one file: by a linked folder, by case folding, or by one name from
/// two servers.
final class BroughtFiles: Sendable {
    private struct State {
        /// The hashes of the files, sixteen bytes each.
        var files: [Int64: TakenNames] = [:]
        /// The times when the complete jobs of a batch were read from the store.
        var revoked: [Int64: MonotonicTime] = [:]

        mutating func note(_ hash: UInt64, batch: Int64) {
            if files[batch] == nil, files.count >= BroughtFiles.mostBatches, let oldest = files.keys.min() {
                files[oldest] = nil
                revoked[oldest] = nil
            }
            _ = files[batch, default: TakenNames()].insert(hash)
        }
    }

    private let state = Mutex(State())
    /// The lock between the check of a name and the renaming, so that no other job takes the name.
    private let naming = Mutex(())

    /// The most batches that are remembered, because a service may run for ever. Older ones are forgotten.
    private static let mostBatches = 1000

    /// Notes a file that a job of the batch has brought.
    ///
    /// - Parameter stamp: The identity of the file, which survives a change of its name and mode.
    func note(_ stamp: FileStamp, batch: Int64) {
        let hash = Self.hash(stamp)
        state.withLock { $0.note(hash, batch: batch) }
    }

    /// Returns whether a job of the batch has brought this file.
    func contains(_ stamp: FileStamp, batch: Int64) -> Bool {
        let hash = Self.hash(stamp)
        return state.withLock { $0.files[batch]?.contains(hash) ?? false }
    }

    /// Notes that the complete jobs of the batch are known, including those of other processes.
    func noteRevoked(_ batch: Int64, at now: MonotonicTime) { state.withLock { $0.revoked[batch] = now } }

    /// Returns whether ``contains(_:batch:)`` knows what other processes have brought.
    ///
    /// - Parameter isShared: Whether other processes work on the batch now, so that this knowledge ages quickly.
    func isRevoked(_ batch: Int64, isShared: Bool, at now: MonotonicTime) -> Bool {
        guard let time = state.withLock({ $0.revoked[batch] }) else { return false }
        return !isShared || now - time < Self.freshness
    }

    /// The time for which the complete jobs of a shared batch are not read again, because reading many takes long.
    private static let freshness = Duration.seconds(5)

    /// Notes the file of a job that was complete before, if it is unchanged. Blocks, so it belongs on a worker thread.
    func note(_ job: CompletedJob) {
        var status = stat()
        guard !job.isUpload, stat(job.path, &status) == 0, job.facts.isSameVersion(as: FileStamp(status)) else {
            return
        }
        note(FileStamp(status), batch: job.batch)
    }

    /// Runs a function that checks a name and takes it, one job after the other.
    func withNaming<Value>(_ body: () throws(TransferError) -> Value) throws(TransferError) -> Value {
        let result: Result<Value, TransferError> = naming.withLock { _ in
            do throws(TransferError) {
                return .success(try body())
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    /// Returns the error for a name that a job cannot have.
    static func refusal(_ path: String) -> TransferError {
        TransferError(
            .fileExists,
            "\(path) was brought by another job of this batch, which is not overwritten; give this job another \"to\"")
    }

    private static func hash(_ stamp: FileStamp) -> UInt64 {
        var hash = FNV1a()
        for number in [stamp.device ?? 0, stamp.inode ?? 0] { hash.add(number) }
        for number in [stamp.size, stamp.modified] { hash.add(UInt64(bitPattern: number)) }
        return hash.value
    }
}
